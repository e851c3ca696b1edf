"""The words of a query with their positions, as written and as looked up."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from corpus.encoders.base import ordinary_words
from corpus.language.stemming import stem, stop_words
from corpus.store.lexicon import plain_words

MOST_WORDS = 64
_WORD = re.compile(r"[^\W_]+")

Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Word:
    """A word of a query; `plain` is in lower case and without accents."""

    start: int
    end: int
    written: str
    plain: str

    @property
    def is_capitalised(self) -> bool:
        return self.written[0].isupper()

    @property
    def is_in_capitals(self) -> bool:
        return len(self.written) > 1 and self.written.isupper()

    @property
    def has_inner_capitals(self) -> bool:
        """Return True for words spelled like systems and data sets: "LinkBERT", "BERT"."""
        return any(character.isupper() for character in self.written[1:])


def words_outside(text: str, spans: Sequence[Span]) -> Iterator[Word]:
    """Yield the first `MOST_WORDS` words of a text that do not overlap `spans`."""
    count = 0
    for match in _WORD.finditer(text):
        inside = any(start < match.end() and match.start() < end for start, end in spans)
        plain = "".join(plain_words(match[0]))
        if plain and not inside and count < MOST_WORDS:
            count += 1
            yield Word(match.start(), match.end(), match[0], plain)


def is_english(plain: str) -> bool:
    """Return True for an everyday English word, in any form."""
    return plain in stop_words() or plain in ordinary_words() or stem(plain) in ordinary_words()
