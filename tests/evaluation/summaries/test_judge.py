"""The judge, over a stand-in server: orders, mapping back, votes that cannot be used, gold or none."""

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from evaluation.summaries.summary import DIMENSIONS, judge_summaries
from tests.evaluation.judging import standin_judge
from tests.evaluation.judging.standin_judge import Marks, judge_over
from tests.evaluation.summaries.compared_summaries import system_of
from tests.standin_chat import Behaviour, Received, StandinChat, reply

WITHOUT_GOLD = DIMENSIONS[1:]


def judging(marks: Marks, gold: bool = False) -> Callable[[Received], Behaviour]:
    return standin_judge.judging(marks, DIMENSIONS if gold else WITHOUT_GOLD)


def a_vote(given: list[int], gold: bool = False, **changes: Any) -> dict[str, Any]:
    return standin_judge.a_vote(given, DIMENSIONS if gold else WITHOUT_GOLD, **changes)


SYSTEMS = (
    system_of("first", "The first text says it [1]."),
    system_of("second", "The second text says it [2]."),
    system_of("third", "The third text says it [3]."),
)
WORTH = {"first": 2, "second": 5, "third": 3}


def worth(place: int, text: str) -> int:
    return next(mark for name, mark in WORTH.items() if name in text)


@pytest.mark.parametrize(
    "bad",
    [
        "no JSON at all",
        json.dumps(a_vote([3, 3])),
        json.dumps(a_vote([3, 3, 6])),
        json.dumps(a_vote([3, 3, 3], best=4)),
        json.dumps(a_vote([3, 3, 3], best="the first")),
        json.dumps(a_vote([3, 3, 3], gold=True)),
        json.dumps(a_vote([3, 3, 3]))[:-20],
    ],
)
def test_malformed_votes_are_discarded_and_counted(bad):
    twice = (reply(bad), reply(bad))
    with StandinChat(*twice, default=judging(worth)) as server, judge_over(server) as judge:
        one_by_one = replace(judge, at_once=1)
        figures = judge_summaries(one_by_one, SYSTEMS, 3)
    assert figures.discarded == 1
    assert "twice" in figures.problems[0]
    assert {name: row.overall for name, row in figures.systems.items()} == WORTH
    assert figures.systems["second"].best == 2
