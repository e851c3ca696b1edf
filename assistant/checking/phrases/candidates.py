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
from assistant.questions.vocabulary import vocabulary

GAP = 2  # words that are said between two that are not, within one phrase
LONGEST_TAIL = 2  # words that a number or a scope word counts or widens; of other words, one
# Hyphenated words are read as their parts, numbers whole.
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+|(?<=\d)[.,]\d[^\W_]*)*")
_BREAK = re.compile(r"[,;:.!?()\[\]—–“”\"]")
_CURRENCIES = ("$", "€", "£")


class _Lists(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    leading: str
    determiners: str
    auxiliaries: str
    reporting: str
    scope: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class PhraseWords:
    """The lists of words.toml, which says what each is for.

    `reporting` are stems; `scope` has the line of each of its words.
    """

    leading: frozenset[str]
    determiners: frozenset[str]
    auxiliaries: frozenset[str]
    reporting: frozenset[str]
    scope: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Word:
    """A word of a text: its place, its lower case, its stem, and the line of scope words it belongs to.

    `counts`: it is no word of grammar; `tells`: nor of reporting, so that its absence is worth a word.
    """

    start: int
    end: int
    text: str
    lower: str
    stem: str
    scope: str
    counts: bool
    tells: bool


@cache
def phrase_words() -> PhraseWords:
    text = Path(__file__).with_name("words.toml").read_text(encoding="utf-8")
    lists = _Lists.model_validate(tomllib.loads(text))
    words_of_questions = vocabulary()
    reporting = (
        words_of_questions.verbs
        | words_of_questions.finding
        | words_of_questions.generic
        | set(lists.reporting.split())
    )
    return PhraseWords(
        frozenset(lists.leading.split()),
        frozenset(lists.determiners.split()),
        frozenset(lists.auxiliaries.split()),
        frozenset(map(stem, reporting)),
        {word: line for line, words in lists.scope.items() for word in words.split()},
    )


def read_words(text: str) -> list[Word]:
    """Return the words of a text with their places; hyphenated words as their parts."""
    known, function = phrase_words(), word_lists().function
    result = []
    for match in _WORD.finditer(text):
        lower = unicodedata.normalize("NFKC", match[0]).lower().replace("’", "'")
        scope = known.scope.get(lower, "no" if is_negation(lower) and lower.endswith("n't") else "")
        root = stem(lower)
        counts = bool(scope) or lower.isdigit() or (lower not in function and len(lower) > 1)
        tells = counts and root not in known.reporting
        result.append(Word(match.start(), match.end(), match[0], lower, root, scope, counts, tells))
    return result


def group_words(claim: str, words: Sequence[Word], chosen: Collection[int]) -> Iterator[tuple[int, int]]:
    """Yield the first and last word of each run of chosen words, with at most GAP others between two.

    No run goes on behind a comma or the like.
    """
    first = last = -1
    for index in sorted(chosen):
        if first >= 0 and (
            index - last > GAP + 1 or _BREAK.search(claim, words[last].end, words[index].start)
        ):
            yield first, last
            first = index
        first, last = (index if first < 0 else first), index
    if first >= 0:
        yield first, last


def phrase_span(claim: str, words: Sequence[Word], first: int, last: int) -> tuple[int, int]:
    """Return the characters of the phrase around a run of words.

    It begins with the word that leads it, "on all", and ends with what its last word belongs to, "all
    languages". Names and hyphenated words stay whole.
    """
    known = phrase_words()
    while first and _is_one_name(claim, words[first - 1], words[first]):
        first -= 1
    while last + 1 < len(words) and _is_one_name(claim, words[last], words[last + 1]):
        last += 1
    is_open = words[last].scope or words[last].lower[0].isdigit() or words[last].lower in word_lists().numbers
    last = _with_tail(claim, words, last, LONGEST_TAIL if is_open else 1)
    if first and words[first - 1].lower in known.determiners and _adjoin(claim, words, first - 1):
        is_led = first > 1 and words[first - 2].lower in known.leading and _adjoin(claim, words, first - 2)
        first -= 2 if is_led else 1
    elif first and words[first - 1].lower in known.leading and _adjoin(claim, words, first - 1):
        first -= 1
    start, end = words[first].start, words[last].end
    return start - (claim[start - 1 : start] in _CURRENCIES), end + (claim[end : end + 1] == "%")


def _is_one_name(claim: str, word: Word, after: Word) -> bool:
    """Return True if two words are parts of one name, or of a word with hyphens."""
    between = claim[word.end : after.start]
    return between == "-" or (between == " " and word.text[0].isupper() and after.text[0].isupper())


def _with_tail(claim: str, words: Sequence[Word], last: int, most: int) -> int:
    """Return the last of at most `most` words that go on a phrase, no word of grammar."""
    known, function = phrase_words(), word_lists().function
    tail = last
    for index in range(last + 1, min(last + 1 + most, len(words))):
        lower = words[index].lower
        is_joint = lower in known.auxiliaries
        goes_on = is_joint or (lower not in function and words[index].stem not in known.reporting)
        if not _adjoin(claim, words, index - 1) or words[index].scope or not goes_on:
            break
        tail = tail if is_joint else index
    return tail


def _adjoin(claim: str, words: Sequence[Word], index: int) -> bool:
    """Return True if nothing but a space or a sign stands between a word and the next one."""
    return not claim[words[index].end : words[index + 1].start].strip(" -%$€£")
