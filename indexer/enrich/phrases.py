"""Many phrases looked for at once: whole words, the longest first, capitals where they matter."""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Generic, TypeVar

_TOKEN = re.compile(r"[^\W_]+(?:['’][^\W_]+)?\+*|@")

T = TypeVar("T")


def tokens(text: str) -> list[str]:
    """Return the words of a text in their case; hyphens and slashes part words."""
    return _TOKEN.findall(text)


def is_acronym(word: str) -> bool:
    """Return True if a word has capitals of its own: two, or one with a digit or not at the beginning."""
    capitals = sum(character.isupper() for character in word)
    if capitals == 1:
        return not word[0].isupper() or any(character.isdigit() for character in word)
    return capitals > 1


class Phrases(Generic[T]):
    """Forms of things, and the things they stand for; one form may stand for several.

    Acronyms in a form are met in their own case, its other words in any, each form with or without a plural
    -s. A word that is known in no other way is met in capitals too.
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
        # A text may have the first word with a plural -s, or without the one the form has.
        for opening in (first, f"{first}s", _singular(first)):
            self._longest[opening] = max(self._longest.get(opening, 0), len(words))

    def found(self, words: Sequence[str]) -> Iterator[T]:
        """Yield the values of the phrases in the words; of phrases that overlap, the first and longest."""
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
            if things := self._look_up(words[start : start + size]):
                return size, things
        return 0, ()

    def _look_up(self, words: Sequence[str]) -> tuple[T, ...]:
        for phrase in (" ".join(map(_key, words)), " ".join(words).lower()):
            if things := self._things.get(phrase) or self._things.get(_singular(phrase)):
                return things
        return ()


def _key(word: str) -> str:
    return word if is_acronym(word) else word.lower()


def _singular(phrase: str) -> str:
    return phrase[:-1] if phrase.endswith("s") and not phrase.endswith("ss") else phrase
