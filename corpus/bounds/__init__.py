"""How large the numbers, texts and lists of records may be that somebody else wrote."""

from corpus.bounds.bound import USUAL, Bound, Bounds
from corpus.bounds.of_corpus import OF_CORPUS, PASSAGE_TEXT, REMARK, SCORE, SHARE

__all__ = ["OF_CORPUS", "PASSAGE_TEXT", "REMARK", "SCORE", "SHARE", "USUAL", "Bound", "Bounds"]
