"""The screen at /collection."""

from explorer.browsing.screen import render_collection
from explorer.reader import current_reader
from explorer.resources import open_library

render_collection(open_library(), current_reader())
