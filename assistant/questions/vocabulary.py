"""Lists of English words by their role in questions, and the content words of texts."""

import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from corpus.language.stemming import stem, stop_words
from corpus.text import words

WordSet = frozenset[str]


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """The word lists of vocabulary.toml, which says what each is for, and `function`: the stop words."""

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
    announcing: WordSet
    interrogative: WordSet


@cache
def vocabulary() -> Vocabulary:
    lists = tomllib.loads(Path(__file__).with_name("vocabulary.toml").read_text(encoding="utf-8"))
    listed = {name: frozenset(words.split()) for name, words in lists.items()}
    return Vocabulary(function=stop_words(), **listed)


def content_words(text: str) -> list[str]:
    """Return the words of `text` that carry a subject, in lower case and in order."""
    known = vocabulary()
    return [word for word in words(text) if word not in known.function and word not in known.generic]


def stems(text: str) -> frozenset[str]:
    """Return the stems of the content words of `text`; a hyphenated word counts as one, "low-resource"."""
    return frozenset(stem(word) for word in content_words(text))
