"""Labelled data, one file for each kind; a set is split by paper, dialogue or question, never by row."""

from training.sets.claims import Claim, held_pairs, labelled_claims, summary_claims
from training.sets.made_claims import altered, among_others, elsewhere, quoted
from training.sets.questions import question_rows

__all__ = [
    "Claim", "altered", "among_others", "elsewhere", "held_pairs", "labelled_claims", "question_rows",
    "quoted", "summary_claims"
]  # fmt: skip
