"""The screen at /paper."""

from explorer.reader import current_reader
from explorer.reading.screen import render_paper
from explorer.resources import open_library

render_paper(open_library(), current_reader())
