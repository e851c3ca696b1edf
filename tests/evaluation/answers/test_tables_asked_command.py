"""Answers to questions about cells, counted by the row of the table that they cite."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from evaluation.__main__ import app
from evaluation.answers.table_questions import TABLE_QUESTIONS, TableQuestion
from evaluation.input_files import read_json_lines

# Each with the paper, the row and the value that are wanted, of which not all are what the tables say.

ASKED = [
    ("What is the EM of FiD-base?", "rag", "FiD-base", "48.2"),
    ("What overlap does BERT MaxP use?", "chunking", "BERT MaxP", "75 words"),
    ("What is the EM of FiD-base?", "rag", "FiD-base", "8.2"),
    ("What is the EM of FiD-base?", "chunking", "FiD-base", "48.2"),
    ("How does the XQZ whale sing?", "rag", "FiD-base", "48.2"),
]


@pytest.fixture
def asked(tmp_path: Path) -> Path:
    file = tmp_path / "asked.jsonl"
    names = ("question", "paper", "row", "value")
    rows = [dict(zip(names, one, strict=True)) | {"corpus": "demo"} for one in ASKED]
    file.write_text("\n".join(map(json.dumps, rows)))
    return file


def run(*arguments: str) -> tuple[int, str]:
    done = CliRunner().invoke(app, ["tables-asked", *arguments])
    return done.exit_code, done.output


def test_an_answer_is_counted_by_the_row_that_it_cites_first(asked: Path, demo_home: Path) -> None:
    code, said = run(f"--home=demo={demo_home}", f"--data={asked}")
    assert code == 0, said
    counts = json.loads(said.splitlines()[-1])
    wanted = {"asked": 5, "right_row": 2, "right_value": 2, "other_row": 2, "no_row": 1, "refused": 1}
    assert counts == wanted


@pytest.mark.parametrize(
    ("home", "said"), [("demo", "is not NAME=FOLDER"), ("other=/nowhere", "None of the questions")]
)
def test_a_home_that_is_not_named_is_told(asked: Path, home: str, said: str) -> None:
    code, output = run(f"--home={home}", f"--data={asked}")
    assert code == 2 and said in " ".join(output.split())


def test_the_questions_are_of_other_papers_than_those_that_were_worked_on() -> None:
    rows = read_json_lines(TABLE_QUESTIONS, TableQuestion, "")
    assert len({row.question for row in rows}) == len(rows) >= 30
    seen = {"A97-1028", "I08-4009", "P05-1053", "P06-1141", "W09-1007", "W10-1012", "W10-1727"}
    assert not seen & {row.paper for row in rows}
