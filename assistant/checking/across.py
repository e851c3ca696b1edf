"""Citations between two languages: words and learned scores say nothing there, numbers still do."""

import re
from collections.abc import Collection, Mapping
from dataclasses import replace

from assistant.checking.support import Weighed
from assistant.records import AnswerSentence, Evidence
from corpus.language import ENGLISH, foreign_language

_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")


def labels_across(text: str, evidence: Evidence) -> frozenset[int]:
    """Return the labels of the papers that are in another language than an answer that is surely not English.

    A paper of which no language is known is taken for English.
    """
    written = foreign_language(text)
    others = (one.label for one in evidence.papers if (one.paper.language or ENGLISH) != written)
    return frozenset(others) if written else frozenset()


def without_scores(weighed: Weighed, across: Collection[int], evidence: Evidence) -> Weighed:
    """Return sentences without scores where they cite across languages.

    One with a number that nothing cited has is not supported: its support is 0.
    """
    texts = {paper.label: " ".join(passage.text for passage in paper.passages) for paper in evidence.papers}
    return replace(weighed, sentences=tuple(_without_scores(one, across, texts) for one in weighed.sentences))


def cites_across(sentence: AnswerSentence, across: Collection[int]) -> bool:
    return any(label in across for label in sentence.labels)


def _without_scores(
    sentence: AnswerSentence, across: Collection[int], texts: Mapping[int, str]
) -> AnswerSentence:
    if not cites_across(sentence, across):
        return sentence
    citations = tuple(
        replace(one, overlap=None, support=None, sentence=None) if one.label in across else one
        for one in sentence.citations
    )
    said = _numbers(sentence.claim)
    known = {number for label in sentence.labels for number in _numbers(texts.get(label, ""))}
    return replace(sentence, citations=citations, support=None if said <= known else 0.0)


def _numbers(text: str) -> frozenset[str]:
    """Return the numbers of a text, a comma in them as a point: languages differ in it."""
    return frozenset(number.replace(",", ".") for number in _NUMBER.findall(text))
