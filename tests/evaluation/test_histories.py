"""What an encoder finds in conversations: four kinds of history, three forms of the query."""

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from evaluation.__main__ import app


def turn(number: int, collection: str, subject: str, **changes: Any) -> dict[str, Any]:
    return {
        "id": str(number),
        "history": [["user", f"Who counts {subject}?"], ["agent", f"A warden counts {subject} in May."]],
        "question": "How are they fed in winter?",
        "contexts": [{"title": "", "text": f"The food of {subject} in winter."}],
        "answerability": ["ANSWERABLE"],
        "collection": collection,
        **changes,
    }


TURNS = [
    turn(1, "birds", "skylarks"),
    turn(2, "beasts", "reindeer"),
    turn(3, "beasts", "hamsters", question="What do hamsters eat in winter?"),
    turn(4, "beasts", "otters", answerability=["UNANSWERABLE"]),
    turn(5, "birds", "ravens", history=[]),
]


def run(file: Path, *turns: Any) -> Any:
    file.write_text("".join(json.dumps(one) + "\n" for one in turns), encoding="utf-8")
    return CliRunner().invoke(app, ["histories", "--turns", str(file), "--runtime", "torch"])


def test_a_history_of_its_own_helps_and_another_does_not(tmp_path: Path) -> None:
    done = run(tmp_path / "turns.jsonl", *TURNS)
    assert done.exit_code == 0, done.output
    figures = json.loads(done.stdout.splitlines()[-1])
    assert (figures["turns"], figures["passages"], figures["runtime"]) == (3, 5, "torch")
    recall = figures["recall"]
    assert set(recall) == {"none", "concatenated", "ours"}
    # Alone the question is the same whatever was said before; without a history all three are alike.
    assert all(found == recall["none"]["none"] for found in recall["none"].values())
    assert recall["concatenated"]["none"] == recall["none"]["none"]
    assert recall["concatenated"]["relevant"]["recall@1"] == 1.0
    assert recall["ours"]["relevant"]["recall@1"] > recall["none"]["relevant"]["recall@1"]
    assert recall["concatenated"]["irrelevant"]["recall@1"] < 1.0
    for kinds in recall.values():
        for found in kinds.values():
            assert list(found.values()) == sorted(found.values())


@pytest.mark.parametrize(
    ("turns", "said"),
    [
        ([TURNS[0], TURNS[4]], "of two collections"),
        (
            [turn(1, "birds", "skylarks", history=[["agent", "Hello"]])],
            "line 1: the line: Value error, history",
        ),
        ([{"id": "1"}], "line 1: question"),
    ],
)
def test_turns_that_cannot_be_measured_are_said(tmp_path: Path, turns: list[Any], said: str) -> None:
    done = run(tmp_path / "turns.jsonl", *turns)
    assert done.exit_code == 2
    assert said in " ".join(done.output.split())
