"""The figures of SciRIFF's tasks: worked by hand, beside scikit-learn's, and their bounds."""

import math
import string
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import f1_score

from evaluation.instruction_metrics import (
    answer_f1,
    as_entry,
    finding_f1,
    flat,
    list_f1,
    mention_f1,
    rouge_l,
    token_f1,
    tokens,
    verdict_f1,
)

NEAR = 0.0005
FINDING = ["Drug A", "placebo", "severe pain", "significantly decreased", "Pain fell with A."]
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=8,
)
WORDS = st.lists(st.sampled_from(["sleep", "pain", "reward", "the", "Orexin"]), max_size=5)
LABELS = ("SUPPORT", "CONTRADICT", "NEI")


@pytest.mark.parametrize(
    ("pairs", "f1"),
    [
        # 2 of 3 given and 2 of 4 wanted: P 2/3, R 1/2.
        ([(["Sleep ", "pain", "x"], ["sleep", "pain", "a", "b"])], 4 / 7),
        # Over all items, not the mean of theirs: 1 of 3 given, 1 of 2 wanted.
        ([(["a"], ["a"]), (["b", "c"], ["d"])], 0.4),
        # What is given twice counts once; numbers are texts.
        ([([3, 3, "3"], ["3"])], 1.0),
        ([([1.236], ["1.24"])], 1.0),
        ([([], ["a"])], 0.0),
        # No list: one entry that is wrong. A text is taken apart, of an object the names are.
        ([(7, ["a"]), (["b"], ["b"])], 0.5),
        ([("ab", ["a"])], 2 / 3),
        ([({"a": 1}, ["a"])], 1.0),
        ([([{"a": 1}], ["a"])], 0.0),
        ([([["a", "b"]], ["a b"])], 1.0),
    ],
)
def test_lists_are_compared_over_all_items(pairs, f1):
    assert list_f1(pairs) == pytest.approx(f1)


@pytest.mark.parametrize(
    ("pairs", "f1"),
    [
        ([({"Gene": ["BRCA1", "tp53"]}, {"Gene": ["brca1", "TP53"], "Disease": []})], 1.0),
        # The type has to be right as well.
        ([({"Disease": ["BRCA1"]}, {"Gene": ["BRCA1"]})], 0.0),
        ([({"Gene": ["a", "b"]}, {"Gene": ["a"], "Disease": ["c"]})], 0.5),
        ([({"Gene": [["a", ["b"]]]}, {"Gene": ["a", "b"]})], 1.0),
        ([([], {"Gene": ["a"]}), ({"Gene": ["b"]}, {"Gene": ["b"]})], 2 / 3),
        ([({"Gene": None, "Other": [{"x": 1}]}, {"Gene": ["a"]})], 0.0),
        # A text is taken apart: 1 of 2 given.
        ([({"Gene": "ab"}, {"Gene": ["a"]})], 2 / 3),
    ],
)
def test_mentions_are_compared_with_their_types(pairs, f1):
    assert mention_f1(pairs) == pytest.approx(f1)


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


def test_a_finding_is_matched_once_and_repetitions_lower_precision():
    twice = finding_f1([([FINDING, FINDING], [FINDING])])
    assert twice == {name: pytest.approx(2 / 3) for name in ("exact", "substring", "overlap")}


@pytest.mark.parametrize(
    ("given_value", "exact"),
    [
        (FINDING, 1.0),  # one without a list around it
        ([FINDING, "drug"], 1.0),
        ([FINDING, FINDING[:4]], 1.0),  # of another length it is not counted at all
        ([[*FINDING[:4], {"a": 1}]], 0.0),
        ([], 0.0),
        ({"a": FINDING}, 0.0),
        ("text", 0.0),
        (True, 0.0),
        ([{}], 0.0),
    ],
)
def test_what_is_no_finding_is_left_out(given_value, exact):
    assert finding_f1([(given_value, [FINDING])])["exact"] == exact


def test_what_was_left_open_matches_exactly_alone():
    alone = ["a", None, "b", "no significant difference", "c"]
    assert finding_f1([([alone], [alone])]) == {"exact": 1.0, "substring": 0.0, "overlap": 0.0}


def test_answers_and_evidence_are_means_over_items():
    wanted = {"answer": "The small encoder.", "evidence": ["It is small.", "It is quick."]}
    given_value = {"answer": "small encoder, six layers", "evidence": [["It is small."]]}
    figures = answer_f1([(given_value, wanted), ({"answer": None}, wanted)])
    # Tokens "small encoder" against "small encoder six layers": P 1/2, R 1; evidence 3 of 3 and of 6.
    assert figures == {"answer": pytest.approx((2 / 3) / 2), "evidence": pytest.approx((2 / 3) / 2)}


@pytest.mark.parametrize(
    ("value", "answer"),
    [
        ({"answer": ["small", ["encoder"]]}, 1.0),
        ({"answer": {"text": "small encoder"}}, 0.8),
        ({"answer": 7}, 0.0),
        ([], 0.0),
        ("small encoder", 0.0),
    ],
)
def test_an_answer_that_is_no_text_is_compared_as_text(value, answer):
    assert answer_f1([(value, {"answer": "small encoder", "evidence": []})])["answer"] == pytest.approx(
        answer
    )


def test_evidence_that_is_no_list_of_texts_has_no_credit():
    wanted = {"answer": "x", "evidence": ["a b c"]}
    for evidence in (7, [1], [{"a": "b"}]):
        assert answer_f1([({"answer": "x", "evidence": evidence}, wanted)])["evidence"] == 0.0


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


@pytest.mark.parametrize("value", [{}, [], "SUPPORT", 7, {"verdict": None}, {"evidence": 7}])
def test_a_reply_without_a_verdict_decides_nothing_and_costs_recall(value):
    wanted = {"verdict": "SUPPORT", "evidence": ["A."]}
    assert verdict_f1([(value, wanted)]) == {"label": 0.0, "sentence": 0.0, "token": 0.0}
    assert verdict_f1([(value, wanted), (wanted, wanted)])["label"] == pytest.approx(2 / 3)


@given(st.lists(st.tuples(st.sampled_from(LABELS), st.sampled_from(LABELS)), min_size=1, max_size=30))
def test_verdicts_agree_with_scikit_learn(labels):
    pairs = [({"verdict": a, "evidence": []}, {"verdict": b, "evidence": []}) for a, b in labels]
    found, right = zip(*labels, strict=True)
    expected = f1_score(right, found, labels=LABELS[:2], average="micro", zero_division=0)
    assert abs(verdict_f1(pairs)["label"] - expected) < NEAR


@given(st.lists(st.tuples(WORDS, WORDS), min_size=1, max_size=8))
def test_lists_agree_with_scikit_learn_on_entries_as_labels(items):
    vocabulary = [
        (place, word)
        for place, pair in enumerate(items)
        for word in sorted({one.lower() for words in pair for one in words})
    ]
    shown = [
        [int(word in {one.lower() for one in items[place][side]}) for place, word in vocabulary]
        for side in (0, 1)
    ]
    expected = f1_score(shown[1], shown[0], zero_division=0) if vocabulary else 0.0
    assert abs(list_f1(items) - expected) < NEAR


@given(WORDS, WORDS)
def test_token_f1_agrees_with_counting_by_hand(one, other):
    # What SQuAD's script does, by another way: words without articles, as multisets.
    first, second = ([w.lower() for w in words if w != "the"] for words in (one, other))
    common = sum(min(first.count(w), second.count(w)) for w in set(first))
    expected = 2 * common / (len(first) + len(second)) if common else 0.0
    assert abs(token_f1(" ".join(one), " ".join(other)) - expected) < NEAR


def test_tokens_are_squads():
    assert tokens("The  A-B, an “apple”; a 3.5% theory.") == ["ab", "“apple”", "35", "theory"]
    assert tokens(string.punctuation + " the") == []


def test_rouge_l_is_the_mean_over_items():
    # The longest common subsequence of "a b c d" and "a c d e" is three of four.
    assert rouge_l([("a b c d", "a c d e"), ("", "x")]) == pytest.approx(0.375)


def test_lists_in_lists_are_laid_flat_however_deep():
    deep: list[object] = ["x"]
    for _ in range(5000):
        deep = [deep, "y"]
    assert Counter(flat(deep)) == Counter({"y": 5000, "x": 1})
    assert flat(["a", ["b", [], ["c"]], "d"]) == ["a", "b", "c", "d"]
    with pytest.raises(TypeError):
        flat(7)
    assert as_entry([["A"], "b"]) == "A b"


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


@given(st.lists(st.tuples(JSON, JSON), max_size=4), st.randoms(use_true_random=False))
def test_figures_depend_neither_on_the_side_nor_on_the_order_of_items(pairs, chance):
    turned = [(wanted, given_value) for given_value, wanted in pairs]
    shuffled = chance.sample(pairs, len(pairs))
    for figure in (
        list_f1,
        mention_f1,
        lambda one: finding_f1(one)["exact"],
        lambda one: answer_f1(one)["answer"],
    ):
        assert figure(pairs) == pytest.approx(figure(turned))
        assert figure(pairs) == pytest.approx(figure(shuffled))
    assert verdict_f1(pairs)["sentence"] == pytest.approx(verdict_f1(turned)["sentence"])
    assert verdict_f1(pairs)["token"] == pytest.approx(verdict_f1(shuffled)["token"])


@given(WORDS, st.randoms(use_true_random=False))
def test_the_order_of_entries_does_not_matter(words, chance):
    shuffled = chance.sample(words, len(words))
    assert list_f1([(shuffled, words)]) == (1.0 if words else 0.0)
    assert mention_f1([({"Gene": shuffled}, {"Gene": words})]) == (1.0 if words else 0.0)
    findings = [[word, *FINDING[1:]] for word in words]
    mixed = chance.sample(findings, len(findings))
    assert finding_f1([(mixed, findings)])["exact"] == finding_f1([(findings, findings)])["exact"]
