"""The screen at /reading."""

from explorer.app import current_visitor, open_library
from explorer.reading import render_reading

render_reading(open_library(), current_visitor())
