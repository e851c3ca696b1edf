"""Rows of candidates from data sets: small ones made here in their forms, and the real ones."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from evaluation.__main__ import app
from evaluation.answers.evidence.rows import EvidenceRow, read_rows
from evaluation.answers.evidence.sets import SETS


def paper(number: int, question: str, *evidence: tuple[list[str], list[int]]) -> dict:
    parts = [{"sentences": sentences, "answer_sentence_idx": marked} for sentences, marked in evidence]
    return {"question": question, "title": "T", "paper_id": f"p{number}", "evidence": parts}


QASPER = [
    paper(1, "Which corpus?", (["We use SQuAD.", "It is large."], [0])),
    paper(1, "Which score?", (["We report F1.", "It is large."], [0, 1]), (["It was run twice."], [])),
    paper(1, "Is it large?", (["We use SQuAD.", "It is large."], [])),
    paper(2, "Who annotated?", (["Two students did."], [0]), (["They were paid."], [])),
]
CLAPNQ = [
    {
        "question": "who was dada",
        "title": "Dada",
        "sentences": ["A.", "B."],
        "evidence_idx": [1],
        "unanswerable": False,
    },
    {
        "question": "who was dodo",
        "title": "Dodo",
        "sentences": ["A.", "B."],
        "evidence_idx": [],
        "unanswerable": True,
    },
    {
        "question": "nobody marked it",
        "title": "X",
        "sentences": ["A."],
        "evidence_idx": [],
        "unanswerable": False,
    },
]
QED = [
    {"question": "q", "title": "Page", "sentences": ["A.", "B."], "evidence_idx": [0]},
    {
        "question": "several sentences together",
        "title": "Page",
        "sentences": ["A.", "B."],
        "evidence_idx": [],
    },
]
WIKIQA = [{"question": "how are caves formed", "sentences": ["a.", "b.", "a."], "labels": [0, 1, 0]}]
DOCUMENTS = [{"doc_id": "d1", "title": "Paper", "sentences": ["A.", "B.", "A.", "C."]}]
ABOUT_DOCUMENTS = [{"question": "what", "doc_id": "d1", "evidence_idx": [3, 1]}]


def pair(
    question: str, claim: str, references: list[str], label: int, name: str = "AttributionBench"
) -> dict:
    return {"set": name, "question": question, "claim": claim, "references": references, "label": label}


PAIRS = [
    pair("How old is it?", "It is ten years old.", ["It was built. It is now ten years old."], 1),
    pair("How old is it?", "It is red.", ["It was painted. It is ten years older."], 0),
    pair("Who knows?", "Nobody knows.", ["This is about bonds."], 0),
    pair("", "It ranks.", ["It ranks."], 1, "WiCE"),
]


@pytest.fixture
def data(tmp_path: Path) -> Path:
    files = {
        "questions/qasper_train": QASPER,
        "questions/clapnq": CLAPNQ,
        "questions/qed_dev": QED,
        "questions/wikiqa_grouped": WIKIQA,
        "questions/covidqa_cord19_docs": DOCUMENTS,
        "questions/covidqa_cord19_questions": ABOUT_DOCUMENTS,
        "questions/evidence_inference_docs": DOCUMENTS,
        "questions/evidence_inference_questions": ABOUT_DOCUMENTS,
        "attribution/pairs": PAIRS,
    }
    for name, lines in files.items():
        file = tmp_path / f"{name}.jsonl"
        file.parent.mkdir(exist_ok=True)
        file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return tmp_path


def made(data: Path, *names: str) -> tuple[EvidenceRow, ...]:
    out = data / "rows.jsonl"
    options = [part for name in names for part in ("--set", name)]
    done = CliRunner().invoke(app, ["evidence-sets", "--data", str(data), "--out", str(out), *options])
    assert done.exit_code == 0, done.output
    rows = read_rows(out)
    counts = json.loads(done.stdout.splitlines()[-1])
    assert {name: one["rows"] for name, one in counts.items()} == {
        name: sum(row.set == name for row in rows) for name in counts
    }
    return rows


def test_every_set_is_written_and_one_can_be_chosen(data):
    assert {row.set for row in made(data)} == set(SETS)
    assert {row.set for row in made(data, "qed", "wikiqa")} == {"qed", "wikiqa"}


def test_sentences_of_a_papers_evidence_are_candidates_for_each_of_its_questions(data):
    first, second, other = made(data, "qasper-sentences")
    assert first.candidates == ("We use SQuAD.", "It is large.", "We report F1.", "It was run twice.")
    assert (first.question, first.title, first.group, first.relevant) == ("Which corpus?", "T", "p1", (0,))
    assert (second.candidates, second.relevant) == (first.candidates, (1, 2))
    assert (other.group, other.relevant) == ("p2", (0,))


def test_paragraphs_are_of_papers_with_three_of_them(data):
    rows = made(data, "qasper-paragraphs")
    assert {row.group for row in rows} == {"p1"}
    assert [row.relevant for row in rows] == [(0,), (1, 2), (0,)]
    assert rows[0].candidates[1] == "We report F1. It is large."


def test_only_what_cannot_be_answered_has_nothing_relevant(data):
    assert [(row.question, row.relevant) for row in made(data, "clapnq")] == [
        ("who was dada", (1,)),
        ("who was dodo", ()),
    ]
    assert [(row.group, row.relevant) for row in made(data, "qed")] == [("Page", (0,))]


@pytest.mark.parametrize("name", ["covidqa", "evidence-inference"])
def test_all_sentences_of_a_document_are_candidates_once(data, name):
    (row,) = made(data, name)
    assert (row.candidates, row.relevant) == (("A.", "B.", "C."), (1, 2))
    assert (row.title, row.group) == ("Paper", "d1")


def test_labels_mark_the_sentences_of_a_question(data):
    (row,) = made(data, "wikiqa")
    assert (row.candidates, row.relevant, row.group) == (("a.", "b."), (1,), "how are caves formed")


def test_the_sentence_of_its_references_most_like_a_supported_claim_is_relevant(data):
    (row,) = made(data, "attributionbench")
    assert row.question == "How old is it?"
    assert row.candidates == (
        *("It was built.", "It is now ten years old."),
        *("It was painted.", "It is ten years older."),
    )
    assert row.relevant == (1,)


@pytest.mark.parametrize(
    ("name", "file", "line", "complaint"),
    [
        ("clapnq", "clapnq", "nonsense", "clapnq.jsonl, line 1: the line"),
        ("clapnq", "clapnq", {**CLAPNQ[0], "evidence_idx": [2]}, "line 1: the line: Value error, sentence 2"),
        ("clapnq", "clapnq", {**CLAPNQ[0], "evidence_idx": [-1]}, "line 1: evidence_idx.0"),
        ("clapnq", "clapnq", {**CLAPNQ[0], "sentences": []}, "line 1: sentences"),
        ("qed", "qed_dev", None, "qed_dev.jsonl cannot be read"),
        ("qed", "qed_dev", "", "is empty"),
        (
            "wikiqa",
            "wikiqa_grouped",
            {**WIKIQA[0], "labels": [1]},
            "line 1: the line: Value error, there are 1",
        ),
        ("qasper-sentences", "qasper_train", paper(1, "a?", (["B."], [1])), "line 1: evidence.0"),
        (
            "covidqa",
            "covidqa_cord19_questions",
            {**ABOUT_DOCUMENTS[0], "doc_id": "d2"},
            "line 1: covidqa_cord19_docs",
        ),
        (
            "covidqa",
            "covidqa_cord19_questions",
            {**ABOUT_DOCUMENTS[0], "evidence_idx": [4]},
            "no such document or",
        ),
        ("covidqa", "covidqa_cord19_docs", {"doc_id": "d1"}, "docs.jsonl, line 1: sentences"),
    ],
)
def test_data_that_cannot_be_used_are_named(data, name, file, line, complaint):
    path = data / "questions" / f"{file}.jsonl"
    path.unlink()
    if line is not None:
        path.write_text(line if isinstance(line, str) else json.dumps(line))
    out = data / "rows.jsonl"
    done = CliRunner().invoke(app, ["evidence-sets", "--data", str(data), "--out", str(out), "--set", name])
    assert done.exit_code == 2
    assert complaint in done.stderr
    assert not out.exists()


def test_an_unknown_set_and_a_place_that_cannot_be_written_are_said(data):
    command = ["evidence-sets", "--data", str(data), "--set"]
    unknown = CliRunner().invoke(app, [*command, "none", "--out", str(data / "rows.jsonl")])
    assert (unknown.exit_code, "no set 'none'; there are qasper-sentences" in unknown.stderr) == (2, True)
    nowhere = CliRunner().invoke(app, [*command, "qed", "--out", str(data / "nowhere" / "rows.jsonl")])
    assert (nowhere.exit_code, "cannot be written" in nowhere.stderr) == (2, True)


def test_the_real_sets_have_the_counts_they_were_made_with(shared, tmp_path):
    out = tmp_path / "rows.jsonl"
    names = (
        "qasper-sentences",
        "qasper-paragraphs",
        "clapnq",
        "covidqa",
        "evidence-inference",
        "qed",
        "wikiqa",
    )
    options = [part for name in names for part in ("--set", name)]
    done = CliRunner().invoke(
        app, ["evidence-sets", "--data", str(shared / "data"), "--out", str(out), *options]
    )
    counts = json.loads(done.stdout.splitlines()[-1])
    assert [counts[name]["rows"] for name in names] == [1203, 1473, 296, 1380, 420, 1021, 1242]
    assert counts["clapnq"]["unanswerable"] == 147
