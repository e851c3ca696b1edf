"""The About screen."""

from explorer.about.screen import render_about

__all__ = ["render_about"]
