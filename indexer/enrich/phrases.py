"""Search for many phrases at once: whole words, longest first, acronyms case-sensitive."""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Generic, TypeVar

_TOKEN = re.compile(r"[^\W_]+(?:['’][^\W_]+)?\+*|@")

T = TypeVar("T")


def tokens(text: str) -> list[str]:
    """Return the words of a text in their case, split at hyphens and slashes."""
    return _TOKEN.findall(text)


def is_acronym(word: str) -> bool:
    """Return True for a word with two capitals, or one that has a digit or is not at the beginning."""
    capitals = sum(character.isupper() for character in word)
    if capitals == 1:
        return not word[0].isupper() or any(character.isdigit() for character in word)
    return capitals > 1


class Phrases(Generic[T]):
    """Forms of phrases and the values they stand for; one form may have several values.

    Acronyms in a form match case-sensitively, its other words in any case, each form with or without a plural
    -s. A word that is known in no other way also matches in capitals.
    """

    def __init__(self, forms: Iterable[tuple[str, T]]) -> None:
        self._things: dict[str, tuple[T, ...]] = {}
        self._longest: dict[str, int] = {}
        for form, thing in forms:
            self._add(tokens(form), thing)

    def _add(self, words: Sequence[str], thing: T) -> None:
        keys = [_key(word) for word in words]
        phrase = " ".join(keys)
        if thing not in self._things.get(phrase, ()):
            self._things[phrase] = (*self._things.get(phrase, ()), thing)
        first = words[0].lower()
        # The first word may differ in a plural -s.
        for opening in (first, f"{first}s", _singular(first)):
            self._longest[opening] = max(self._longest.get(opening, 0), len(words))

    def found(self, words: Sequence[str]) -> Iterator[T]:
        """Yield the values of the phrases in the words; of overlapping phrases the first and longest."""
        open_from = 0
        for start, word in enumerate(words):
            if start >= open_from and word.lower() in self._longest:
                size, things = self._at(words, start)
                open_from = start + size
                yield from things

    def stands_for(self, phrase: str) -> tuple[T, ...]:
        """Return the values of exactly this phrase."""
        words = tokens(phrase)
        size, things = self._at(words, 0) if words else (0, ())
        return things if size == len(words) else ()

    def _at(self, words: Sequence[str], start: int) -> tuple[int, tuple[T, ...]]:
        longest = self._longest.get(words[start].lower(), 0)
        for size in range(min(longest, len(words) - start), 0, -1):
            run = words[start : start + size]
            for phrase in (" ".join(map(_key, run)), " ".join(run).lower()):
                if things := self._things.get(phrase) or self._things.get(_singular(phrase)):
                    return size, things
        return 0, ()


def _key(word: str) -> str:
    return word if is_acronym(word) else word.lower()


def _singular(phrase: str) -> str:
    return phrase[:-1] if phrase.endswith("s") and not phrase.endswith("ss") else phrase
