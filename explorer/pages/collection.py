"""The screen at /collection."""

from explorer.app import current_visitor, open_library
from explorer.collection import render_collection

render_collection(open_library(), current_visitor())
