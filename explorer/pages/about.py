"""The screen at /about."""

from explorer.about import render_about
from explorer.app import current_visitor, open_library

render_about(open_library(), current_visitor())
