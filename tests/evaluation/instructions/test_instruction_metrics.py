"""The figures of SciRIFF's tasks: worked by hand, beside scikit-learn's, and their bounds."""

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation.instruction_metrics import answer_f1, finding_f1, list_f1, mention_f1, verdict_f1

FINDING = ["Drug A", "placebo", "severe pain", "significantly decreased", "Pain fell with A."]
LEAF = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5)


def nested(inner):
    return inner | st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3)


JSON = nested(nested(LEAF))


LISTS: list[tuple[list[Any], float]] = [
    # 2 of 3 given and 2 of 4 wanted: P 2/3, R 1/2.
    ([(["Sleep ", "pain", "x"], ["sleep", "pain", "a", "b"])], 4 / 7),
    # Over all items, not the mean of theirs: 1 of 3 given, 1 of 2 wanted.
    ([(["a"], ["a"]), (["b", "c"], ["d"])], 0.4),
    # Duplicates count once; numbers are compared as texts.
    ([([3, 3, "3"], ["3"])], 1.0),
    ([([1.236], ["1.24"])], 1.0),
    ([([], ["a"])], 0.0),
    # No list: one entry that is wrong. A text is taken apart, of an object the names are.
    ([(7, ["a"]), (["b"], ["b"])], 0.5),
    ([("ab", ["a"])], 2 / 3),
    ([({"a": 1}, ["a"])], 1.0),
    ([([{"a": 1}], ["a"])], 0.0),
    ([([["a", "b"]], ["a b"])], 1.0),
]
MENTIONS: list[tuple[list[Any], float]] = [
    ([({"Gene": ["BRCA1", "tp53"]}, {"Gene": ["brca1", "TP53"], "Disease": []})], 1.0),
    # The type has to be right as well.
    ([({"Disease": ["BRCA1"]}, {"Gene": ["BRCA1"]})], 0.0),
    ([({"Gene": ["a", "b"]}, {"Gene": ["a"], "Disease": ["c"]})], 0.5),
    ([({"Gene": [["a", ["b"]]]}, {"Gene": ["a", "b"]})], 1.0),
    ([([], {"Gene": ["a"]}), ({"Gene": ["b"]}, {"Gene": ["b"]})], 2 / 3),
    ([({"Gene": None, "Other": [{"x": 1}]}, {"Gene": ["a"]})], 0.0),
    # A text is taken apart: 1 of 2 given.
    ([({"Gene": "ab"}, {"Gene": ["a"]})], 2 / 3),
]


@pytest.mark.parametrize(
    ("compare", "pairs", "f1"),
    [*((list_f1, *case) for case in LISTS), *((mention_f1, *case) for case in MENTIONS)],
)
def test_lists_and_mentions_with_their_types_are_compared_over_all_items(compare, pairs, f1):
    assert compare(pairs) == pytest.approx(f1)


def test_findings_are_compared_exactly_by_substrings_and_by_overlap():
    longer = ["drug a", "placebo group", "pain", "significantly decreased", "pain fell with a."]
    assert finding_f1([([FINDING], [FINDING])]) == {"exact": 1.0, "substring": 1.0, "overlap": 1.0}
    # "pain" stands in "severe pain"; its token F1 is 2/3, that of "placebo group" too.
    assert finding_f1([([longer], [FINDING])]) == {"exact": 0.0, "substring": 1.0, "overlap": 1.0}
    # Token F1 of "severe burns of the skin" and "severe pain": 2 * (1/4 * 1/2) / (3/4) = 1/3, no substring.
    burns = [*longer[:2], "severe burns of the skin", *longer[3:]]
    assert finding_f1([([burns], [FINDING])]) == {"exact": 0.0, "substring": 0.0, "overlap": 1.0}
    # One word more and it is 2/7, under .3.
    assert finding_f1([([[*longer[:2], "severe burns of skin inside", *longer[3:]]], [FINDING])]) == {
        "exact": 0.0, "substring": 0.0, "overlap": 0.0
    }  # fmt: skip


def test_verdicts_that_decide_their_sentences_and_their_tokens_are_counted_over_all_items():
    wanted = {"verdict": "SUPPORT", "evidence": ["A helped.", "B did not."]}
    undecided = {"verdict": "NEI", "evidence": []}
    figures = verdict_f1(
        [
            ({"verdict": "SUPPORT", "evidence": [["a helped. "]]}, wanted),
            ({"verdict": "CONTRADICT", "evidence": ["C."]}, undecided),
            (undecided, wanted),
        ]
    )
    assert figures["label"] == pytest.approx(0.5)  # 1 of 2 given, 1 of 2 wanted
    assert figures["sentence"] == pytest.approx(1 / 3)  # 1 of 2 given, 1 of 4 wanted
    # "helped" ("a" is an article) of "helped", "c" given; "helped", "b", "did", "not", twice, wanted.
    assert figures["token"] == pytest.approx(2 * (1 / 2 * 1 / 8) / (1 / 2 + 1 / 8))


@given(st.lists(st.tuples(JSON, JSON), max_size=4))
def test_no_value_makes_a_figure_fail_or_leave_its_bounds(pairs):
    figures = [
        list_f1(pairs),
        mention_f1(pairs),
        *finding_f1(pairs).values(),
        *answer_f1(pairs).values(),
        *verdict_f1(pairs).values(),
    ]
    assert all(0 <= figure <= 1 and not math.isnan(figure) for figure in figures)
