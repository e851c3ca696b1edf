"""What a small model repeats instead of writing counts as nothing written."""

import pytest

from assistant.checking.drafts import read_draft
from assistant.prompts import is_repeated, load_prompt, mark, task
from assistant.records import Draft

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


def test_our_own_answers_are_no_repetition(ask_demo):
    for question in ("How does BM25 rank documents?", "Which papers are about citations?", "What is ROUGE?"):
        assert not is_repeated(ask_demo(question).answer.text)
