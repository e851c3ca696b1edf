"""Bounds of the numbers, texts and lists in foreign records."""

from corpus.bounds.bound import USUAL, Bound, Bounds
from corpus.bounds.of_corpus import OF_CORPUS, PASSAGE_TEXT, REMARK, SCORE, SHARE

__all__ = ["OF_CORPUS", "PASSAGE_TEXT", "REMARK", "SCORE", "SHARE", "USUAL", "Bound", "Bounds"]
