"""The language of a paper: from its source, else identified from its text."""

from itertools import islice

from corpus.language.identified import language_of_text
from corpus.records import Paper, Passage

_PASSAGES = 6


def language_of(paper: Paper, passages: tuple[Passage, ...]) -> str:
    """Identify a paper's language, ISO 639-1; "" where unsure."""
    if paper.language:
        return paper.language
    prose = (passage.text for passage in passages if passage.kind in ("abstract", "body"))
    return language_of_text(" ".join([paper.title, *islice(prose, _PASSAGES)]))
