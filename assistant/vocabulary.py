"""English words by the part they play in a question, and what is left when they are taken away."""

import re
import tomllib
from dataclasses import dataclass, fields
from functools import cache
from pathlib import Path

from corpus.text import words

WordSet = frozenset[str]
SHORTEST_RESPELT = 6
_BRITISH = re.compile(r"is(?=(?:e|es|ed|er|ers|ing|ings|ation|ations)$)")
_AMERICAN = re.compile(r"our(?=s?$|al$|ed$|ing$)")


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """The word lists of vocabulary.toml, which says what each is for."""

    frame: WordSet
    generic: WordSet
    aspects: WordSet
    pointing: WordSet
    verbs: WordSet
    judging: WordSet
    function: WordSet
    unclear_start: WordSet
    finding: WordSet
    background: WordSet


@cache
def vocabulary() -> Vocabulary:
    lists = tomllib.loads(Path(__file__).with_name("vocabulary.toml").read_text(encoding="utf-8"))
    return Vocabulary(**{field.name: frozenset(lists[field.name].split()) for field in fields(Vocabulary)})


def content_words(text: str) -> list[str]:
    """Return the words of `text` that carry a subject, in lower case and in order."""
    known = vocabulary()
    return [word for word in words(text) if word not in known.function and word not in known.generic]


def stem(word: str) -> str:
    """Return a crude stem, so that "models" and "model's" meet "model", and "labour" "labor"."""
    word = word.removesuffix("'s").removesuffix("’s")
    word = _AMERICAN.sub("or", _BRITISH.sub("iz", word)) if len(word) > SHORTEST_RESPELT else word
    for suffix in ("ingly", "edly", "ation", "ings", "ies", "ing", "ers", "ed", "es", "er", "ly", "s"):
        if word.endswith(suffix) and len(word) - len(suffix) >= 4:
            return word[: -len(suffix)]
    return word


def stems(text: str) -> frozenset[str]:
    """Return the stems of the content words of `text`; a hyphenated word counts as one, "low-resource"."""
    return frozenset(stem(word.replace("-", "")) for word in content_words(text))


def holds(held: frozenset[str], asked: str) -> bool:
    """Tell whether a text with the stems `held` has the word asked for, in a longer form too ("speedup")."""
    return asked in held or (len(asked) >= 5 and any(word.startswith(asked) for word in held))
