"""The findings of checking, as readers see them."""

from dataclasses import replace
from typing import get_args

import pytest

from assistant.records import Answer, AnswerSentence, DraftProblem, NearestPassage, Refusal, Turn
from explorer.presenters.citations import (
    format_claims,
    format_problems,
    format_weak,
    format_without_source,
    invented,
    uncited,
    uncited_ends,
    weak_numbers,
)
from explorer.presenters.coverage import changed_query, listed
from tests.explorer.turns import TURN, citation, make_turn


def checked_turn(*supports: float | None, uncited_claims: int = 0) -> Turn:
    """Return a turn of sentences with one citation each and that support, then claims that cite nothing."""
    sentences = [
        AnswerSentence(
            start=5 * number,
            end=5 * number + 5,
            claim="x",
            labels=(1,),
            citations=(replace(citation(1, 1, 0, 0.9), support=support),),
            support=support,
        )
        for number, support in enumerate(supports)
    ]
    length = 5 * len(sentences)
    sentences += [
        AnswerSentence(length + 4 * number, length + 4 * number + 4, "y", (), (), needs_citation=True)
        for number in range(uncited_claims)
    ]
    return make_turn("a [1]" * len(supports) + "b c " * uncited_claims, *sentences)


def test_support_decides_what_is_weak_and_claims_alone_want_citations_where_they_were_measured() -> None:
    assert uncited_ends(TURN.answer) == (32,)
    assert weak_numbers(TURN) == (2,)
    assert format_claims(TURN.answer) == ""
    assert weak_numbers(checked_turn(0.1, 0.9, 0.2)) == (1, 3)
    assert weak_numbers(checked_turn(None, 0.9)) == ()
    answer = replace(TURN.answer, citation_recall=1.0)
    assert uncited(answer) == ()
    claim = replace(answer.sentences[2], needs_citation=True)
    assert uncited_ends(replace(answer, sentences=(*answer.sentences[:2], claim))) == (32,)


def test_claims_citations_and_invented_labels_are_counted() -> None:
    answer = replace(
        checked_turn(0.9, 0.9, 0.1, uncited_claims=1).answer, citation_recall=0.5, citation_precision=2 / 3
    )
    said = format_claims(answer)
    assert said.startswith("2 of 4 claims are supported by what they cite")
    assert said.endswith("2 of 3 citations are needed for that")
    answer = replace(checked_turn(0.9, uncited_claims=1).answer, citation_recall=0.5)
    first = replace(answer.sentences[0], unknown_labels=("9", "7"))
    answer = replace(answer, sentences=(first, *answer.sentences[1:]))
    assert invented(answer) == (first,)
    assert format_without_source(answer) == (
        "2 labels name no paper that was given · 1 sentence makes a claim without a citation"
    )
    answer = replace(checked_turn(0.9).answer, citation_recall=1.0)
    assert format_without_source(answer) == ""
    assert format_problems(Answer("text")) == ""
    assert listed(("A", "B", "and 1 more")) == "- A\n- B\n\nand 1 more"
    assert listed(("A", "B *c*")) == "- A\n- B \\*c\\*"
    assert listed(("and 1 more",)) == "- and 1 more"
    assert listed(()) == ""


@pytest.mark.parametrize(
    ("supports", "recall", "said"),
    [
        ((0.1,), 0.0, "0 of 1 claim is supported by what it cites"),
        ((0.9,), 1.0, "1 of 1 claim is supported by what it cites"),
        ((0.9, 0.1), 0.5, "1 of 2 claims is supported by what it cites"),
        ((0.1, 0.1), 0.0, "0 of 2 claims are supported by what they cite"),
    ],
)
def test_fault_one_claim_are_supported(supports: tuple[float, ...], recall: float, said: str) -> None:
    assert format_claims(replace(checked_turn(*supports).answer, citation_recall=recall)) == said


@pytest.mark.parametrize(("count", "said"), [(1, "1 sentence is only"), (2, "2 sentences are only")])
def test_weak_sentences_are_counted(count: int, said: str) -> None:
    assert format_weak(count).startswith(said)


@pytest.mark.parametrize(("count", "said"), [(1, "1 sentence makes"), (2, "2 sentences make")])
def test_claims_without_citation_are_counted(count: int, said: str) -> None:
    answer = replace(checked_turn(0.9, uncited_claims=count).answer, citation_recall=0.5)
    assert format_without_source(answer).startswith(said)


@pytest.mark.parametrize("problem", get_args(DraftProblem))
def test_every_problem_has_its_words(problem: DraftProblem) -> None:
    said = format_problems(Answer("text", problems=(problem,)))
    assert said.count(".") >= 2
    assert "What was sent" in said


@pytest.mark.parametrize(
    ("query", "changed"),
    [
        ("rank fusion for the Netflix Prize", "rank fusion"),
        ("Netflix Prize", "Rank Fusion for Search"),
        ("rank fusion", "Rank Fusion for Search"),
    ],
)
def test_the_query_to_try_keeps_what_is_here(query: str, changed: str) -> None:
    nearest = NearestPassage("p1#1", "p1", "Rank Fusion for Search", "Ranks are fused.", 0.4)
    refusal = Refusal("nothing_relevant", "No.", (nearest,))
    turn = replace(TURN, answer=Answer("", (), refusal), rewrite=replace(TURN.rewrite, search_query=query))
    assert changed_query(turn) == changed
    without = replace(turn, answer=Answer("", (), replace(refusal, nearest=())))
    assert changed_query(without) == query
