"""A score of how much a sentence looks like the definition asked for."""

import re

from assistant.questions.intent import Asked
from assistant.questions.vocabulary import stems
from assistant.ranking.candidates import Candidate
from assistant.reading.telling import without_lead
from corpus.language.abbreviations import find_abbreviations
from corpus.text import words

EARLY = 1  # the last passage number in which papers mostly define: the one after the abstract
LATER = 0.4
# Words between "we propose" and what is proposed, and what "called" stands before.
MOST_BETWEEN, MOST_BEFORE = 8, 13

_ARTICLE = re.compile(r"^(?:the|an?)\s+", re.IGNORECASE)
_VERB = re.compile(r",|\(.*|is|are|was|were|refers?|means?|[a-z]{2,}(?<!u)(?<!s)s", re.IGNORECASE)
_INTRODUCES = re.compile(
    r"\b(?:we|i|this (?:paper|work|article|study)|the authors|et al\.)"
    r"(?:\s(?:also|then|now|thus|here|have|\w+ly))?\s"
    r"(?:propose|introduce|present|describe|develop|release|build|built|design|create|call|name)"
    r"[sd]?(?:ed)?\s(?P<what>.+)",
    re.IGNORECASE,
)
_NAMED = frozenset("called named dubbed termed coined".split())
_OF_ANOTHER = re.compile(r"\b(?:for|of|in|on|with|from|by|to|than|using)\b", re.IGNORECASE)
# The beginning of a definition after a name: "BM25, a", "the BM25 model that".
_GOES_ON = re.compile(
    r"\W*[,:(—–]|(?:\w+\s+){0,2}(?:which|that|an?|as|for|to|by|is|are)\b|(?:\w+\s+){0,2}\w*ing\b",
    re.IGNORECASE,
)


def defines(candidate: Candidate, asked: Asked) -> float:
    """Score how much a sentence looks like the definition asked for, 0..1.

    A definition opens with the subject and a verb ("BM25 ranks ..."), introduces it ("We propose BM25, a
    ..."), gives its long form, or is what the abstract of the paper "BM25: A ..." proposes. The score is
    higher in the abstract and introduction, highest in their first sentences.
    """
    if not asked.defined:
        return 0.0
    is_early = candidate.passage.number <= EARLY
    if _opens_with(candidate.text, asked):
        return (1.0 if candidate.sentence == 0 else 0.6) if is_early else LATER
    if _introduces(candidate.text, asked) or _spells_out(candidate.text, asked):
        return 1.0 if is_early else LATER
    return 1.0 if candidate.passage.number == 0 and _is_of_title(candidate, asked) else 0.0


def _spells_out(text: str, asked: Asked) -> bool:
    """Return True if a sentence gives the long form of the subject: "word sense disambiguation (WSD)"."""
    return any(stems(short) == asked.defined for short in find_abbreviations(text))


def _is_of_title(candidate: Candidate, asked: Asked) -> bool:
    """Return True for what the paper "BM25: A ..." proposes, if the sentence says another name or none."""
    name, colon, _ = candidate.paper.paper.title.partition(":")
    is_named = bool(colon) and stems(name) == asked.defined
    return (
        is_named and not asked.defined <= candidate.stems and _INTRODUCES.search(candidate.text) is not None
    )


def _opens_with(text: str, asked: Asked) -> bool:
    opening = _ARTICLE.sub("", without_lead(text)).replace(",", " ,").split()
    subject, verb = opening[: len(asked.defined)], opening[len(asked.defined) :][:1]
    is_subject = stems(" ".join(subject)) == asked.defined
    return is_subject and bool(verb) and _VERB.fullmatch(verb[0]) is not None


def _introduces(text: str, asked: Asked) -> bool:
    if (match := _INTRODUCES.search(text)) is None:
        return False
    following = match["what"].split()
    length = len(asked.defined)
    for index in range(min(len(following) - length, MOST_BEFORE) + 1):
        if stems(" ".join(following[index : index + length])) != asked.defined:
            continue
        before, behind = " ".join(following[:index]), " ".join(following[index + length :])
        mark = "" if following[index + length - 1][-1].isalnum() else following[index + length - 1][-1]
        if not _NAMED.isdisjoint(words(before)[-1:]):
            return True
        is_near = index <= MOST_BETWEEN and not _OF_ANOTHER.search(before)
        return is_near and _GOES_ON.match(f"{mark}{behind}") is not None
    return False
