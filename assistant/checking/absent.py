"""Numbers and names of a claim that the cited texts do not have in any form: then it is not supported.

Only clear numbers and names count, and only if no cited text has anything similar.
"""

import math
import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from assistant.checking.comparable_text import Quantity, read_statement, stem, word_lists
from corpus.text import write_out_numbers

LEAST_NUMBER = 2  # smaller numbers are expressed in many ways
MOSTLY_CAPITALS = 0.6  # share of the words of a heading, whose capitals mark no names
SHORTEST_ALIKE, ALIKE = 4, 0.7  # letters that "America" and "American" share, of the shorter
# Digits of a name are part of it: "COVID-19", "GPT-4"; "1990s" names ten years.
_ATTACHED = re.compile(r"\b\d{3}0s\b|(?<![^\W_])(?P<before>\d*+)[^\W\d_][^\W_]*+-\d[\w.]*|^\s*\d{1,2}[.)]\s")
_DIGITS = re.compile(r"(?<![\w.,])[$€£]?\d[\d,]*(?:\.\d+)?")
_BEHIND = 24  # letters behind a number that may hold its scale and unit
_GLUED = re.compile(r"[^\W\d_]-?(\d+(?:\.\d+)?)")
_WORD = re.compile(r"[^\W\d_](?:[\w&'’]|-(?=\w))*|[.!?:]")
_POSSESSIVE = re.compile(r"['’]s?$")
# Asides and names in citations, which the cited text need not have.
_NOT_CLAIMED = re.compile(
    r"\([^()]{0,200}\)?"
    r"|(?<![\w'’-])[A-Z][\w'’-]++(?: (?:and|&) [A-Z][\w'’-]++)?,? (?:et al|and colleagues)\b"
)
_DATES = frozenset(
    "january february march april may june july august september october november december monday tuesday "
    "wednesday thursday friday saturday sunday".split()
)
_OF_A_PLACE = re.compile(r"(?:an|ans|ish|ese|ic)$")  # American, Spanish: they have many other forms
_NOT_LETTERS = re.compile(r"[\W_]+")


@dataclass(frozen=True, slots=True)
class Cited:
    """The cited text, prepared for looking up numbers and names."""

    numbers: tuple[Quantity, ...]
    glued: frozenset[str]
    words: frozenset[str]
    stems: frozenset[str]
    letters: str
    initials: str


def is_absent(claim: str, cited: Sequence[str]) -> bool:
    """Return True if the cited texts lack a number or a name of the claim."""
    texts = read_cited(tuple(cited))
    return any(number_absent(claim, texts)) or any(name_absent(claim, texts))


def number_absent(claim: str, cited: Cited) -> Iterator[str]:
    """Yield the claim's numbers in digits that the cited text does not have in any form."""
    text = unicodedata.normalize("NFKC", _ATTACHED.sub(r"\g<before> ", write_out_numbers(claim)))
    for match in _DIGITS.finditer(text):
        quantities = read_statement(text[match.start() : match.end() + _BEHIND]).numbers
        if not quantities or quantities[0].value < LEAST_NUMBER:
            continue
        digits = match[0].lstrip("$€£").replace(",", "")
        if digits not in cited.glued and not any(quantities[0].says(other) for other in cited.numbers):
            yield match[0]


def name_absent(claim: str, cited: Cited) -> Iterator[str]:
    """Yield the claim's names of which the cited text has no part, no other form and no initials."""
    for name in filter(_is_sure, _names(_NOT_CLAIMED.sub(" ", claim))):
        initials = "".join(part[0] for part in name).lower()
        is_abbreviated = len(name) > 1 and initials in cited.words
        if not is_abbreviated and not any(word_stands(part, cited) for part in name):
            yield " ".join(name)


def _names(claim: str) -> Iterator[tuple[str, ...]]:
    """Yield runs of words that have a capital for another reason than beginning a sentence."""
    words = [match[0] for match in _WORD.finditer(claim)]
    capitals = [word for word in words if word[0].isupper()]
    if len(capitals) > MOSTLY_CAPITALS * len([word for word in words if word[0].isalpha()]):
        return
    run: list[str] = []
    opens = True
    for word in [*words, "."]:
        is_name = word[0].isupper() and len(word) > 1 and word.lower() not in word_lists().function
        surely = is_name and (not opens or any(letter.isupper() or letter.isdigit() for letter in word[1:]))
        if surely:
            run += [part for part in _POSSESSIVE.sub("", word).split("-") if part]
        elif run:
            yield tuple(run)
            run = []
        opens = word in ".!?:"


def _is_sure(name: Sequence[str]) -> bool:
    """Return True if a name has a word that is no abbreviation, date or adjective of a place."""
    return any(
        part[1:].islower() and part.lower() not in _DATES and not _OF_A_PLACE.search(part) for part in name
    )


def word_stands(part: str, cited: Cited) -> bool:
    """Return True if the cited text has a part of a name, in some form or as initials of its words."""
    word = part.lower()
    letters = _NOT_LETTERS.sub("", word)
    if word in cited.words or stem(word) in cited.stems or not letters:
        return True
    if len(letters) >= SHORTEST_ALIKE and letters in cited.letters:
        return True
    if part.rstrip("s").isupper() and len(letters) > 1 and letters.rstrip("s") in cited.initials:
        return True
    if any(letter.isdigit() for letter in letters):
        return False
    return any(_alike(letters, other) for other in cited.words)


def _alike(word: str, other: str) -> bool:
    least = max(SHORTEST_ALIKE, math.ceil(ALIKE * min(len(word), len(other))))
    return len(word) >= least and other.startswith(word[:least])


@lru_cache(maxsize=64)
def read_cited(cited: tuple[str, ...]) -> Cited:
    """Prepare cited texts for looking up numbers and names."""
    read = [read_statement(text) for text in cited]
    words = [word for statement in read for word in statement.words]
    text = " ".join(cited).lower()
    return Cited(
        numbers=tuple(number for statement in read for number in statement.numbers),
        glued=frozenset(match[1] for match in _GLUED.finditer(text)),
        words=frozenset(words) | frozenset(_WORD.findall(text)),
        stems=frozenset(stem(word) for word in words),
        letters=_NOT_LETTERS.sub("", text),
        initials="".join(word[0] for word in words),
    )
