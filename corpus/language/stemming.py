"""Stems of words (Snowball's for English), stop words, and the comparison of words."""

import re
import tomllib
from functools import cache, lru_cache
from itertools import pairwise
from pathlib import Path
from threading import Lock

import Stemmer

from corpus.text import words

Stems = frozenset[str]
ENGLISH = "en"
SHORTEST_RESPELT = 6
SHORTEST_BEGINNING, SHORTEST_REST = 5, 3
_STEMS_KEPT, _TEXTS_KEPT = 65_536, 4096
_BRITISH = re.compile(r"is(?=(?:e|es|ed|er|ers|ing|ings|ation|ations)$)")
_AMERICAN = re.compile(r"our(?=s?$|al$|ed$|ing$)")
_POSSESSIVE = re.compile(r"['’]s?$")
# The stemmer is not thread-safe.
_stemmer, _one_at_a_time = Stemmer.Stemmer("english"), Lock()


@cache
def stop_words() -> frozenset[str]:
    """Return the English stop words, the one list for all callers."""
    return frozenset(Path(__file__).with_name("stopwords.txt").read_text(encoding="utf-8").split())


@cache
def function_words(language: str) -> frozenset[str]:
    """Return the function words of a language, by its code; none for a language that is not listed."""
    if language == ENGLISH:
        return stop_words()
    file = Path(__file__).with_name("function_words.toml").read_text(encoding="utf-8")
    return frozenset(tomllib.loads(file).get(language, "").split())


@lru_cache(maxsize=_STEMS_KEPT)
def stem(word: str) -> str:
    """Return the stem of a lower-case word, the same for "studies" and "studied", "labour's" and "labor"."""
    word = _POSSESSIVE.sub("", word).replace("-", "")
    if len(word) > SHORTEST_RESPELT:
        word = _AMERICAN.sub("or", _BRITISH.sub("iz", word))
    with _one_at_a_time:
        return str(_stemmer.stemWord(word))


def holds(held: Stems, asked: str) -> bool:
    """Return True if the stems `held` contain the stem `asked`, or a compound with it ("speedup").

    The rest of a compound must be a word, not an ending: "similar" is no compound of "simil".
    """
    if asked in held:
        return True
    rests = (word.removeprefix(asked) for word in held if word.startswith(asked))
    return len(asked) >= SHORTEST_BEGINNING and any(
        len(rest) >= SHORTEST_REST or rest in stop_words() for rest in rests
    )


@lru_cache(maxsize=_TEXTS_KEPT)
def compounds(text: str) -> dict[str, Stems]:
    """Return the stems of adjacent words by the stem that they would have as one word ("code mixing")."""
    return {
        f"{first}{stem(other)}": frozenset({stem(first), stem(other)})
        for first, other in pairwise(words(text))
        if first not in stop_words() and other not in stop_words()
    }


def spelt_as(asked: str, text: str, held: Stems) -> Stems:
    """Return the stems `held` of a text, with those of `asked` that the text spells as one word or as two.

    "Code mixing", "code-mixing" and "codemixing" are the same.
    """
    parts = [neighbours for whole, neighbours in compounds(asked).items() if whole in held]
    wholes = {stem(word) for word in words(asked)} & compounds(text).keys()
    return held.union(wholes, *parts) if parts or wholes else held
