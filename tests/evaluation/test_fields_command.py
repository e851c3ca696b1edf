"""The evaluation's fields command: the labels that come with it, what it counts, and what it cannot read."""

from pathlib import Path

import pytest

from evaluation.fields import LABELLED, LabelledPaper
from evaluation.input_files import read_json_lines
from indexer.enrich.data_file import Table, read_data


class _Fields(Table, extra="ignore"):
    fields: dict[str, object]


@pytest.fixture(autouse=True)
def home(demo_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PAPER_TRAIL_HOME", str(demo_home))


def test_labels_name_fields_that_there_are_each_paper_once() -> None:
    labelled = read_json_lines(LABELLED, LabelledPaper, "")
    assert {name for one in labelled for name in one.fields} <= read_data("fields", _Fields).fields.keys()
    assert len({one.paper for one in labelled}) == len(labelled) == 260
