"""Training of follow-ups: gaps found by aligning a rewrite, generated questions, a toy run."""

import json
import random
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("peft", reason="peft, of the extra train, is not installed")

from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from assistant.learned.followups import CONNECTORS, said_before, words_of
from tests.training.test_train_relevance import write_sets
from training.__main__ import app
from training.fitting import Plan, fit
from training.followups import TASK, align, examples_of, shorten_question
from training.network import Reader

SAID = said_before([("What is late interaction?", ""), ("Who made ColBERT?", "Omar Khattab made it.")])


@pytest.mark.parametrize(
    ("question", "rewrite", "gaps"),
    [
        ("How does it work?", "How does late interaction work?", [("it", "late interaction", "")]),
        ("What are its limits?", "What are ColBERT's limits?", [("its", "ColBERT", "'s")]),
        ("What are the limits?", "What are the limits of ColBERT?", [("limits", "ColBERT", "of")]),
        ("Did he test it?", "Did Khattab test ColBERT?", [("he", "Khattab", ""), ("it", "ColBERT", "")]),
        ("How is BM25 set?", "How is BM25 set?", []),
        ("is it fast", "Is the late interaction fast?", [("it", "late interaction", "")]),
    ],
)  # fmt: skip
def test_words_that_a_rewrite_adds_are_found_in_the_history(question: str, rewrite: str, gaps: Any) -> None:
    found = align(question, rewrite, SAID)
    assert found
    words = words_of(question)
    told = [
        (
            " ".join(word.text for word in words[gap.first : gap.last + 1]),
            SAID.text[SAID.words[gap.spans[0][0]].start : SAID.words[gap.spans[0][1]].end],
            CONNECTORS[gap.connector],
        )
        for gap in found.gaps
    ]
    assert told == gaps


def test_what_was_never_said_cannot_be_learned_from() -> None:
    assert align("Where was he born?", "Where was Mark Taylor born?", SAID) is None


@given(st.text(max_size=60), st.text(max_size=60))
def test_any_two_questions_are_compared(question: str, rewrite: str) -> None:
    found = align(question, rewrite, SAID)
    assert found is None or all(gap.spans for gap in found.gaps)


def test_a_question_is_turned_into_a_follow_up() -> None:
    question = "What are the limits of late interaction in practice?"
    run = words_of(question)[5:7]
    made = {shorten_question(question, run, random.Random(seed)) for seed in range(40)}
    assert "What are the limits in practice?" in made
    assert "What are the limits of it in practice?" in made
    assert "What are the limits of this interaction in practice?" in made


def test_it_learns_what_a_pronoun_means(tmp_path: Path) -> None:
    from assistant.learned.followups import OUTPUTS  # noqa: PLC0415

    asked = [
        ("How does it work?", "How does late interaction work?"),
        ("How is BM25 set?", "How is BM25 set?"),
    ]
    examples = examples_of([found for pair in asked if (found := align(*pair, SAID))])
    reader = Reader.new(1, outputs=OUTPUTS, rank=2, per_token=True)

    def loss() -> float:
        return sum(float(part.detach()) for part in TASK.losses(reader, examples))

    before = loss()
    plan = Plan(epochs=20, learning_rate=5e-3, tokens=400, checkpoint_seconds=600)
    fit(reader, TASK, examples, plan, tmp_path)
    reader.eval()
    assert loss() < before / 4


def write_dialogues(data: Path) -> Path:
    """Write the smallest folder of conversations that the recipe reads."""
    folder = write_sets(data) / "rewriting"
    folder.mkdir()
    turns = [
        {"q": "What is BM25?", "rewrite": "What is BM25?", "ans_kw": "ranking function"},
        {"q": "Is it fast?", "rewrite": "Is BM25 fast?", "ans_kw": "fast"},
    ]
    asked = {
        "history": ["What is BM25?", "A function."],
        "question": "Is it fast?",
        "rewrite": "Is BM25 fast?",
    }
    first = {"history": [], "question": "What is ROUGE?", "rewrite": "What is ROUGE?"}
    (folder / "canard_train.jsonl").write_text(json.dumps({"id": "a", "turns": turns}) + "\n")
    lines = [json.dumps(row) for row in (asked, first, asked | {"history": ["Is BM25 old?", "Yes."]})]
    (folder / "canard_dev.jsonl").write_text("\n".join(lines) + "\n")
    return data


def run(data: Path, folder: Path) -> Any:
    options = ["--data", str(data), "--work", str(folder / "work"), "--out", str(folder / "out")]
    return CliRunner().invoke(app, ["follow-ups", *options])


def test_the_command_writes_a_part_that_the_product_opens(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from assistant.learned.followups import open_follow_ups  # noqa: PLC0415

    made = run(write_dialogues(tmp_path / "data"), tmp_path)
    assert made.exit_code == 0, made.output
    card = json.loads((tmp_path / "out" / "followups.json").read_text())
    assert card["provenance"]["trained_on"]["rewriting/canard_train.jsonl"] == 1
    assert 0 <= card["scales"]["surety"]["bracketed"] <= card["scales"]["surety"]["behind"]
    monkeypatch.setenv("PAPER_TRAIL_LEARNED", str(tmp_path / "out"))
    opened = open_follow_ups()
    assert opened and opened.name == card["name"]
    assert opened.fillings("Is it fast?", [("What is BM25?", "")]) is not None


def test_a_malformed_dialogue_is_named(tmp_path: Path) -> None:
    data = write_dialogues(tmp_path / "data")
    (data / "rewriting" / "canard_train.jsonl").write_text('{"turns": []}\n')
    made = run(data, tmp_path)
    assert made.exit_code == 2 and "canard_train.jsonl, line 1" in " ".join(made.output.split())
