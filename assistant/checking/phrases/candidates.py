"""The phrases of a claim that can be judged on their own."""

import re
import tomllib
import unicodedata
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from pydantic import BaseModel, ConfigDict

from assistant.checking.comparable_text import WordSet, is_negation, stem, word_lists
from assistant.questions.vocabulary import vocabulary

GAP = 2  # words between two chosen ones within a phrase
LONGEST_TAIL = 2  # words that a number or a scope word may modify; other words, one
# Hyphenated words are read as their parts, numbers whole.
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+|(?<=\d)[.,]\d[^\W_]*)*")
_BREAK = re.compile(r"[,;:.!?()\[\]—–“”\"]")
_CURRENCIES = ("$", "€", "£")


class PhraseWords(BaseModel):
    """The lists of words.toml, which says what each is for.

    `reporting` are stems; `scope` has the name of the group of each of its words.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    leading: WordSet
    determiners: WordSet
    auxiliaries: WordSet
    reporting: WordSet
    scope: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Word:
    """A word of a text with its offsets, lower case, stem, and group of scope words ("" for none).

    `counts`: it is no function word; `tells`: nor a word of reporting, so that its absence matters.
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
    lists = PhraseWords.model_validate(tomllib.loads(text))
    known = vocabulary()
    reporting = lists.reporting | known.verbs | known.finding | known.generic
    scope = {word: group for group, words in lists.scope.items() for word in words.split()}
    return lists.model_copy(update={"reporting": frozenset(map(stem, reporting)), "scope": scope})


def read_words(text: str) -> list[Word]:
    """Return the words of a text; hyphenated words are split."""
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
    """Yield first and last index of each run of chosen words, with at most GAP others between two.

    Punctuation ends a run.
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
    """Return the character offsets of the phrase around a run of words.

    It is extended to a leading word ("on all") and to the word that its last one modifies ("all languages").
    Names and hyphenated words are not cut.
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
    """Return the index of the last of at most `most` words that continue a phrase, not a function word."""
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
    """Return True if only spaces or signs are between a word and the next one."""
    return not claim[words[index].end : words[index + 1].start].strip(" -%$€£")
