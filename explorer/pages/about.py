"""The screen at /about."""

from explorer.about.screen import render_about
from explorer.app.resources import open_library
from explorer.app.session import current_visitor

render_about(open_library(), current_visitor())
