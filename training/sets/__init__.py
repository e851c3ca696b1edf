"""Labelled data, one file for each kind; a set is split by paper, dialogue or question, never by row."""

from training.sets.nearest import NearestTexts
from training.sets.questions import READERS, question_rows
from training.sets.sought import LICENCES, SoughtTexts, sought_texts

__all__ = ["LICENCES", "READERS", "NearestTexts", "SoughtTexts", "question_rows", "sought_texts"]
