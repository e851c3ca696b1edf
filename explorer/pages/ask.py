"""The screen at /ask."""

from explorer.app import current_visitor, open_library
from explorer.ask import render_ask

render_ask(open_library(), current_visitor())
