"""Marks the phrases of an answer's sentences that their citations do not say."""

from collections.abc import Sequence
from dataclasses import replace

from assistant.checking.mending.roles import texts_of
from assistant.checking.phrases.naming import find_unsaid_phrases
from assistant.checking.support import about, cites_across
from assistant.checking.thresholds import thresholds
from assistant.records import Answer, AnswerSentence, Evidence
from corpus.encoders.base import Encoder
from corpus.language.identified import foreign_language

BELOW_STRONG = 0.01  # a sentence with an unsaid phrase is at most partly supported


def with_unsaid(answer: Answer, evidence: Evidence, encoder: Encoder) -> Answer:
    """Return an answer with `not_said` set on its sentences, and the support of those capped.

    The word lists are English: sentences in another language, or that cite one, do not change.
    """
    if not answer.sentences or foreign_language(answer.text):
        return answer
    texts = {paper.label: (*texts_of(paper), about(paper.paper)) for paper in evidence.papers}
    sentences = tuple(
        sentence
        if cites_across(sentence)
        else _with_unsaid(
            sentence, [text for label in sentence.labels for text in texts.get(label, ())], encoder
        )
        for sentence in answer.sentences
    )
    return replace(answer, sentences=sentences)


def _with_unsaid(sentence: AnswerSentence, texts: Sequence[str], encoder: Encoder) -> AnswerSentence:
    if not sentence.citations:
        return sentence
    unsaid = tuple(
        dict.fromkeys(phrase.text for phrase in find_unsaid_phrases(sentence.claim, texts, encoder))
    )
    if not unsaid:
        return sentence
    citations = tuple(
        replace(citation, support=_at_most_partial(citation.support))
        if any(phrase in citation.claim for phrase in unsaid)
        else citation
        for citation in sentence.citations
    )
    return replace(sentence, not_said=unsaid, citations=citations, support=_at_most_partial(sentence.support))


def _at_most_partial(support: float | None) -> float | None:
    return None if support is None else min(support, thresholds().support.strong - BELOW_STRONG)
