"""The screen at /about."""

from explorer.about import render_about
from explorer.reader import current_reader
from explorer.resources import open_library

render_about(open_library(), current_reader())
