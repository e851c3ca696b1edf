"""The Compare screen."""

from explorer.compare.screen import render_compare

__all__ = ["render_compare"]
