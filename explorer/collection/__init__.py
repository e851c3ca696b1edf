"""The Collection screen, and links in other screens' texts to what it lists."""

from explorer.collection.filters import list_link
from explorer.collection.screen import render_collection

__all__ = ["list_link", "render_collection"]
