"""The screen at /compare."""

from explorer.app.resources import open_library
from explorer.app.session import current_comparison, current_visitor
from explorer.compare.screen import render_compare

render_compare(open_library(), current_visitor(), current_comparison())
