"""The steps of an answer as they are shown while it is made, and after."""

from dataclasses import replace
from typing import Any

import pytest

from assistant.records import Rewrite, ScoredPassage, StepTime
from corpus.records import Hit, PaperHits
from explorer.ask.steps import StepShown, steps_html, steps_of, steps_so_far
from explorer.jobs.question import QuestionView
from tests.explorer.turns import TURN, make_paper, make_passage

FOUND = (PaperHits(make_paper("p1"), (Hit(make_passage("p1", 1), 1.0, 0.5, None),) * 3, 1.0),)
FINDING = "done 1 paper, 3 passages 0.3 s"
READ, RETRIEVED, WRITTEN = (StepTime("rewrite", 0.04), StepTime("retrieve", 0.26), StepTime("write", 12.0))


def running(**so_far: Any) -> QuestionView:
    return QuestionView(question="q", state="running", **so_far)


@pytest.mark.parametrize(
    ("view", "shown"),
    [
        (
            QuestionView(question="q", seconds=9.0),
            ["now Waiting for a free worker 9 s", "next Find passages", "next Write", "next Check"],
        ),
        (
            running(seconds=0.1, rewrite=Rewrite("q", "q"), done=(READ,), step="retrieve"),
            ["done Question read 0.0 s", "now Finding passages", "next Write", "next Check"],
        ),
        (
            running(seconds=6.0, waited=1.3, papers=FOUND, done=(READ, RETRIEVED), step="write"),
            ["done Question read 0.0 s", FINDING, "now Writing 4 s", "next Check"],
        ),
        (
            running(seconds=13.0, papers=FOUND, done=(READ, RETRIEVED, WRITTEN), step="check"),
            [
                "done Question read 0.0 s",
                "done 1 paper, 3 passages 0.3 s",
                "done Written 12.0 s",
                "now Checking",
            ],
        ),
    ],
)
def test_every_step_has_its_place_from_the_start(view: QuestionView, shown: list[str]) -> None:
    assert [line(step) for step in steps_so_far(view)] == shown


def line(step: StepShown) -> str:
    return " ".join(filter(None, (step.state, step.name, step.took)))


def test_a_turn_has_the_steps_that_were_taken_and_the_one_under_way_is_told_to_screen_readers() -> None:
    turn = replace(TURN, seconds=(READ, RETRIEVED, WRITTEN, StepTime("check", 0.5)))
    assert [line(step) for step in steps_of(turn)] == [
        "done Question read 0.0 s",
        "done 2 papers, 4 passages 0.3 s",
        "done Written 12.0 s",
        "done Checked 0.5 s",
    ]
    hits = tuple(ScoredPassage(f"p#{number}", 0.1, 0.1, None) for number in range(5))
    turn = replace(TURN, evidence=type(TURN.evidence)(), hits=hits, seconds=(READ, RETRIEVED))
    assert [line(step) for step in steps_of(turn)][-1] == "done 1 paper, 5 passages 0.3 s"
    assert steps_of(replace(turn, seconds=())) == ()
    written = steps_html(steps_so_far(QuestionView(question="<b>", state="running")))
    assert written.count('aria-current="step"') == 1 and "<b>" not in written
