"""A reader's own notes on the Paper screen."""

from explorer.paper.notes.on_paper import PaperNotes, draw_keeping, draw_overview, read_notes

__all__ = ["PaperNotes", "draw_keeping", "draw_overview", "read_notes"]
