"""Labelled data, one file for each kind; a set is split by paper, dialogue or question, never by row."""

from training.sets.questions import READERS, question_rows

__all__ = ["READERS", "question_rows"]
