"""The screen at /reading."""

from explorer.app.resources import open_library
from explorer.app.session import current_visitor
from explorer.reading.screen import render_reading

render_reading(open_library(), current_visitor())
