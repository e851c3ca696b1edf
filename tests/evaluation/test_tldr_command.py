"""The evaluation's commands for one sentence on a paper: what they print, read, refuse and fit."""

import json
import tomllib
from pathlib import Path

import pytest
from typer.testing import CliRunner

from evaluation.__main__ import app
from evaluation.input_files import EvaluationError
from evaluation.paper_summaries import measure_tldr, read_tldr_items, score_tldrs

SOURCE = [
    "Letters are everywhere and many people write them.",
    "To address this, we propose a model that sorts letters by their smell.",
    "It is quick.",
]
TARGET = "A model that sorts letters by their smell."


def record(identifier: str, split: str, *targets: str) -> dict[str, object]:
    title = f"Sorting Letters {identifier}"
    return {
        "id": identifier, "split": split, "title": title, "source": SOURCE, "targets": targets or [TARGET],
    }  # fmt: skip


def write(path: Path, *records: object) -> Path:
    path.write_text("\n".join(json.dumps(record) for record in records) + "\n", encoding="utf-8")
    return path


def test_the_last_line_is_one_json_object_of_our_figures(tmp_path: Path) -> None:
    data = write(
        tmp_path / "a.jsonl", record("a", "dev"), record("b", "dev", TARGET, "Roses."), record("c", "x")
    )
    result = CliRunner().invoke(app, ["tldr", "--data", str(data)])
    assert result.exit_code == 0
    figures = json.loads(result.stdout.splitlines()[-1])
    assert list(figures) == ["highest", "mean"]
    assert list(figures["mean"]) == ["rouge1", "rouge2", "rougeL", "rougeK"]
    assert figures["highest"]["rouge1"] > figures["mean"]["rouge1"] > 50
    assert "2 papers, split: validation" in result.stdout


def test_shortened_is_closer_than_whole_and_the_oracle_is_the_upper_end_of_whole_ones(tmp_path: Path) -> None:
    figures = measure_tldr(write(tmp_path / "a.jsonl", record("a", "dev")))
    rouge1 = [part["highest"]["rouge1"] for part in (figures.systems["ours"], figures.systems["oracle"], figures.systems["lead"])]
    assert rouge1 == sorted(rouge1, reverse=True)
    assert figures.systems["unshortened"] == figures.systems["oracle"]
    assert figures.without_keywords["tldr"] == 0


def test_texts_of_any_writer_are_scored(tmp_path: Path) -> None:
    _, items = read_tldr_items(write(tmp_path / "a.jsonl", record("a", "dev"), record("b", "dev")))
    scores = score_tldrs(items, [TARGET, ""])
    assert scores["highest"] == scores["mean"]
    assert scores["mean"]["rouge1"] == pytest.approx(50)


@pytest.mark.parametrize("target", [TARGET, [TARGET], [TARGET, "Roses."]])
def test_the_form_of_scitldr_s_own_files_is_read(tmp_path: Path, target: object) -> None:
    original = {
        "source": SOURCE, "source_labels": [0, 1, 0], "rouge_scores": [0.1, 0.9, 0.1], "paper_id": "p",
        "target": target, "title": "Letters",
    }  # fmt: skip
    name, (item,) = read_tldr_items(write(tmp_path / "a.jsonl", original))
    assert (name, item.id) == ("all", "p")
    assert item.targets[0] == TARGET


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        ("", "is empty"),
        ("{", "line 1"),
        ('{"id": "a", "title": "t", "source": ["s"]}', "targets"),
        ('{"id": "a", "title": "t", "source": ["s"], "targets": []}', "targets"),
        (json.dumps(record("a", "train")), "its splits are: train"),
    ],
)
@pytest.mark.parametrize("command", ["tldr", "train-tldr"])
def test_another_file_is_refused_and_says_where(
    tmp_path: Path, command: str, content: str, complaint: str
) -> None:
    data = tmp_path / "a.jsonl"
    data.write_text(content, encoding="utf-8")
    arguments = [command, "--data", str(data), "--split", "test"]
    arguments += ["--out", str(tmp_path / "out.toml")] if command == "train-tldr" else []
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 2
    assert complaint in result.output
    assert not (tmp_path / "out.toml").exists()


def test_a_missing_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(EvaluationError, match="cannot be read"):
        measure_tldr(tmp_path / "none.jsonl")


def test_weights_are_fitted_the_same_every_time(tmp_path: Path) -> None:
    data = write(tmp_path / "a.jsonl", *(record(f"paper{number}", "train") for number in range(40)))
    written = []
    for name in ("one.toml", "two.toml"):
        result = CliRunner().invoke(app, ["train-tldr", "--data", str(data), "--out", str(tmp_path / name)])
        assert result.exit_code == 0
        written.append(tomllib.loads((tmp_path / name).read_text(encoding="utf-8")))
    assert written[0]["weights"] == written[1]["weights"]
    assert written[0]["provenance"]["papers"] == 40
    assert written[0]["provenance"]["cross_validated_rouge1"] > written[0]["provenance"]["lead_rouge1"]
    assert written[0]["weights"]["head clause"] > 0


@pytest.mark.long
def test_the_figures_on_scitldr_stay_where_they_are(shared: Path) -> None:
    figures = measure_tldr(shared / "data" / "summaries" / "scitldr.jsonl")
    assert figures.papers == 619
    assert figures.systems["ours"]["highest"]["rouge1"] > 41.5
    assert figures.systems["ours"]["highest"]["rouge1"] > figures.systems["lead"]["highest"]["rouge1"] + 11
    assert figures.systems["ours"]["highest"]["rouge1"] > figures.systems["unshortened"]["highest"]["rouge1"]
