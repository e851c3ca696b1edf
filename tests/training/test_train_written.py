"""Questions written for abstracts, asked of a corpus of these abstracts."""

import json
from pathlib import Path

import pytest

from evaluation.answers.questions import gather_evidence
from evaluation.input_files import EvaluationError
from training.choice import written_judgements
from training.files import FOLDS, hash_byte

ABSTRACTS = {
    "P1": ("Parsing from Left to Right", 2020, ["We parse sentences from left to right.", "It is fast."]),
    "P2": ("Songs of Whales", 2021, ["We record the songs of whales.", "They are long and varied."]),
    "P0": ("Before the Licence", 2001, ["We parse sentences with charts.", "It is slow."]),
}


@pytest.fixture
def data(tmp_path: Path) -> Path:
    folder = tmp_path / "data" / "questions"
    folder.mkdir(parents=True)
    abstracts = [
        {"paper": paper, "title": title, "year": year, "sentences": sentences}
        for paper, (title, year, sentences) in ABSTRACTS.items()
    ]
    asked = [
        {"paper": "P1", "standalone": "How are sentences parsed?", "kind": "how", "answers": [0]},
        {"paper": "P1", "standalone": "Is a grammar needed?", "kind": "fact", "answers": []},
        {"paper": "P2", "standalone": "Which animals are recorded?", "kind": "fact", "answers": [0]},
        {"paper": "P0", "standalone": "Is parsing with charts slow?", "kind": "fact", "answers": [1]},
    ]
    for name, rows in (("abstracts", abstracts), ("questions", asked)):
        lines = "".join(json.dumps(row) + "\n" for row in rows)
        (folder / f"papers_{name}.jsonl").write_text(lines, encoding="utf-8")
    return tmp_path / "data"


def test_the_questions_of_each_fold_are_asked_of_all_abstracts(data: Path, tmp_path: Path) -> None:
    folds = [list(written_judgements(data, tmp_path / "home", fold)) for fold in range(FOLDS)]
    # None of before the licence.
    assert sorted(question.id for asked in folds for question, _ in asked) == ["P1#0", "P1#1", "P2#2"]
    asked = folds[hash_byte("P1") % FOLDS]
    of_first = [question for question, _ in asked if question.id.startswith("P1#")]
    assert [question.answerable for question in of_first] == [True, False]
    question, assistant = asked[0]
    found = gather_evidence(question, assistant)
    assert {paper.paper.title for paper in found.papers} <= {title for title, *_ in ABSTRACTS.values()}
    assert found.papers[0].paper.id == "written/P1"


def test_a_question_on_an_abstract_that_is_not_there_is_refused(data: Path, tmp_path: Path) -> None:
    file = data / "questions" / "papers_questions.jsonl"
    file.write_text(json.dumps({"paper": "P9", "standalone": "Which?", "answers": []}) + "\n")
    with pytest.raises(EvaluationError, match="line 1"):
        list(written_judgements(data, tmp_path / "home", 0))
