"""When two papers belong in one sentence: where both sentences speak of the same, and not all papers do."""

import re
from collections.abc import Iterator, Sequence
from functools import cache, lru_cache

from assistant.comparing.extractive.accounts import Account
from assistant.vocabulary import stem, vocabulary
from corpus.text import words

SHORTEST_TERM = 4
# Of few papers a term may be common to all but one, of more papers to some.
FEW, SHARE = 4, 0.4
# Words of any paper: what they share says nothing.
_OF_ANY = (
    "model novel learn explore language data train source various several large small instance "
    "framework input output state neural machine token sentence"
).split()

# Names of data and of measures: "BLEU", "MultiWOZ 2.1", "FB15k-237", "CNN/DailyMail".
_NAME = re.compile(r"(?<![\w-])(?=[\w/-]*[A-Z][\w/-]*[A-Z0-9])[A-Z][A-Za-z0-9/-]{2,}")
_NUMBERED = re.compile(r"[\d.-]+$")
# What is no name of either.
_FIELDS = frozenset("NLP NMT NLG NLU NLI ASR MRC LLM LLMs PLM PLMs LSTM CNN RNN GNN GPU SOTA API AMR".split())
_OPPOSED = tuple(
    (re.compile(rf"(?<![\w-])(?:{one})", re.IGNORECASE), re.compile(rf"(?<![\w-])(?:{other})", re.IGNORECASE))
    for one, other in (
        ("supervised", "unsupervised"),
        ("extractive", "abstractive"),
        ("outperform", "(?:do|does|did) not (?:help|improve|outperform)|fails? to"),
    )
)


def share_a_name(one: str, other: str) -> bool:
    """Tell whether two sentences name the same data or measure, of whichever version."""
    return bool(_names(one) & _names(other))


def _names(text: str) -> frozenset[str]:
    found = (_NUMBERED.sub("", name) or name for name in _NAME.findall(text))
    # "BiTIIMT" is "BiTiIMT" a page later.
    return frozenset(name.lower() for name in found if len(name) > 2 and name not in _FIELDS)


def are_opposed(one: str, other: str) -> bool:
    """Tell whether two sentences say opposite things, each one of them and not the other."""
    sides = [
        (bool(here.search(one)), bool(there.search(one)), bool(here.search(other)), bool(there.search(other)))
        for here, there in _OPPOSED
    ]
    return any(side in ((True, False, False, True), (False, True, True, False)) for side in sides)


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
    return frozenset(stem(word) for word in found if len(word) >= SHORTEST_TERM) - empty_stems()


def _forms(word: str) -> Iterator[str]:
    yield word.replace("-", "")
    if "-" in word:
        yield from word.split("-")


@cache
def empty_stems() -> frozenset[str]:
    """Return the stems of words that name no subject."""
    known = vocabulary()
    empty = known.function | known.generic | known.aspects | known.verbs | known.judging | known.finding
    return frozenset(map(stem, [*empty, *_OF_ANY]))
