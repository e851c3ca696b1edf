"""Whether a sentence says yes or no to a question.

Measured on 583 questions written for abstracts: where the sentences that answer read as a yes, 80 % of the
answers are yes and 7 % no; where they read as a no, 74 % are no and 4 % yes.
"""

import tomllib
from collections.abc import Sequence, Set
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal

from assistant.questions.names import names_in, says_name, squashed
from assistant.questions.vocabulary import content_words, stems, vocabulary
from corpus.text import words

Side = Literal["yes", "no", "open"]
REACH = 5  # words after a negation that it negates
NOT_DENIED = (["only"], ["always"])  # "not only", "not always"
SHORTEST = 4  # letters of a word that says something
LEADS: dict[Side, str] = {
    "yes": "Likely yes.",
    "no": "Likely no.",
    "open": "The papers do not plainly say yes or no.",
}


@dataclass(frozen=True, slots=True)
class _Words:
    """The word lists of yes_or_no.toml, which says what each is for."""

    denying: Set[str]
    qualifying: Set[str]
    absolute: Set[str]
    investigating: Set[str]
    concluding: Set[str]
    opposed: Sequence[tuple[Set[str], Set[str]]]


@cache
def _words() -> _Words:
    table = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
    opposed = [
        (frozenset(words.split()), frozenset(others.split())) for words, others in table.pop("opposed")
    ]
    return _Words(**{name: frozenset(words.split()) for name, words in table.items()}, opposed=opposed)


def take_side(question: str, sentence: str) -> Side:
    """Return the side that a sentence takes in a question that asks for yes or no."""
    lists, asked, told = _words(), words(question), words(sentence)
    names = frozenset().union(*map(words, names_in(question)))
    subject = stems(" ".join(word for word in asked if len(word) >= SHORTEST and word not in names))
    is_denial = _has(lists.denying, asked)
    if not is_denial and _denies(told, lists.denying, subject):
        return "no"
    is_plain = not (is_denial or _has(lists.absolute | lists.qualifying, asked) or _opposes(told, asked))
    is_plain = is_plain and (_has(lists.concluding, told) or not _has(lists.investigating, told))
    return "yes" if is_plain and not _has(lists.denying | lists.qualifying, told) else "open"


def _opposes(told: Sequence[str], asked: Sequence[str]) -> bool:
    """Return True if a sentence has words opposed to those of the question: "fewer" to "more"."""
    return any(
        not (one_way.isdisjoint(asked) or other_way.isdisjoint(told))
        for pair in _words().opposed
        for one_way, other_way in (pair, pair[::-1])
    )


def covers(question: str, sentence: str) -> bool:
    """Return True if a sentence has all names of a question and half of its content words."""
    if not all(says_name(sentence, squashed(name)) for name in names_in(question)):
        return False
    question_stems = stems(
        " ".join(word for word in content_words(question) if word not in vocabulary().frame)
    )
    return 2 * len(question_stems & stems(sentence)) >= len(question_stems)


def _has(listed: Set[str], said: list[str]) -> bool:
    return any(word in listed or _is_contracted(word) for word in said)


def _denies(told: list[str], denying: Set[str], subject: Set[str]) -> bool:
    """Return True if a denial stands shortly before a word of the question."""
    return any(
        not subject.isdisjoint(stems(" ".join(told[index + 1 : index + 1 + REACH])))
        for index, word in enumerate(told)
        if (word in denying or _is_contracted(word)) and told[index + 1 : index + 2] not in NOT_DENIED
    )


def _is_contracted(word: str) -> bool:
    return word.endswith(("n't", "n’t"))
