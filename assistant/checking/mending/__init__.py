"""Drafts mended: citations found, lines in one form, and claims taken out that no paper carries."""

from assistant.checking.mending.carried import Mend, labelled, mended, with_better, with_found
from assistant.checking.mending.roles import aligned, exchanges_words, texts_of

__all__ = [
    "Mend", "aligned", "exchanges_words", "labelled", "mended", "texts_of", "with_better", "with_found"
]  # fmt: skip
