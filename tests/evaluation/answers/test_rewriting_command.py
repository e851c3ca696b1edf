import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from evaluation.__main__ import app
from evaluation.answers.rewriting import AskedTurn, concatenated, rouge_f1, term_recall

TURNS = (
    {"src": "a", "history": [], "raw": "What is BM25?", "manual": "What is BM25?"},
    {"src": "a", "history": ["What is BM25?"], "raw": "Is it fast?", "manual": "Is BM25 fast?"},
    {
        "src": "b",
        "history": ["What is BM25?"],
        "raw": "How is ROUGE computed?",
        "manual": "How is ROUGE computed?",
    },
)


def written(folder: Path, text: str) -> str:
    file = folder / "turns.jsonl"
    file.write_text(text, encoding="utf-8")
    return str(file)


def test_the_command_compares_three_queries_and_ends_in_one_json_line(tmp_path):
    file = written(tmp_path, "\n".join(json.dumps(turn) for turn in TURNS))
    result = CliRunner().invoke(app, ["rewriting", "--turns", file])
    figures = json.loads(result.stdout.splitlines()[-1])
    assert result.exit_code == 0
    assert figures["rewritten"] == {"f1": 1.0, "recall": 1.0}
    assert figures["raw"]["f1"] == pytest.approx((1 + 2 / 3 + 1) / 3)
    assert figures["concatenated"]["recall"] == 1.0
    assert figures["concatenated"]["f1"] < figures["raw"]["f1"]
    assert (figures["worse_than_raw"], figures["turns"]) == (0.0, 3)
    assert {name: part["turns"] for name, part in figures["sources"].items()} == {"a": 2, "b": 1}


CANARD = (
    {"history": [], "question": "What is BM25?", "rewrite": "What is BM25?"},
    {
        "history": ["What is BM25?", "A ranking function of the Okapi system."],
        "question": "Is it fast?",
        "rewrite": "Is BM25 fast?",
    },
    {
        "history": ["What is BM25?", "A ranking function.", "Is it fast?", "Yes."],
        "question": "How does SPLADE rank?",
        "rewrite": "How does SPLADE rank documents, unlike BM25?",
    },
)


def test_conversations_with_answers_are_read_and_only_questions_rewritten(tmp_path):
    file = written(tmp_path, "\n".join(json.dumps(turn) for turn in CANARD))
    result = CliRunner().invoke(app, ["rewriting", "--turns", file])
    assert result.exit_code == 0, result.output
    figures = json.loads(result.stdout.splitlines()[-1])
    assert (figures["turns"], figures["sources"]) == (3, {})
    assert (figures["worse_than_raw"], figures["better_than_raw"]) == (0.0, pytest.approx(1 / 3))
    # The answer is part of the conversation, and so of what is concatenated.
    assert AskedTurn.model_validate(CANARD[1]).exchanges == (tuple(CANARD[1]["history"]),)
    assert AskedTurn.model_validate(TURNS[1]).exchanges == (("What is BM25?", ""),)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", "is empty"),
        ("{}", "line 1: raw"),
        ("nonsense", "line 1: the line"),
        ('{"question": "a"}', "line 1: manual"),
        ('{"question": "a", "rewrite": ""}', "line 1: "),
        ('{"question": "a", "rewrite": "a", "history": ["b"]}', "an answer behind each question"),
        ('{"question": "a", "rewrite": "a", "history": 1}', "line 1: history"),
    ],
)
def test_what_cannot_be_measured_is_said(tmp_path, text, complaint):
    result = CliRunner().invoke(app, ["rewriting", "--turns", written(tmp_path, text)])
    assert result.exit_code == 2
    assert complaint in result.stderr


def test_a_file_that_is_not_there_is_said(tmp_path):
    result = CliRunner().invoke(app, ["rewriting", "--turns", str(tmp_path / "none.jsonl")])
    assert (result.exit_code, "cannot be read" in result.stderr) == (2, True)


def test_the_newest_utterances_come_first_and_the_oldest_are_dropped():
    assert concatenated("c", ["a", "b"]) == "c b a"
    said = concatenated("now", ["old " * 200] * 6).split()
    assert (said[0], len(said)) == ("now", 1 + 3 * 128)


def test_function_words_count_in_rouge_and_not_in_recall():
    assert rouge_f1("What are its limits?", "limits") == pytest.approx(2 * 0.25 / 1.25)
    assert term_recall("What are BM25's costs?", "the cost of BM25") == 1.0
    assert term_recall("What are BM25's costs?", "the cost of it") == 0.5
    assert term_recall("What is it?", "anything") == 1.0
