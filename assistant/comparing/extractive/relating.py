"""When two papers belong in one sentence: where both sentences speak of the same, and not all papers do."""

from collections.abc import Iterator, Sequence
from functools import cache, lru_cache

from assistant.comparing.extractive.accounts import Account
from assistant.vocabulary import stem, vocabulary
from corpus.text import words

SHORTEST_TERM = 4
# Of few papers a term may be common to all but one, of more papers to some.
FEW, SHARE = 4, 0.4
# Words of any paper: what they share says nothing.
_OF_ANY = "model novel learn explore language data train source various several large small instance".split()


def share_a_term(main: str, sequel: str, papers: Sequence[Account], all_papers: Sequence[Account]) -> bool:
    """Tell whether two sentences, of two papers, name something specific that both are about."""
    both = _terms(main) & _terms(sequel)
    return any(
        all(term in _terms(paper.opening) for paper in papers) and _is_specific(term, all_papers)
        for term in both
    )


def _is_specific(term: str, papers: Sequence[Account]) -> bool:
    if len(papers) == 2:
        return True
    having = sum(term in _terms(paper.opening) for paper in papers)
    return having < len(papers) if len(papers) <= FEW else having <= SHARE * len(papers)


@lru_cache(maxsize=4096)
def _terms(text: str) -> frozenset[str]:
    """Return the stems of the words that name a subject; "pre-training" is found as "pretraining" too."""
    found = (part for word in words(text) for part in _forms(word))
    return frozenset(stem(word) for word in found if len(word) >= SHORTEST_TERM) - _empty()


def _forms(word: str) -> Iterator[str]:
    yield word.replace("-", "")
    if "-" in word:
        yield from word.split("-")


@cache
def _empty() -> frozenset[str]:
    known = vocabulary()
    empty = known.function | known.generic | known.aspects | known.verbs | known.judging | known.finding
    return frozenset(map(stem, [*empty, *_OF_ANY]))
