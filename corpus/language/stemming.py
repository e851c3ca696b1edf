"""Words as they are compared: their stems (Snowball's for English), and those that carry no subject."""

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
# A stemmer keeps its own state while it is at a word.
_stemmer, _one_at_a_time = Stemmer.Stemmer("english"), Lock()


@cache
def stop_words() -> frozenset[str]:
    """Return the words that carry no subject, the one list for all who leave them out."""
    return frozenset(Path(__file__).with_name("stopwords.txt").read_text(encoding="utf-8").split())


@cache
def function_words(language: str) -> frozenset[str]:
    """Return the words of a language, by its code, that carry no subject; none of one that is not listed."""
    if language == ENGLISH:
        return stop_words()
    file = Path(__file__).with_name("function_words.toml").read_text(encoding="utf-8")
    return frozenset(tomllib.loads(file).get(language, "").split())


@lru_cache(maxsize=_STEMS_KEPT)
def stem(word: str) -> str:
    """Return the stem that a lower-case word's forms share: "studies", "studied"; "labour's", "labor"."""
    word = _POSSESSIVE.sub("", word).replace("-", "")
    if len(word) > SHORTEST_RESPELT:
        word = _AMERICAN.sub("or", _BRITISH.sub("iz", word))
    with _one_at_a_time:
        return str(_stemmer.stemWord(word))


def holds(held: Stems, asked: str) -> bool:
    """Return True if a text with the stems `held` has the word asked for, or a longer one ("speedup")."""
    return asked in held or (
        len(asked) >= SHORTEST_BEGINNING
        and any(_is_word(word[len(asked) :]) for word in held if word.startswith(asked))
    )


def _is_word(rest: str) -> bool:
    """Return True if what is left of a longer word may be a word, not an ending: "similar" is no simile."""
    return len(rest) >= SHORTEST_REST or rest in stop_words()


@lru_cache(maxsize=_TEXTS_KEPT)
def compounds(text: str) -> dict[str, Stems]:
    """Return the stem that two neighbours would have as one word, with theirs: "code mixing"."""
    return {
        f"{one}{stem(other)}": frozenset({stem(one), stem(other)})
        for one, other in pairwise(words(text))
        if one not in stop_words() and other not in stop_words()
    }


def spelt_as(asked: str, text: str, held: Stems) -> Stems:
    """Return the stems `held` of a text with those of what is asked that the text writes in another way.

    "Code mixing", "code-mixing" and "codemixing" are one thing.
    """
    parts = [own for whole, own in compounds(asked).items() if whole in held]
    wholes = {stem(word) for word in words(asked)} & compounds(text).keys()
    return held.union(wholes, *parts) if parts or wholes else held
