"""The Paper screen."""

from explorer.paper.screen import render_paper

__all__ = ["render_paper"]
