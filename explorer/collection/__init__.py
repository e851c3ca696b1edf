"""The Collection screen."""

from explorer.collection.screen import render_collection

__all__ = ["render_collection"]
