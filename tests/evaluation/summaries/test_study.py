"""The blind study: its sheet, its key, and the figures of raters' marks."""

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

from assistant.trail.comparison_file import comparison_to_json
from evaluation.answers.judge import DIMENSIONS as OF_ANSWERS
from evaluation.summaries.study import LETTERS, alpha
from evaluation.summaries.summary import DIMENSIONS
from tests.evaluation.commands import figures, invoke
from tests.evaluation.labelled import comparison_of, turn_of, write_trail
from tests.evaluation.standin_judge import judging

TEXTS = {
    "quokka": "Dense retrieval finds it [1]. <b>Words</b> are quick [2].",
    "numbat": "All join [1][2][3].",
}

SAMPLES = ("order", "rest")


@pytest.fixture
def sheet(tmp_path: Path) -> Path:
    for name, text in TEXTS.items():
        (tmp_path / name).mkdir()
        for sample in SAMPLES:
            comparison = replace(comparison_of(text), about=f"We want {sample}.")
            (tmp_path / name / f"{sample}.json").write_text(comparison_to_json(comparison), encoding="utf-8")
    systems = [option for name in TEXTS for option in ("--system", f"{name}={tmp_path / name}")]
    assert figures("study-sheet", *systems, "--out", tmp_path / "sheet.html")["samples"] == len(SAMPLES)
    return tmp_path / "sheet.html"


def save(sheet: Path, rater: str, marks: dict[str, int], best: str) -> Path:
    """Save what a rater would: one mark for all qualities of a system in all samples, and the best."""
    key = json.loads(sheet.with_suffix(".key.json").read_text())
    given = {}
    for number, sample in enumerate(key["samples"], start=1):
        letters = dict(zip(sample["systems"], LETTERS, strict=False))
        given[f"{number}-best"] = letters[best]
        given |= {
            f"{number}-{letters[name]}-{quality}": str(mark)
            for name, mark in marks.items()
            for quality in key["dimensions"]
        }
    path = sheet.with_name(f"{rater}.json")
    told = {"study": key["study"], "rater": rater, "marks": given}
    path.write_text(json.dumps(told), encoding="utf-8")
    return path


def test_the_sheet_is_blind_and_asks_for_six_qualities_and_the_best(sheet):
    page = sheet.read_text(encoding="utf-8")
    assert "&lt;b&gt;Words&lt;/b&gt;" in page and "quokka" not in page and "numbat" not in page
    fields = set(re.findall(r"type='radio' name='([^']+)'", page))
    assert len(fields) == len(SAMPLES) * (2 * 6 + 1) and "2-best" in fields
    assert "default-src 'none'" in page and not re.search(r"""(?:src|href)=["']http""", page)


def test_marks_become_means_preference_and_agreement(sheet):
    first = save(sheet, "first", {"quokka": 2, "numbat": 4}, "numbat")
    second = save(sheet, "second", {"quokka": 1, "numbat": 5}, "numbat")
    told = figures("study", "--key", sheet.with_suffix(".key.json"), "--marks", first, "--marks", second)
    quokka, numbat = told["systems"]["quokka"], told["systems"]["numbat"]
    assert (told["raters"], told["same_preference"]) == (2, 1)
    assert (quokka["overall"], numbat["overall"]) == (1.5, 4.5)
    assert (quokka["preferred"], numbat["preferred"]) == (0, 1)
    assert 0 < told["alpha"] < 1


def test_marks_are_correlated_with_a_judges(sheet, serve):
    serve(judging(lambda _, text: 5 if "join" in text else 2, DIMENSIONS[1:]))
    marks = save(sheet, "first", {"quokka": 1, "numbat": 4}, "numbat")
    told = figures(
        *(
            "study",
            "--key",
            sheet.with_suffix(".key.json"),
            "--marks",
            marks,
            "--judge",
            "judge",
            "--votes",
            1,
        )
    )
    assert told["g_score"] == pytest.approx({"Pearson": 1, "Spearman": 1, "Kendall": 1})


def test_answers_are_marked_by_people_and_a_judge(tmp_path, serve):
    texts = {
        "quokka": ("It is found by dense retrieval [1].", "Words are quick [2].", ""),
        "numbat": ("Fusion is best [3].", "It takes fusion [3].", "Fusion [3]."),
    }
    for name, answers in texts.items():
        for number, answer in enumerate(answers):
            write_trail(tmp_path / name / f"{number}.json", turn_of(f"What is {number}?", answer))
    systems = [option for name in texts for option in ("--system", f"{name}={tmp_path / name}")]
    sheet = tmp_path / "sheet.html"
    # A question that one system refused is left out.
    assert figures("study-sheet", *systems, "--out", sheet, "--answers")["samples"] == 2
    page = sheet.read_text(encoding="utf-8")
    assert "Relevance" in page and "Comparativeness" not in page and "What is 2?" not in page
    assert "Dense retrieval finds most of the answers." in page and "quokka" not in page
    marks = save(sheet, "first", {"quokka": 2, "numbat": 5}, "numbat")
    serve(judging(lambda _, text: 5 if "usion" in text else 2, OF_ANSWERS))
    key = sheet.with_suffix(".key.json")
    told = figures("study", "--key", key, "--marks", marks, "--judge", "judge", "--votes", 1)
    assert told["systems"]["numbat"]["overall"] == 5
    assert told["g_score"] == pytest.approx({"Pearson": 1, "Spearman": 1, "Kendall": 1})
    write_trail(tmp_path / "quokka" / "0.json", turn_of("One?", "a [1]."), turn_of("Two?", "b [1]."))
    result = invoke("study-sheet", *systems, "--out", sheet, "--answers")
    assert result.exit_code == 2 and "has 2 turns" in result.output


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"study": "another"}, "is of the study 'another'"),
        ({"marks": {"9-A-fluency": "1"}}, "does not ask for"),
        ({"marks": {"1-A-fluency": "6"}}, "is not valid"),
    ],
)
def test_marks_that_do_not_fit_the_sheet_are_refused(sheet, change, said):
    path = save(sheet, "first", {"quokka": 2, "numbat": 4}, "numbat")
    path.write_text(json.dumps(json.loads(path.read_text()) | change))
    result = invoke("study", "--key", sheet.with_suffix(".key.json"), "--marks", path)
    assert result.exit_code == 2 and said in result.output


def test_alpha_is_krippendorffs():
    # His example with four observers, interval data: alpha is .849.
    rows = [[1, 2, 3, 3, 2, 1, 4, 1, 2, None, None, None], [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, None, 3],
            [None, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, None], [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, None]]  # fmt: skip
    units = [[mark for mark in unit if mark is not None] for unit in zip(*rows, strict=True)]
    assert alpha(units) == pytest.approx(0.849, abs=0.0005)
    assert alpha([[3, 3], [3, 3]]) is None
