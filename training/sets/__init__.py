"""Labelled data, one file for each kind; a set is split by paper, dialogue or question, never by row."""

from training.sets.claims import Claim, held_pairs, labelled_claims, summary_claims
from training.sets.made_claims import altered, among_others, elsewhere, quoted
from training.sets.questions import READERS, question_rows
from training.sets.sought import LICENCES, SoughtTexts, sought_texts

__all__ = [
    "LICENCES", "READERS", "Claim", "SoughtTexts", "altered", "among_others", "elsewhere",
    "held_pairs", "labelled_claims", "question_rows", "quoted", "sought_texts", "summary_claims"
]  # fmt: skip
