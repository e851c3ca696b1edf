"""Echoes of a small model count as nothing written."""

from typing import get_args

import pytest

from assistant.checking.drafts import read_draft
from assistant.prompts.echoes import is_repeated, tells_example
from assistant.prompts.render import example, load_prompt, mark, task
from assistant.records import Draft, RequestKind

CLAIM = "BM25 ranks documents by how often they use the words of a query [1]."


@pytest.mark.parametrize(
    ("text", "shown", "problem"),
    [
        (mark("paper 1"), "", "echo"),
        (f"{mark('paper 1')}\nTitle: BM25\n{CLAIM}", "", "echo"),
        (f"{CLAIM}\n{mark('end of paper 1')}\nTitle", CLAIM, "echo"),
        (load_prompt("answer").system, "", "echo"),
        (task("definition"), "", "echo"),
        ("Bees that saw a row of trees returned within 11 minutes on average, and so on.", None, None),
        (f"{CLAIM} " * 6, "", "looped"),
        ("the model of the model of " * 12, "", "looped"),
        ("Papers rank documents. Queries rank papers.", None, None),
        (CLAIM, CLAIM, None),
    ],
)
def test_what_is_repeated_is_not_what_was_written(text, shown, problem):
    read = read_draft(Draft(text), "How does BM25 rank?")
    assert read.text == (text if shown is None else shown)
    assert read.problems == ((problem,) if problem else ())


@pytest.mark.parametrize(
    ("text", "given", "is_told"),
    [
        ("The bees that saw the trees were not the only ones.", "BM25 ranks documents.", True),
        ("The steel beehive has a shorter life span.", "BM25 ranks documents.", True),
        ("A bee returned within 11 minutes.", "We follow bees by radar.", False),
        ("A bee left its hive.", "We follow bees by radar.", False),
        ("Parse trees are compared within a minute on average.", "BM25 ranks documents.", False),
        ("", "", False),
    ],
)
def test_what_only_our_examples_speak_of_is_told_from_what_was_given(text, given, is_told):
    """Of a paper on citations a small model kept "The bees that saw the trees were not the only ones"."""
    assert tells_example(text, [given]) == is_told


def test_every_example_is_known_by_what_it_speaks_of():
    assert all(tells_example(example(kind), []) for kind in get_args(RequestKind))
    of_queries = load_prompt("rewrite").system.partition("Two examples")[2].splitlines()
    examples = [line for line in of_queries if "becomes:" in line]
    assert len(examples) == 2
    assert all(tells_example(line.partition("becomes:")[2], []) for line in examples)
    _, _, of_elements = load_prompt("elements").system.partition("Two lines of an answer")
    assert tells_example(of_elements.splitlines()[1], [])


def test_our_own_answers_are_no_repetition(ask_demo):
    for question in ("How does BM25 rank documents?", "Which papers are about citations?", "What is ROUGE?"):
        assert not is_repeated(ask_demo(question).answer.text)
