"""Labelled data, one file for each kind; a set is split by paper, dialogue or question, never by row."""

from training.sets.questions import question_rows

__all__ = ["question_rows"]
