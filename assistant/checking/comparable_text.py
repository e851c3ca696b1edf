"""The comparable content of a sentence: words, numbers, names, negations and directions."""

import re
import tomllib
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, BeforeValidator, ConfigDict

from corpus.text import spaced, write_out_numbers

NEGATION_REACH = 4
LONGEST_SENTENCE = 2000
NAME_AT_START = 0.5
# Words with hyphens are read as their parts; "BM25" stays whole.
_TOKEN = re.compile(
    r"(?P<number>\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?)(?P<tail>[^\W\d_]{0,3}(?![^\W\d_]))?"
    r"|(?P<word>[^\W\d_]+(?:['’][^\W\d_]+)*\d*)|(?P<unit>[%$€£])|(?P<stop>[.,;:!?()])"
)
_SUFFIXES = ("ational", "ization", "isation", "ation", "ingly", "edly", "ness", "ment", "ings", "ity", "ies")
_ENDINGS = ("ied", "ing", "ion", "ers", "ed", "es", "er", "ly", "al", "s")
# "Not only" and "doesn't just" deny nothing.
_NO_DENIAL = frozenset({"only", "just", "merely", "solely", "simply"})
_CONTRACTED = re.compile(r"n['’]t$")
_POSSESSIVE = re.compile(r"['’]s?$")


def _split(text: str) -> list[str]:
    return text.split()


# Words written as one string, separated by white space.
WordSet = Annotated[frozenset[str], BeforeValidator(_split)]


class WordLists(BaseModel):
    """The lists of words.toml, which says what each is for."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    function: WordSet
    negation: WordSet
    bound: WordSet
    more: WordSet
    less: WordSet
    numbers: Mapping[str, float]
    scales: Mapping[str, float]
    units: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number with its unit: "12.5 thousand" is 12500.0; `step` is the precision it is given with."""

    value: float
    unit: str
    step: float

    def says(self, other: "Quantity") -> bool:
        """Return True if `other` is this number, or a more exact one that rounds to it."""
        if self.unit and other.unit and self.unit != other.unit:
            return False
        exact = other.step < self.step
        return abs(self.value - other.value) <= (self.step / 2 if exact else 1e-9) * (1 + 1e-9)


@dataclass(frozen=True, slots=True)
class Statement:
    """The comparable content of a sentence.

    `words` are all words in lower case, `stems` those of content words. `negated` are the stems in reach of a
    negation, `directions` those of its comparisons (+1 more, -1 less). `names` are stems with weights: 1, or
    less for a capital that may only begin the sentence.
    """

    words: tuple[str, ...]
    stems: tuple[str, ...]
    numbers: tuple[Quantity, ...]
    names: Mapping[str, float]
    negations: int
    negated: frozenset[str]
    directions: frozenset[int]


@cache
def word_lists() -> WordLists:
    text = Path(__file__).with_name("words.toml").read_text(encoding="utf-8")
    return WordLists.model_validate(tomllib.loads(text))


@lru_cache(maxsize=16_384)  # the sentences of thirty whole papers
def read_statement(sentence: str) -> Statement:
    """Read one sentence, cut at LONGEST_SENTENCE characters."""
    text = spaced(unicodedata.normalize("NFKC", write_out_numbers(sentence[:LONGEST_SENTENCE])))
    tokens = list(_TOKEN.finditer(text))
    lists = word_lists()
    lowered = [token[0].lower() for token in tokens]
    negations, negated = _negations(tokens, lowered)
    return Statement(
        words=tuple(
            word for token, word in zip(tokens, lowered, strict=True) if token["word"] or token["number"]
        ),
        stems=tuple(_stems(tokens, lowered)),
        numbers=tuple(_quantities(tokens, lowered)),
        names=dict(_names(tokens)),
        negations=negations,
        negated=negated,
        directions=frozenset(
            side for side, known in ((1, lists.more), (-1, lists.less)) if not known.isdisjoint(lowered)
        ),
    )


def stem(word: str) -> str:
    """Strip suffixes from a word so that its forms share a stem: "studies" and "studied" give "stud"."""
    word = _POSSESSIVE.sub("", word)
    for suffix in (*_SUFFIXES, *_ENDINGS):
        if word.endswith(suffix) and len(word) - len(suffix) >= (3 if suffix == "s" else 4):
            word = word[: -len(suffix)]
            if len(word) >= 4 and word[-1] == word[-2] and (word[-1] not in "lsz" or len(word) > 5):
                word = word[:-1]
            break
    return word[:-1] if len(word) > 4 and word[-1] in "ey" else word


def _stems(tokens: Sequence[re.Match[str]], lowered: Sequence[str]) -> Iterator[str]:
    lists = word_lists()
    for token, word in zip(tokens, lowered, strict=True):
        known = word in lists.function or word in lists.numbers or is_negation(word)
        if token["word"] and not known and len(word) > 1:
            yield stem(word)


def is_negation(word: str) -> bool:
    return word in word_lists().negation or _CONTRACTED.search(word) is not None


def _negations(tokens: Sequence[re.Match[str]], lowered: Sequence[str]) -> tuple[int, frozenset[str]]:
    """Count negations and return the stems within their reach: the next few words of the clause."""
    function = word_lists().function
    count, reach, negated = 0, 0, set[str]()
    for token, word in zip(tokens, lowered, strict=True):
        if token["stop"]:
            reach = 0
        elif token["word"] and is_negation(word):
            count, reach = count + 1, NEGATION_REACH
        elif reach == NEGATION_REACH and word in _NO_DENIAL:
            count, reach = count - 1, 0
        elif reach and token["word"] and word not in function:
            negated.add(stem(word))
            reach -= 1
    return count, frozenset(negated)


def _names(tokens: Sequence[re.Match[str]]) -> Iterator[tuple[str, float]]:
    function, opens = word_lists().function, True
    for token in tokens:
        word = token["word"]
        known = word and (word.lower() in function or is_negation(word.lower()))
        if word and not known and word[0].isupper() and len(word) > 1:
            surely = not opens or any(letter.isupper() or letter.isdecimal() for letter in word[1:])
            yield stem(word.lower()), 1.0 if surely else NAME_AT_START
        opens = opens and not word if token["stop"] is None else token["stop"] in ".!?:"


def _quantities(tokens: Sequence[re.Match[str]], lowered: Sequence[str]) -> Iterator[Quantity]:
    lists, position = word_lists(), 0
    while position < len(tokens):
        start, value, step = position, 0.0, 1.0
        if tokens[position]["number"]:
            digits = tokens[position]["number"].replace(",", "")
            value, step = float(digits), 10.0 ** -len(digits.partition(".")[2])
            position += 1
        else:
            while position < len(tokens) and lowered[position] in lists.numbers:
                value += lists.numbers[lowered[position]]
                position += 1
        if position == start:
            position += 1
            continue
        tail = (tokens[start]["tail"] or "").lower() if tokens[start]["number"] else ""
        scale = lists.scales.get(tail, 1.0)
        while position < len(tokens) and len(lowered[position]) > 2 and lowered[position] in lists.scales:
            scale *= lists.scales[lowered[position]]
            position += 1
        after = lowered[position] if position < len(tokens) else ""
        before = lowered[start - 1] if start else ""
        unit = (
            lists.units.get(tail)
            or lists.units.get(after)
            or lists.units.get(before if before in "$€£" else "")
        )
        yield Quantity(value * scale, unit or "", step * scale)
