"""The screen at /ask."""

from explorer.asking.screen import render_ask
from explorer.reader import current_reader
from explorer.resources import open_library

render_ask(open_library(), current_reader())
