"""What kind of answer a question asks for, as far as its words tell."""

import re
from dataclasses import dataclass

from assistant.records import RequestKind
from assistant.vocabulary import content_words, stem, stems, vocabulary
from corpus.records import Scope

_DEFINITION = re.compile(
    r"^\W*(?:what\s+(?:is|are|was|were|does)|define|explain|describe|who\s+(?:is|was))\b", re.IGNORECASE
)
_YES_OR_NO = re.compile(r"^\W*(?:does|do|did|is|are|was|were|can|could|has|have|will)\b", re.IGNORECASE)
_NUMBER = re.compile(r"\bhow\s+(?:many|much|large|big|long|old)\b|\b(?:cost|price)\b", re.IGNORECASE)
_NAME = re.compile(r"(?<!\S)[\"“(]*((?:\w[\w.+-]*)?[A-Z0-9][\w.+-]*\w|[A-Z0-9])")
_OF_THE_WHOLE = re.compile(
    r"\b(?:summar\w+|contributions?|this paper|main (?:idea|point)s?)\b", re.IGNORECASE
)
LONGEST_SUBJECT = 4


@dataclass(frozen=True, slots=True)
class Asked:
    """What a question asks for.

    `defined` holds the stems of what is to be defined ("What is BM25?"), else nothing. `names` holds those of
    the names in a question that a near miss must not answer: one of yes or no, or of a number. `counted`
    holds those of what is asked of the names where it is a number.
    """

    defined: frozenset[str] = frozenset()
    names: frozenset[str] = frozenset()
    counted: frozenset[str] = frozenset()


def read_question(question: str) -> Asked:
    """Return what a question asks for."""
    asked = stems(question)
    subject = [word for word in content_words(question) if word not in vocabulary().frame]
    aspects = vocabulary().aspects.intersection(subject)
    is_short = 0 < len(subject) <= LONGEST_SUBJECT
    defined = stems(" ".join(subject)) if _DEFINITION.match(question) and is_short and not aspects else None
    number = _NUMBER.search(question)
    if not number and not _YES_OR_NO.match(question):
        return Asked(defined=defined or frozenset())
    names = frozenset(stem(name.lower().replace("-", "")) for name in _names(question)) & asked
    return Asked(defined or frozenset(), names, asked - names if number else frozenset())


def request_kind(question: str, scope: Scope) -> RequestKind:
    """Return which kind of request a question is; asked of one paper, a broad question is for its summary."""
    if len(scope.papers) == 1 and _OF_THE_WHOLE.search(question):
        return "summary"
    return "fact" if _NUMBER.search(question) or _YES_OR_NO.match(question) else "synthesis"


def _names(question: str) -> list[str]:
    """Return the names in a question: words with a capital or a digit, but for its capitalised first word."""
    found = [(match.start(1), match[1]) for match in _NAME.finditer(question)]
    start = len(question) - len(question.lstrip(' "“('))
    return [name for at, name in found if at > start or sum(not letter.islower() for letter in name) > 1]
