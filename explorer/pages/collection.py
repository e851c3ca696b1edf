"""The screen at /collection."""

from explorer.app.resources import open_library
from explorer.app.session import current_visitor
from explorer.collection.screen import render_collection

render_collection(open_library(), current_visitor())
