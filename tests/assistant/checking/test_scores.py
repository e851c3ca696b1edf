"""Each score of an answer or a citation is described once, and no place that lists scores lacks one."""

from dataclasses import fields

from assistant.bounds import OF_TRAILS
from assistant.checking.overlap import CITATION_SCORES
from assistant.checking.scores.registry import ANSWERING_SCORES, CITING_SCORES, SCORES
from assistant.records import Answer, Citation
from assistant.serving.answers import AnswerDocument, CheckedTextDocument, CitationDocument
from assistant.trail.replayed_steps import SCORED
from corpus.bounds.of_corpus import SHARE


def scores_in(record: type) -> set[str]:
    return {field.name for field in fields(record) if field.type == float | None}


def test_the_registries_name_the_scores_of_records_and_documents() -> None:
    assert scores_in(Answer) == SCORES.keys()
    assert scores_in(AnswerDocument) == ANSWERING_SCORES.keys()
    assert scores_in(CheckedTextDocument) == CITING_SCORES.keys()
    assert scores_in(Citation) == scores_in(CitationDocument) == CITATION_SCORES.keys()


def test_scores_read_from_files_are_shares_and_depend_on_the_scorer() -> None:
    names = {f"Answer.{name}" for name in SCORES} | {f"Citation.{name}" for name in CITATION_SCORES}
    assert {OF_TRAILS.named[name] for name in names} == {SHARE}
    assert OF_TRAILS.named["AnswerSentence.support"] == SHARE
    assert {*SCORES, "support", "needs_citation", "problems", "not_said"} == SCORED
