"""A judge of any texts: its votes, and its agreement with people against worked examples."""

import json
from collections import Counter
from dataclasses import asdict

import numpy as np
import pytest

from assistant.records import Message
from evaluation.judging import Ballot, agreement, agreement_table, judgement, kendall, shown_orders
from tests.evaluation.judging.standin_judge import judge_over
from tests.standin_chat import StandinChat, reply

QUALITIES = ("coherence", "fluency")


@pytest.mark.parametrize("systems", [1, 2, 3, 4])
def test_orders_are_the_same_each_time_and_each_system_has_each_place_equally_often(systems):
    orders = shown_orders(systems, 3 * systems, seed=0)
    assert orders == shown_orders(systems, 3 * systems, seed=0)
    assert orders[: systems + 1] == shown_orders(systems, systems + 1, seed=0)
    for place in range(systems):
        assert Counter(order[place] for order in orders) == dict.fromkeys(range(systems), 3)


def test_the_form_of_a_vote_leaves_nothing_to_guess():
    schema = judgement(2, QUALITIES).model_json_schema()
    assert schema["required"] == ["text_1", "text_2", "best"]
    assert schema["properties"]["best"]["enum"] == [1, 2]
    (judged,) = schema["$defs"].values()
    assert judged["required"] == ["analysis", *QUALITIES]
    assert judged["properties"]["fluency"]["enum"] == [1, 2, 3, 4, 5]


def test_who_stops_waiting_for_votes_has_the_others_not_asked_for():
    ballots = [Ballot((0,), (Message("user", f"Mark this, {number}."),)) for number in range(20)]
    with StandinChat(default=reply("none", wait_before=0.05)) as server, judge_over(server) as judge:
        votes = judge.cast(ballots, QUALITIES)
        assert next(votes)[1].problem
        votes.close()
        asked = len(server.requests)
    assert asked < 2 * len(ballots)


def columns(first, second):
    return np.array([first, second], dtype=float).T


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        ((1, 2, 3, 4), (1, 2, 3, 4), 1.0),
        ((1, 2, 3, 4), (4, 3, 2, 1), -1.0),
        # Five pairs of six agree.
        ((1, 2, 3, 4), (1, 2, 4, 3), 4 / 6),
        # Of three pairs one is tied in the first; the two others agree.
        ((1, 1, 2), (1, 2, 3), 2 / (2 * 3) ** 0.5),
        # Of six pairs one is tied in each; the four others agree.
        ((1, 2, 2, 3), (1, 1, 2, 3), 4 / (5 * 5) ** 0.5),
        # Of ten pairs two are tied in the first, one of these in the second too; 2 agree, 6 do not.
        ((12, 2, 1, 12, 2), (1, 4, 7, 1, 0), -4 / (8 * 9) ** 0.5),
        # 0.1 + 0.2 and 0.3 are one mark.
        ((0.1 + 0.2, 0.3, 1), (1, 2, 3), 2 / (2 * 3) ** 0.5),
    ],
)
def test_kendall_counts_ties(first, second, expected):
    assert kendall(columns(first, second)) == pytest.approx(expected)


def marked(rows):
    """Return marks of the systems a, b and c for one quality, by question."""
    return {
        (question, system): {"fluency": mark}
        for question, marks in rows.items()
        for system, mark in zip("abc", marks, strict=True)
        if mark is not None
    }


JUDGE = marked({"q1": (1, 2, 3), "q2": (2, 3, 5), "q3": (1, 3, 4), "q4": (2, 2, 5)})
PEOPLE = marked({"q1": (1, 3, 4), "q2": (2, 2, 5), "q3": (1, 4, 4), "q4": (1, 3, 5)})


def test_texts_and_systems_are_compared():
    found = agreement(JUDGE, PEOPLE, ("fluency",))
    texts, systems = found["texts"]["fluency"], found["systems"]["fluency"]
    assert (texts.n, texts.judged) == (12, 4)
    assert texts.pearson.value == pytest.approx(
        np.corrcoef([1, 2, 3, 2, 3, 5, 1, 3, 4, 2, 2, 5], [1, 3, 4, 2, 2, 5, 1, 4, 4, 1, 3, 5])[0, 1]
    )
    low, high = texts.pearson.interval
    assert -1 <= low < texts.pearson.value < high <= 1
    # The means are 1.5, 2.5, 4.25 and 1.25, 3, 4.5: in the same order.
    assert (systems.n, systems.judged, systems.kendall.value) == (3, 4, pytest.approx(1.0))
    # Of one quality the mean of all is that one.
    assert found["texts"]["overall"] == texts


@pytest.mark.parametrize(
    ("judge", "people", "why"),
    [
        (marked({"q1": (3, 3, 3), "q2": (3, 3, 3)}), PEOPLE, "the judge gave all the same mark"),
        (JUDGE, marked({"q1": (2, 2, 2), "q2": (2, 2, 2)}), "people gave all the same mark"),
        (marked({"q1": (3, 3, 3)}), marked({"q1": (2, 2, 2)}), "judge and people gave all the same mark"),
        (JUDGE, marked({"q1": (1, 3, None)}), "fewer than 3 to compare"),
        (JUDGE, {}, "fewer than 3 to compare"),
        ({}, {}, "fewer than 3 to compare"),
    ],
)
def test_what_is_undefined_is_said_and_is_no_number(judge, people, why):
    found = agreement(judge, people, ("fluency",))
    texts = found["texts"]["fluency"]
    assert (texts.pearson, texts.kendall, texts.undefined) == (None, None, why)
    assert found["systems"]["fluency"].undefined
    written = {level: {name: asdict(one) for name, one in by.items()} for level, by in found.items()}
    assert "NaN" not in json.dumps(written, allow_nan=False)
    assert agreement_table(found, "Answers:").row_count == 2
