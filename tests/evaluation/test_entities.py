"""Entities against labels: what counts as right and as found, and the figures on the labelled papers."""

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from evaluation.input_files import read_json_lines
from evaluation.labels import LABELLED_ENTITIES, LabelledEntities
from tests.evaluation.commands import figures, invoke, write_lines

NOTHING: dict[str, Any] = {"task": [], "method": [], "dataset": [], "metric": [], "borderline": []}


def _label(paper: str, part: str = "development", **entities: list[list[str]]) -> dict[str, Any]:
    return {"paper": paper, "collection": "scitldr", "field": "clouds", "part": part, **NOTHING, **entities}


def _data(folder: Path) -> Path:
    write_lines(
        folder / "data" / "summaries" / "scitldr.jsonl",
        {
            "id": "a",
            "title": "On clouds",
            "source": ["We study question answering with LSTMs.", "BLEU rose."],
        },
        {"id": "b", "title": "On suns", "source": ["We study named entity recognition."]},
    )
    return folder / "data"


def test_right_and_found_are_counted_by_kind(tmp_path: Path) -> None:
    labels = write_lines(
        tmp_path / "labels.jsonl",
        # The end of a longer form is right; what is borderline is right too, and not asked for.
        _label("a", task=[["visual question answering"], ["sky watching"]], borderline=[["LSTM", "LSTMs"]]),
        _label("b", "held back"),
    )
    told = figures("entities", "--data", _data(tmp_path), "--labels", labels)
    assert (told["papers"], told["missing"]) == (1, 0)
    clouds = told["clouds"]
    assert (clouds["task"]["precision"], clouds["task"]["recall"]) == (1.0, 0.5)
    assert (clouds["method"]["precision"], clouds["method"]["recall"]) == (1.0, None)
    assert (clouds["metric"]["precision"], clouds["metric"]["found"]) == (0.0, 1)
    assert clouds["dataset"]["precision"] is None
    assert (clouds["all"]["right"], clouds["all"]["found"]) == (2, 3)
    other = figures("entities", "--data", _data(tmp_path), "--labels", labels, "--part", "held back")
    assert other["clouds"]["task"]["right"] == 0


def test_errors_are_listed_and_absent_data_refused(tmp_path: Path) -> None:
    labels = write_lines(tmp_path / "labels.jsonl", _label("a", task=[["sky watching"]]))
    shown = invoke("entities", "--data", _data(tmp_path), "--labels", labels, "--errors").stdout
    assert "a task: wrong question answering, missing sky watching" in shown
    refused = invoke("entities", "--data", tmp_path / "nowhere", "--labels", labels)
    assert refused.exit_code == 2
    assert "None of the labelled papers is in" in refused.output


def test_sixty_abstracts_of_three_fields_are_labelled_half_of_them_held_back() -> None:
    labelled = read_json_lines(LABELLED_ENTITIES, LabelledEntities, "")
    assert len({row.paper for row in labelled}) == 60
    assert set(Counter((row.field, row.part) for row in labelled).values()) == {10}


@pytest.mark.long
@pytest.mark.parametrize("part", ["development", "held back"])
def test_the_precision_on_labelled_abstracts_stays_where_it_is(shared: Path, part: str) -> None:
    told = figures("entities", "--data", shared / "data", "--part", part)
    assert told["missing"] == 0
    for field, recall in {"NLP": 0.45, "vision": 0.29, "biomedicine": 0.28}.items():
        assert told[field]["all"]["precision"] >= 0.8
        assert told[field]["all"]["recall"] >= recall
