"""The evaluation's aspects command: what it prints, what it scores, and what it refuses."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from evaluation.__main__ import app
from evaluation.paper_summaries import measure_aspects
from evaluation.input_files import EvaluationError

CHALLENGE = "However , existing sorters ignore the smell of letters , which makes them slow ."
APPROACH = "In this paper , we propose a model that sorts letters by their smell ."
OUTCOME = "Experiments show that our model outperforms existing sorters by 12 % accuracy ."


def record(identifier: str, split: str, **aspects: str) -> dict[str, object]:
    summaries = {"challenge": "Sorters ignore smell.", "approach": "They smell.", "outcome": "Smell is best."}
    source = {
        "abstract": [CHALLENGE, APPROACH, OUTCOME],
        "introduction": ["Letters are many ."],
        "conclusion": [],
    }
    return {
        "id": identifier,
        "split": split,
        "title": "Smell",
        "source": source,
        "aspects": summaries | aspects,
        "more": 1,
    }


def write(path: Path, *records: object) -> Path:
    path.write_text("\n".join(json.dumps(record) for record in records) + "\n", encoding="utf-8")
    return path


def test_the_last_line_is_one_json_object_of_our_figures(tmp_path: Path) -> None:
    data = write(tmp_path / "a.jsonl", record("a", "val", approach=APPROACH), record("b", "train"))
    result = CliRunner().invoke(app, ["aspects", "--data", str(data)])
    assert result.exit_code == 0
    figures = json.loads(result.stdout.splitlines()[-1])
    assert list(figures) == ["challenge", "approach", "outcome"]
    for scores in figures.values():
        assert list(scores) == ["rouge1", "rouge2", "rougeL", "rougeK"]
        assert all(0 <= value <= 100 for value in scores.values())
    assert figures["approach"]["rouge2"] > 80
    assert "Oracle" in result.stdout
    assert "1 paper, split: validation" in result.stdout


@pytest.mark.parametrize(
    ("splits", "asked", "papers"),
    [
        (("val", "train"), "", 1),
        (("validation", "train", "train"), "val", 1),
        (("test", "test"), "", 2),
        (("", ""), "", 2),
        (("test", "train", "train"), "train", 2),
    ],
)
def test_the_split_is_validation_where_there_is_one(
    tmp_path: Path, splits: tuple[str, ...], asked: str, papers: int
) -> None:
    data = write(tmp_path / "a.jsonl", *(record(str(n), split) for n, split in enumerate(splits)))
    assert measure_aspects(data, asked).papers == papers


def test_the_oracle_is_the_upper_end(tmp_path: Path) -> None:
    figures = measure_aspects(write(tmp_path / "a.jsonl", record("a", "val", outcome=OUTCOME)))
    assert figures.systems["oracle"]["outcome"]["rouge2"] == pytest.approx(100)
    assert figures.systems["lead"]["outcome"]["rouge2"] == pytest.approx(100)


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        ("", "is empty"),
        ("{", "line 1"),
        ('{"id": "a"}', "title"),
        ('[{"id": "a"}]', "line 1"),
        (json.dumps(record("a", "val")) + "\n" + json.dumps({"id": "b", "title": "t"}), "line 2"),
        ("\xff", "JSON"),
    ],
)
def test_another_file_is_refused_and_says_where(tmp_path: Path, content: str, complaint: str) -> None:
    data = tmp_path / "a.jsonl"
    data.write_text(content, encoding="utf-8")
    result = CliRunner().invoke(app, ["aspects", "--data", str(data)])
    assert result.exit_code == 2
    assert complaint in result.output


def test_missing_files_and_unknown_splits_are_refused(tmp_path: Path) -> None:
    with pytest.raises(EvaluationError, match="cannot be read"):
        measure_aspects(tmp_path / "none.jsonl")
    with pytest.raises(EvaluationError, match="its splits are: val"):
        measure_aspects(write(tmp_path / "a.jsonl", record("a", "val")), "test")


def test_summaries_that_share_no_keyword_with_the_title_are_counted_and_left_out(tmp_path: Path) -> None:
    data = write(tmp_path / "a.jsonl", record("a", "val"), record("b", "val", outcome="It is best."))
    figures = measure_aspects(data)
    assert figures.without_keywords == {"challenge": 0, "approach": 0, "outcome": 1}
    # "Smell" is what title and summaries share: the outcome's sentence does not have it, the approach's does.
    assert figures.systems["ours"]["approach"]["rougeK"] == pytest.approx(100)
    assert figures.systems["ours"]["outcome"]["rougeK"] == 0


@pytest.mark.long
def test_the_figures_on_aclsum_stay_where_they_are(shared: Path) -> None:
    figures = measure_aspects(shared / "data" / "summaries" / "aclsum.jsonl")
    assert figures.papers == 50
    for name, least in {"challenge": 9.4, "approach": 18.4, "outcome": 13.8}.items():
        assert figures.systems["ours"][name]["rouge2"] > least  # type: ignore[index]
        assert figures.systems["ours"][name]["rouge2"] > figures.systems["lead"][name]["rouge2"]  # type: ignore[index]
