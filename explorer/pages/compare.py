"""The screen at /compare."""

from explorer.app import current_comparison, current_visitor, open_library
from explorer.compare import render_compare

render_compare(open_library(), current_visitor(), current_comparison())
