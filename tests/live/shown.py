"""Invariants of shown answers, whoever wrote them: nothing unsupported is shown as supported."""

import re

from assistant.records import Answer, AnswerSentence, Call, Citation, Evidence

SUPPORTED = 0.5
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")


def check_answer(answer: Answer, evidence: Evidence) -> None:
    for sentence in answer.sentences:
        assert {citation.label for citation in sentence.citations} <= set(sentence.labels)
        assert sentence.citations or sentence.support is None
        for citation in sentence.citations:
            _check_citation(citation, evidence)
    if not any(map(_is_supported, answer.sentences)):
        assert not answer.citation_recall


def check_calls(calls: tuple[Call, ...], served: str) -> None:
    """Check that calls say who replied, how the reply ended, and what went wrong where it is empty."""
    assert calls
    assert {call.model for call in calls} == {"tiny"}
    assert {call.served for call in calls} == {served}
    assert {call.finish_reason for call in calls} <= {"stop", "length", "enough"}
    assert all(call.messages and call.attempts == 1 and not call.problem for call in calls)


def _is_supported(sentence: AnswerSentence) -> bool:
    return sentence.support is not None and sentence.support >= SUPPORTED


def _check_citation(citation: Citation, evidence: Evidence) -> None:
    cited = evidence.paper(citation.label)
    assert cited
    passages = {passage.id: passage.text for passage in cited.passages}
    assert citation.evidence in passages[citation.passage_id]
    if citation.support is not None and citation.support >= SUPPORTED:
        told = " ".join([*passages.values(), cited.paper.title, str(cited.paper.year)])
        assert set(_NUMBER.findall(citation.claim)) <= set(_NUMBER.findall(told))
