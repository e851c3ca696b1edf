"""Runs of words that may form a term: split at punctuation and at words that end a term."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, lru_cache

from corpus.language.stemming import stop_words
from indexer.enrich.data_file import Table, read_data

# Adjacent words without punctuation or a word that ends a term.
Run = list[str]

_DEBRIS = re.compile(r"\$[^$]{0,200}\$|\\[a-zA-Z]+\*?(?:\[[^\]]{0,40}\])?|[{}~^\\]|https?://\S+|www\.\S+")
# A word, or the end of a term: punctuation, or a token that begins with a digit.
_WORD = re.compile(r"[^\W\d_]\w*(?:[-'’]\w+)*|\d\S*|[^\w\s]")
_ELIDED = re.compile(r"['’]s$|^(?:[cdjlmnst]|qu)['’]", re.IGNORECASE)
# Bounds of an abstract and a word.
_CHARACTERS, _LETTERS = 4000, 40
_KEYS_KEPT = 2**15


class _Lists(Table):
    grammar: str
    papers: str
    others: str
    alone: str
    nothing: str


@dataclass(frozen=True, slots=True)
class TermWords:
    """The lists of the data file, explained there; `alone` as word keys."""

    ends: frozenset[str]
    alone: frozenset[str]
    nothing: frozenset[str]


@cache
def term_words() -> TermWords:
    """Return the words that end a term, and the uninformative words and terms."""
    lists = read_data("runs", _Lists)
    ends = {word for words in (lists.grammar, lists.papers, lists.others) for word in words.split()}
    nothing = frozenset(" ".join(map(word_key, term.split())) for term in lists.nothing.split(";"))
    return TermWords(stop_words() | ends, frozenset(map(word_key, lists.alone.split())), nothing)


def word_runs(text: str) -> Iterator[Run]:
    """Yield the runs of a text, words as written."""
    run: Run = []
    ends = term_words().ends
    for word in _WORD.findall(_DEBRIS.sub(" , ", text[:_CHARACTERS])):
        bare = _ELIDED.sub("", word)
        if 1 < len(bare) <= _LETTERS and bare[0].isalpha() and bare.lower() not in ends:
            run.append(bare)
        elif run:
            yield run
            run = []
    if run:
        yield run


@lru_cache(maxsize=_KEYS_KEPT)
def word_key(word: str) -> str:
    """Return a word in lower case and singular.

    Not its stem: with stems, labels contain "defining" and "fine-tuning", which are everywhere.
    """
    low = word.lower()
    if len(low) > 4 and low.endswith("ies"):
        return f"{low[:-3]}y"
    return low[:-1] if len(low) > 3 and low.endswith("s") and not low.endswith(("ss", "us", "is")) else low
