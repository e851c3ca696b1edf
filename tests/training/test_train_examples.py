"""Citations put into answers, and what is done to the passages they rest on."""

import random
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpus.records import Paper, Passage, Sentence, passage_id
from training.truthreader.examples import (
    CitedSentence,
    Example,
    Library,
    Pair,
    cite,
    format_answer,
    labels_by_score,
    omit_paper,
    shuffle_papers,
)

TEXTS = {
    "a": "Skylarks were counted by hand along the coast in three weeks.",
    "b": "Mosses grow on walls that face north and stay wet.",
    "c": "Herrings return to the sound when the water is cold.",
    "d": "Lanterns were lit by keepers who walked the bay at dusk.",
    "e": "Clocks in towers lose a minute when oil thickens.",
}
ANSWER = ("Skylarks were counted by hand.", "Mosses grow on walls that face north.")


def paper(key: str) -> Paper:
    return Paper(f"x/{key}", "x", f"On {key}", (), None, "", "")


def passage(key: str, text: str = "") -> Passage:
    text = text or TEXTS[key]
    return Passage(passage_id(f"x/{key}", 1), f"x/{key}", "x", 1, "body", (), text, (Sentence(0, len(text)),))


PAPERS = {f"x/{key}": paper(key) for key in TEXTS}
PASSAGES = tuple(map(passage, TEXTS))
LIBRARY = Library(PAPERS, PASSAGES)
PAIR = Pair(
    "x/a#1:1",
    "fact",
    "Where were skylarks counted, and where do mosses grow?",
    " ".join(ANSWER),
    PASSAGES[:2],
)


def example() -> Example:
    found = LIBRARY.make_example(PAIR, ANSWER, labels_by_score)
    assert found
    return found


def carriers(example: Example) -> list[tuple[str, list[str]]]:
    """Return each sentence with the ids of the papers it cites."""
    known = {labelled.label: labelled.paper.id for labelled in example.evidence.papers}
    return [(sentence.text, [known[label] for label in sentence.labels]) for sentence in example.sentences]


def test_each_sentence_gets_the_label_of_what_carries_it() -> None:
    assert carriers(example()) == [(ANSWER[0], ["x/a"]), (ANSWER[1], ["x/b"])]


def test_a_sentence_of_two_papers_gets_both_labels_and_one_of_none_gets_none() -> None:
    sentences = (
        "Skylarks were counted by hand, and mosses grow on walls.",
        "Quantum annealing solves routing.",
    )
    cited = cite(sentences, LIBRARY.as_evidence(PASSAGES), (), labels_by_score)
    assert [sentence.labels for sentence in cited] == [(1, 2), ()]


def test_of_two_passages_alike_the_one_written_from_is_cited() -> None:
    twin = passage("c", TEXTS["a"])
    evidence = LIBRARY.as_evidence((twin, PASSAGES[0]))
    assert labels_by_score(ANSWER[0], evidence, PASSAGES[:1]) == (2,)


@pytest.mark.parametrize(
    ("text", "labels", "expected"),
    [
        ("It works.", (1,), "It works [1]."),
        ("Does it?", (2, 10), "Does it [2][10]?"),
        ("It works", (1,), "It works [1]."),
        ("It works.", (), "It works."),
        ("灯塔建于1908年。", (1, 2), "灯塔建于1908年[1][2]。"),
    ],
)
def test_labels_stand_before_the_full_stop(text: str, labels: tuple[int, ...], expected: str) -> None:
    assert format_answer([CitedSentence(text, labels)]) == expected


@given(st.integers())
def test_shuffling_changes_labels_and_never_what_is_cited(seed: int) -> None:
    before = example()
    after = shuffle_papers(before, random.Random(seed))
    assert carriers(after) == carriers(before)
    assert [labelled.label for labelled in after.evidence.papers] == [1, 2, 3, 4][
        : len(after.evidence.papers)
    ]
    assert {labelled.paper.id for labelled in after.evidence.papers} == {
        labelled.paper.id for labelled in before.evidence.papers
    }


@given(st.integers())
def test_only_uncited_papers_are_replaced(seed: int) -> None:
    shown = LIBRARY.as_evidence(PASSAGES[:4])
    before = replace(example(), evidence=shown, sentences=cite(ANSWER, shown, PASSAGES[:2], labels_by_score))
    after = LIBRARY.replace_uncited(before, random.Random(seed))
    assert carriers(after) == carriers(before)
    assert "x/e" in {labelled.paper.id for labelled in after.evidence.papers}
    assert after.change == "replaced"


def test_without_a_cited_paper_its_sentence_goes_and_the_rest_stays() -> None:
    before = example()
    label = before.sentences[0].labels[0]
    after = omit_paper(before, label, labels_by_score)
    assert carriers(after) == [(ANSWER[1], ["x/b"])]
    assert after.is_partial
    assert "x/a" not in {labelled.paper.id for labelled in after.evidence.papers}


def test_what_leans_on_a_dropped_sentence_goes_too_and_nothing_left_is_a_refusal() -> None:
    shown = LIBRARY.as_evidence((PASSAGES[0], passage("b", "It took three weeks to walk the paths.")))
    sentences = (
        CitedSentence(ANSWER[0], (1,)),
        CitedSentence("It took three weeks to walk the paths.", (2,)),
    )
    after = omit_paper(Example(PAIR, shown, sentences), 1, labels_by_score)
    assert after.sentences == ()
    assert not after.is_partial


def test_a_question_is_unanswerable_only_with_passages_that_do_not_say_the_answer() -> None:
    library = Library(PAPERS, (*PASSAGES, passage("e", TEXTS["a"] + " Mosses too, on walls.")))

    def answers(found: Passage) -> bool:
        return "Mosses" in found.text or "Skylarks" in found.text

    pair = replace(
        PAIR, question="Where were the skylarks, mosses, herrings and lanterns by the bay and sound?"
    )
    found = library.make_unanswerable(pair, answers)
    assert found
    assert {labelled.paper.id for labelled in found.evidence.papers} == {"x/c", "x/d"}
    assert found.sentences == ()
    assert Library(PAPERS, PASSAGES[:3]).make_unanswerable(pair, answers) is None
