"""Questions to begin with: made of what papers share, tried before they are offered, kept with the corpus."""

import shutil
from collections.abc import Generator as Iteration
from pathlib import Path

import pytest

from assistant.chat import Assistant
from assistant.generators.extractive.generator import ExtractiveGenerator
from assistant.ranking.evidence import RankedEvidence
from assistant.records import NOTHING_NEAR, CallLog, Draft, Turn
from assistant.suggestions.offered import offered_questions, try_next_question
from corpus.encoders.base import Encoder
from corpus.store.corpus import Corpus

HELD = "field-notes-retrieval"
MOST = 4


@pytest.fixture
def assistant(demo_home: Path, encoder: Encoder, tmp_path: Path) -> Assistant:
    """Return an assistant with a corpus of its own, for what was tried is kept beside it."""
    shutil.copytree(
        demo_home / "corpus", tmp_path / "corpus", ignore=shutil.ignore_patterns("questions.json")
    )
    return _reopened(tmp_path / "corpus", encoder)


def _reopened(path: Path, encoder: Encoder) -> Assistant:
    return Assistant(Corpus.open(path, encoder), encoder, ExtractiveGenerator(encoder))


def _try_all(assistant: Assistant) -> int:
    return next(number for number in range(1000) if not try_next_question(assistant))


def _names_of_papers(corpus: Corpus) -> set[str]:
    return {paper.title for paper in corpus.papers()}


def test_questions_are_of_several_kinds_and_each_of_its_own(assistant: Assistant) -> None:
    assert _try_all(assistant) > MOST
    offered = offered_questions(assistant.corpus, assistant.corpus.collection_ids(), MOST)
    assert 1 < len(offered) <= MOST
    assert len({question.kind for question in offered}) > 1
    names = [name for question in offered for name in question.names]
    assert len(names) == len(set(names))
    assert not any(
        title in question.question for question in offered for title in _names_of_papers(assistant.corpus)
    )


class _SilentOn(ExtractiveGenerator):
    """A writer that finds nothing to say to one question."""

    question = ""

    def write_draft(
        self, found: RankedEvidence, history: tuple[Turn, ...], log: CallLog
    ) -> Iteration[str, None, Draft]:
        if found.plan.rewrite.question == self.question:
            return Draft("", NOTHING_NEAR)
        return (yield from super().write_draft(found, history, log))


def test_a_question_that_is_not_answered_is_not_offered(assistant: Assistant, encoder: Encoder) -> None:
    first, *_ = offered_questions(assistant.corpus, [HELD], MOST)
    silent = _SilentOn(encoder)
    silent.question = first.question
    _try_all(Assistant(assistant.corpus, encoder, silent))
    offered = offered_questions(assistant.corpus, [HELD], MOST)
    assert offered
    assert first.question not in {question.question for question in offered}


def test_what_was_tried_is_not_tried_again_by_the_next_who_comes(
    assistant: Assistant, encoder: Encoder
) -> None:
    assert try_next_question(assistant)
    assert try_next_question(assistant)
    later = _reopened(assistant.corpus.path, encoder)
    left = _try_all(later)
    assert _try_all(_reopened(assistant.corpus.path, encoder)) == 0
    (assistant.corpus.path / "questions.json").delete()
    assert _try_all(later) == left + 2


@pytest.mark.parametrize("content", ["{", '{"made_of": "other", "tried": {}}', '{"tried": {"": [1]}}', ""])
def test_a_file_that_says_nothing_costs_nothing(assistant: Assistant, content: str) -> None:
    before = offered_questions(assistant.corpus, [HELD], MOST)
    (assistant.corpus.path / "questions.json").write(content.encode())
    assert offered_questions(assistant.corpus, [HELD], MOST) == before
    assert try_next_question(assistant)


def test_where_nothing_can_be_kept_nothing_is_tried_for_ever(assistant: Assistant) -> None:
    (assistant.corpus.path / "questions.json.new").make_folder()
    assert not try_next_question(assistant)


def test_a_collection_is_offered_its_own_questions(assistant: Assistant) -> None:
    _try_all(assistant)
    assert {question.collection for question in offered_questions(assistant.corpus, [HELD], MOST)} == {HELD}
    assert offered_questions(assistant.corpus, [], MOST) == ()
