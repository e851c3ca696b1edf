"""Calls to a model beside the answer: the relevant papers, and the unsupported claims of its draft."""

from dataclasses import replace

import pytest

from assistant.generators.prompted import ModelOptions, PromptedGenerator
from assistant.generators.recorded import recorded_generators
from assistant.models.protocol import Completion
from assistant.records import CallLog, Draft
from tests.assistant.generators.found_evidence import found_for
from tests.assistant.generators.test_prompted import EVIDENCE, QueuedModel, searched

LABELS = [paper.label for paper in EVIDENCE.papers]


def asked(*replies, **options):
    """Return the shown text, the draft, the calls and the model of one answer."""
    model, log = QueuedModel(*replies), CallLog()
    generator = PromptedGenerator(model, options=ModelOptions(**options))
    pieces, drafting = [], generator.write_draft(found_for(searched("What is the F1?"), EVIDENCE), (), log)
    while True:
        try:
            pieces.append(next(drafting))
        except StopIteration as end:
            return "".join(pieces), end.value, log.calls, model


def test_both_are_off_unless_they_are_asked_for():
    assert [call.step for call in asked("Fine [1].")[2]] == ["write"]


def test_papers_that_do_not_bear_on_the_question_are_not_given():
    shown, draft, calls, model = asked("2", "Trees reach 91.2 F1 [2].", rerank=True)
    assert [call.step for call in calls] == ["rerank", "write"]
    assert shown == draft.text == "Trees reach 91.2 F1 [2]."
    assert "⟦paper 2⟧" in model.sent[1][1].content
    assert "⟦paper 1⟧" not in model.sent[1][1].content
    assert {passage.id for passage in EVIDENCE.paper(1).passages} <= set(draft.left_out)
    assert calls[1].left_out == draft.left_out


@pytest.mark.parametrize("said", ["none", "", "77 78", "I cannot say."])
def test_where_no_paper_is_named_all_are_given(said):
    _, draft, _, model = asked(said, "Fine [1].", rerank=True)
    assert all(f"⟦paper {label}⟧" in model.sent[1][1].content for label in LABELS)
    assert draft.left_out == ()


def test_a_draft_is_written_again_without_what_does_not_hold():
    first = "Trees reach 91.2 F1 [1]. They won a prize [1]."
    shown, draft, calls, model = asked(first, "Trees reach 91.2 F1 [1].", revise=True)
    assert [call.step for call in calls] == ["write", "revise"]
    assert (shown, draft.text) == (first, "Trees reach 91.2 F1 [1].")
    assert first in model.sent[1][1].content
    assert calls[1].parameters.temperature == 0.0


@pytest.mark.parametrize(
    "revision",
    [
        "",
        "All of it holds.",
        Completion("Trees reach [1].", "length"),
        Completion("Trees [1].", "interrupted"),
        "⟦draft⟧ Trees [1].",
        "Trees [9].",
    ],
)
def test_a_revision_that_cannot_be_used_leaves_the_draft_as_it_was(revision):
    assert asked("Trees reach 91.2 F1 [1].", revision, revise=True)[1] == Draft("Trees reach 91.2 F1 [1].")


def test_a_draft_that_says_that_nothing_answers_is_not_revised():
    assert [call.step for call in asked("NO ANSWER: not told.", revise=True)[2]] == ["write"]


def test_a_revised_draft_is_given_again_from_its_record(ask_demo, encoder):
    first, last = "Trees reach 91.2 F1 [1]. They won a prize [1].", "Trees reach 91.2 F1 [1]."
    _, _, calls, _ = asked(first, last, revise=True)
    turn = ask_demo("What is BM25?")
    turn = replace(turn, calls=calls, provenance=replace(turn.provenance, generator="queued/model"))
    (generator,) = recorded_generators(turn, encoder)
    drafting = generator.write_draft(found_for(searched("What is the F1?"), EVIDENCE), (), CallLog())
    with pytest.raises(StopIteration) as end:
        while True:
            next(drafting)
    assert end.value.value.text == last
