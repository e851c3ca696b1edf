"""The Reading screen."""

from explorer.reading.screen import render_reading

__all__ = ["render_reading"]
