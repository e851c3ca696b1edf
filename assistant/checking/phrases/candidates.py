"""The phrases of a claim that can be judged on their own."""

import re
import tomllib
import unicodedata
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from pydantic import BaseModel, ConfigDict

from assistant.checking.comparable_text import is_negation, stem, word_lists

GAP = 2  # words that are said between two that are not, within one phrase
LONGEST_TAIL = 3  # words that a number or a scope word counts or widens
# Hyphenated words are read as their parts, numbers whole.
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+|(?<=\d)[.,]\d[^\W_]*)*")
_BREAK = re.compile(r"[,;:.!?()\[\]—–“”\"]")


class _Lists(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    leading: str
    determiners: str
    reporting: str
    scope: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class PhraseWords:
    """The lists of words.toml, which says what each is for; `scope` has the line of each of its words."""

    leading: frozenset[str]
    determiners: frozenset[str]
    reporting: frozenset[str]
    scope: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Word:
    """A word of a text: its place, its lower case, its stem, and the line of scope words it belongs to.

    `counts`: it says something that a text may lack, and is no word of grammar or of reporting.
    """

    start: int
    end: int
    text: str
    lower: str
    stem: str
    scope: str
    counts: bool


@cache
def phrase_words() -> PhraseWords:
    text = Path(__file__).with_name("words.toml").read_text(encoding="utf-8")
    lists = _Lists.model_validate(tomllib.loads(text))
    return PhraseWords(
        frozenset(lists.leading.split()),
        frozenset(lists.determiners.split()),
        frozenset(lists.reporting.split()),
        {word: line for line, words in lists.scope.items() for word in words.split()},
    )


def read_words(text: str) -> list[Word]:
    """Return the words of a text with their places; hyphenated words as their parts."""
    known, function = phrase_words(), word_lists().function
    found = []
    for match in _WORD.finditer(text):
        lower = unicodedata.normalize("NFKC", match[0]).lower().replace("’", "'")
        scope = known.scope.get(lower, "no" if is_negation(lower) and lower.endswith("n't") else "")
        is_plain = lower in function or lower in known.reporting or len(lower) < 2
        counts = not scope and (not is_plain or lower.isdigit())
        found.append(Word(match.start(), match.end(), match[0], lower, stem(lower), scope, counts))
    return found


def group_words(claim: str, words: Sequence[Word], chosen: Collection[int]) -> Iterator[tuple[int, int]]:
    """Yield the first and last word of each run of chosen words, with at most GAP others between two.

    No run goes on behind a comma or the like.
    """
    first = last = -1
    for at in sorted(chosen):
        if first >= 0 and (at - last > GAP + 1 or _BREAK.search(claim, words[last].end, words[at].start)):
            yield first, last
            first = at
        first, last = (at if first < 0 else first), at
    if first >= 0:
        yield first, last


def phrase_span(claim: str, words: Sequence[Word], first: int, last: int) -> tuple[int, int]:
    """Return the characters of the phrase around a run of words.

    It begins with the word that leads it, "on all", and ends with what a number or a scope word counts or
    widens, "all languages". Hyphenated words stay whole.
    """
    known = phrase_words()
    first, last = _whole(claim, words, first, last)
    is_open = words[last].scope or words[last].lower[0].isdigit()
    for _ in range(LONGEST_TAIL if is_open else 0):
        if last + 1 >= len(words) or not _adjoin(claim, words, last) or not _may_follow(words[last + 1]):
            break
        last += 1
    if first and words[first - 1].lower in known.determiners and _adjoin(claim, words, first - 1):
        is_led = first > 1 and words[first - 2].lower in known.leading and _adjoin(claim, words, first - 2)
        first -= 2 if is_led else 1
    elif first and words[first - 1].lower in known.leading and _adjoin(claim, words, first - 1):
        first -= 1
    return words[first].start, words[last].end


def _whole(claim: str, words: Sequence[Word], first: int, last: int) -> tuple[int, int]:
    """Return a run with the other parts of the hyphenated words at its edges."""
    while first and claim[words[first - 1].end : words[first].start] == "-":
        first -= 1
    while last + 1 < len(words) and claim[words[last].end : words[last + 1].start] == "-":
        last += 1
    return first, last


def _adjoin(claim: str, words: Sequence[Word], at: int) -> bool:
    """Return True if nothing but a space stands between a word and the next one."""
    return not claim[words[at].end : words[at + 1].start].strip(" -%$€£")


def _may_follow(word: Word) -> bool:
    return word.lower not in word_lists().function and not word.scope
