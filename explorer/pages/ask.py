"""The screen at /ask."""

from explorer.app.resources import open_library
from explorer.app.session import current_visitor
from explorer.ask.screen import render_ask

render_ask(open_library(), current_visitor())
