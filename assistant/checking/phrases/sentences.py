"""Answers with the phrases named that nothing their sentences cite says."""

from collections.abc import Sequence
from dataclasses import replace

from assistant.checking.mending.roles import texts_of
from assistant.checking.phrases.naming import find_unsaid_phrases
from assistant.checking.support import about, cites_across
from assistant.checking.thresholds import thresholds
from assistant.records import Answer, AnswerSentence, Citation, Evidence
from corpus.encoders.base import Encoder
from corpus.language.identified import foreign_language

BELOW_STRONG = 0.01  # a sentence of which a phrase is not said is partly supported at most


def with_unsaid(answer: Answer, evidence: Evidence, encoder: Encoder) -> Answer:
    """Return an answer with the phrases named that nothing a sentence cites says, and its support held back.

    The word lists are English: sentences in another language, or that cite one, stay as they are.
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
    citations = tuple(_held_back(citation, unsaid) for citation in sentence.citations)
    return replace(sentence, not_said=unsaid, citations=citations, support=_at_most_partial(sentence.support))


def _held_back(citation: Citation, unsaid: Sequence[str]) -> Citation:
    if not any(phrase in citation.claim for phrase in unsaid):
        return citation
    return replace(citation, support=_at_most_partial(citation.support))


def _at_most_partial(support: float | None) -> float | None:
    return None if support is None else min(support, thresholds().support.strong - BELOW_STRONG)
