"""The screen at /compare."""

from explorer.compare import render_compare
from explorer.desk import current_desk
from explorer.reader import current_reader
from explorer.resources import open_library

render_compare(open_library(), current_reader(), current_desk())
