"""The language a paper is written in, found in its text by a small model that comes with its package."""

from functools import cache
from itertools import islice

from py3langid.langid import MODEL_FILE, LanguageIdentifier

from corpus.records import Paper, Passage

# Of less nothing is said: titles are full of names and borrowed words.
FEWEST_LETTERS = 60
LEAST_SURE = 0.8
_MOST_READ = 4_000
_PASSAGES = 6


def language_of(paper: Paper, passages: tuple[Passage, ...]) -> str:
    """Return what a paper is written in, ISO 639-1: what its source says, else its text; "" where unsure."""
    if paper.language:
        return paper.language
    prose = (passage.text for passage in passages if passage.kind in ("abstract", "body"))
    text = " ".join([paper.title, *islice(prose, _PASSAGES)])[:_MOST_READ]
    if sum(map(str.isalpha, text)) < FEWEST_LETTERS:
        return ""
    code, sure = _identifier().classify(text)
    return str(code) if sure >= LEAST_SURE else ""


@cache
def _identifier() -> LanguageIdentifier:
    return LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
