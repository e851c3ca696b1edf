"""The screen at /compare."""

from explorer.comparing.desk import current_desk
from explorer.comparing.screen import render_compare
from explorer.reader import current_reader
from explorer.resources import open_library

render_compare(open_library(), current_reader(), current_desk())
