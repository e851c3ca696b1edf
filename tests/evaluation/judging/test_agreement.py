"""Agreement against worked examples, and what has none."""

import json
from dataclasses import asdict

import numpy as np
import pytest

from evaluation.judging import agreement, agreement_table
from evaluation.judging import kendall, pearson

# Anscombe's first and fourth set: r is 0.816 of both.
ANSCOMBE_1 = (
    (10, 8, 13, 9, 11, 14, 6, 4, 12, 7, 5),
    (8.04, 6.95, 7.58, 8.81, 8.33, 9.96, 7.24, 4.26, 10.84, 4.82, 5.68),
)
ANSCOMBE_4 = (
    (8, 8, 8, 8, 8, 8, 8, 19, 8, 8, 8),
    (6.58, 5.76, 7.71, 8.84, 8.47, 7.04, 5.25, 12.50, 5.56, 7.91, 6.89),
)


def columns(first, second):
    return np.array([first, second], dtype=float).T


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        (*ANSCOMBE_1, 0.81642),
        (*ANSCOMBE_4, 0.81652),
        ((1, 2, 3), (2, 4, 6), 1.0),
        ((1, 2, 3), (3, 2, 1), -1.0),
        # Deviations (-2, -1, 0, 1, 2) and (-1, -1, 0, 0, 2): 7 / sqrt(10 * 6).
        ((1, 2, 3, 4, 5), (2, 2, 3, 3, 5), 7 / 60**0.5),
    ],
)
def test_pearson(first, second, expected):
    assert pearson(columns(first, second)) == pytest.approx(expected, abs=1e-5)


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


@pytest.mark.parametrize("measure", [pearson, kendall])
def test_what_is_all_the_same_has_no_coefficient(measure):
    assert measure(columns((3, 3, 3), (1, 2, 3))) is None
    assert measure(columns((1, 2, 3), (0.1 + 0.2, 0.3, 0.3))) is None


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


def test_the_same_marks_have_the_same_interval_each_time():
    assert agreement(JUDGE, PEOPLE, ("fluency",)) == agreement(JUDGE, PEOPLE, ("fluency",))


def test_systems_are_compared_over_what_people_marked_of_each():
    people = marked({"q1": (1, 3, 4), "q2": (2, 2, 5), "q3": (1, 4, None), "q4": (None, None, 1)})
    found = agreement(JUDGE, people, ("fluency",))
    assert (found["texts"]["fluency"].n, found["texts"]["fluency"].judged) == (9, 4)
    assert (found["systems"]["fluency"].n, found["systems"]["fluency"].judged) == (3, 2)
    # Two questions are too few to draw anew.
    assert found["systems"]["fluency"].pearson.interval is None


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


def test_two_systems_always_agree_or_not_so_they_are_not_compared():
    judge = {place: marks for place, marks in JUDGE.items() if place[1] != "c"}
    found = agreement(judge, PEOPLE, ("fluency",))
    assert found["systems"]["fluency"].undefined == "fewer than 3 to compare"
    assert found["texts"]["fluency"].n == 8


def test_the_mean_of_all_is_of_texts_with_every_mark():
    judge = {place: {"fluency": marks["fluency"], "relevance": 3} for place, marks in JUDGE.items()}
    people = {place: dict(marks) for place, marks in PEOPLE.items()}
    for system in "abc":
        people["q1", system]["relevance"] = 3
    found = agreement(judge, people, ("fluency", "relevance"))
    assert found["texts"]["fluency"].n == 12
    assert found["texts"]["overall"].n == 3
    assert found["texts"]["relevance"].undefined == "judge and people gave all the same mark"


def test_an_interval_is_not_given_where_few_samples_have_a_coefficient():
    judge = marked({f"q{number}": (3, 3, 3) for number in range(8)} | {"q9": (1, 3, 5)})
    people = marked({f"q{number}": (2, 2, 2) for number in range(8)} | {"q9": (1, 3, 5)})
    found = agreement(judge, people, ("fluency",))["texts"]["fluency"]
    assert found.pearson.value > 0.8
    assert found.pearson.interval is None
