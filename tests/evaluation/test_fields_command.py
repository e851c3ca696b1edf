"""The evaluation's fields command: the labels that come with it, what it counts, and what it cannot read."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from evaluation.__main__ import app
from evaluation.fields import LABELLED, LabelledPaper
from evaluation.input_files import read_json_lines
from indexer.enrich.data_file import Table, read_data

RANKING, JUDGING = "field-notes-retrieval/rank-fusion", "field-notes-evaluation/rouge"


class _Fields(Table, extra="ignore"):
    fields: dict[str, object]


def row(paper: str, *fields: str) -> str:
    collection = paper.partition("/")[0]
    return json.dumps({"paper": paper, "collection": collection, "part": "development", "fields": fields})


def measured(tmp_path: Path, *rows: str) -> dict[str, object]:
    data = tmp_path / "fields.jsonl"
    data.write_text("\n".join(rows))
    result = CliRunner().invoke(app, ["fields", "--data", str(data)])
    assert result.exit_code == 0, result.output
    figures: dict[str, object] = json.loads(result.stdout.splitlines()[-1])
    return figures


@pytest.fixture(autouse=True)
def home(demo_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PAPER_TRAIL_HOME", str(demo_home))


def test_what_is_found_is_counted_beside_what_was_labelled(tmp_path: Path) -> None:
    right = [row(RANKING, "Information retrieval"), row(JUDGING, "Summarization")]
    figures = measured(tmp_path, *right, row("2022.acl-long.1", "Speech"))
    assert (figures["papers"], figures["missing"]) == (2, 1)
    assert figures["macro_f1"] == figures["first_right"] == 1
    wrong = measured(tmp_path, row(RANKING, "Speech"), row(JUDGING, "Summarization", "Speech"))
    assert wrong["macro_f1"] == 0.5
    assert wrong["first_right"] == 0.5


def test_nothing_to_read_is_said(tmp_path: Path) -> None:
    data = tmp_path / "fields.jsonl"
    data.write_text(row("2022.acl-long.1", "Speech"))
    result = CliRunner().invoke(app, ["fields", "--data", str(data)])
    assert result.exit_code == 2
    assert "--anthology" in result.stderr


def test_labels_name_fields_that_there_are_each_paper_once() -> None:
    labelled = read_json_lines(LABELLED, LabelledPaper, "")
    assert {name for one in labelled for name in one.fields} <= read_data("fields", _Fields).fields.keys()
    assert len({one.paper for one in labelled}) == len(labelled) == 260
