"""The recipe on a toy set: it learns, goes on after a kill, and writes a part that the product opens."""

import json
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("peft", reason="peft, of the extra train, is not installed")

from typer.testing import CliRunner

from corpus.store.corpus import Corpus
from evaluation.answers.evidence import EvidenceRow
from training.__main__ import app
from training.files import TrainingError
from training.fitting import Plan, fit
from training.network import Reader
from training.questions import question_rows
from training.relevance import TASK, examples_of, fold_of, labelled_texts

TEXTS = (
    "The model has twelve layers.",
    "We thank the reviewers.",
    "Retrieval takes 40 ms.",
    "Earlier work is listed in the appendix.",
)
ROWS = [
    EvidenceRow(set="toy", group="a", question="How many layers are there?", candidates=TEXTS, relevant=(0,)),
    EvidenceRow(set="toy", group="b", question="How long does it take?", candidates=TEXTS, relevant=(2,)),
    EvidenceRow(set="toy", group="c", question="Who funded the work?", candidates=TEXTS, relevant=()),
]


def reader() -> Reader:
    return Reader.new(1, rank=2)


def toy_examples() -> list[Any]:
    return examples_of(labelled_texts(ROWS))


def test_it_learns_which_text_answers_and_that_none_may(tmp_path: Path) -> None:
    examples = toy_examples()
    network = reader()
    plan = Plan(epochs=30, learning_rate=5e-3, tokens=400, checkpoint_seconds=600)
    fit(network, TASK, examples, plan, tmp_path)
    network.eval()
    numbers = [network.read(example.titled)[:, 0].tolist() for example in examples]
    assert numbers[0].index(max(numbers[0])) == 0
    assert numbers[1].index(max(numbers[1])) == 2
    assert max(numbers[2]) < 0


def test_without_an_example_nothing_is_learned(tmp_path: Path) -> None:
    with pytest.raises(TrainingError, match="no example"):
        fit(reader(), TASK, [], Plan(), tmp_path)


def write_sets(data: Path, **changes: str) -> Path:
    """Write the smallest folder of sets, all files of which the recipe reads."""
    folder = data / "questions"
    folder.mkdir(parents=True)
    document = {"doc_id": "d", "title": "T", "sentences": list(TEXTS)}
    asked = {"question": "How many layers?", "evidence_idx": [0]}
    paper = {"evidence": [{"sentences": [text], "answer_sentence_idx": [0]} for text in TEXTS[:3]]}
    pair = {"question": "How many layers?", "text": TEXTS[0], "label": 1}
    files: dict[str, list[dict[str, Any]]] = {
        "qasper_train": [{"question": "How many?", "paper_id": f"p{n}", **paper} for n in range(12)],
        "clapnq": [{**asked, "title": f"c{n}", "sentences": list(TEXTS)} for n in range(12)],
        "qed_dev": [{**asked, "title": f"e{n}", "sentences": list(TEXTS)} for n in range(12)],
        **{f"{name}_docs": [{**document, "doc_id": f"d{n}"} for n in range(12)] for name in DOCUMENTS},
        **{f"{name}_questions": [{**asked, "doc_id": f"d{n}"} for n in range(12)] for name in DOCUMENTS},
        "scidqa_qa": [{"question": "Q", "text": text, "paper_id": "s"} for text in TEXTS],
        "squad_nqg_sentence_question": [pair | {"text": text} for text in TEXTS],
        "qnli_dev": [pair | {"text": text} for text in TEXTS],
        "papers_abstracts": [abstract(f"a{n}", 2020) for n in range(12)],
        "papers_questions": [written(f"a{n}", answers=[n % 2]) for n in range(12)],
        "pools": [pooled(f"q{n}") for n in range(12)],
    }
    for name, rows in files.items():
        lines = "\n".join(json.dumps(row) for row in rows)
        (folder / f"{name}.jsonl").write_text(changes.get(name, lines) + "\n", encoding="utf-8")
    return data


DOCUMENTS = ("covidqa_cord19", "evidence_inference")


def abstract(paper: str, year: int) -> dict[str, Any]:
    sentences: list[str] = [f"{text[:-1]} in {paper}." for text in TEXTS]
    return {"paper": paper, "title": f"On {paper}", "year": year, "sentences": sentences}


def written(paper: str, **changes: Any) -> dict[str, Any]:
    asked = f"How many layers are there in {paper}?"
    return {"paper": paper, "question": "How many?", "standalone": asked, "answers": [], **changes}


def pooled(name: str, **changes: Any) -> dict[str, Any]:
    pool = [{"text": text, "title": f"On {at}"} for at, text in enumerate(TEXTS)]
    return {"id": name, "question": f"How many layers {name}?", "answers": [0], "pool": pool, **changes}


def run(data: Path, folder: Path, *more: str) -> Any:
    options = ["--data", str(data), "--work", str(folder / "work"), "--out", str(folder / "out")]
    return CliRunner().invoke(app, ["relevance", *options, *more])


def test_the_command_writes_a_part_that_the_product_opens(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from assistant.learned.relevance import open_relevance  # noqa: PLC0415

    made = run(write_sets(tmp_path / "data"), tmp_path)
    assert made.exit_code == 0, made.output
    card = json.loads((tmp_path / "out" / "relevance.json").read_text())
    assert set(card["scales"]) == {"all", "features", "answer_all", "answer_features"}
    assert card["provenance"]["held_back"]["clapnq"]["network/mrr"] > 0
    assert "CC BY 4.0" in str(card["provenance"]["licences"])
    monkeypatch.setenv("PAPER_TRAIL_LEARNED", str(tmp_path / "out"))
    assert open_relevance().name == card["name"]


def judged_rows() -> str:
    """Return judged questions of two corpora, both of which the demonstration stands for."""
    rows = []
    for corpus in ("demo", "taught"):
        for at in range(12):
            question, right = (("What is BM25?", 0), ("How do whales sing?", None))[at % 2]
            paper = "field-notes-retrieval/bm25"
            full = [] if right is None else [f"{paper}#0:{right}"]
            row: dict[str, Any] = {
                "id": f"{corpus}-{at}",
                "corpus": corpus,
                "question": question,
                "kind": "definition",
            }
            row |= {"answerable": bool(full), "full": full, "part": [], "leaning": []}
            rows.append(json.dumps(row | {"seen": [f"{paper}#0:0-3", f"{paper}#1:0-2"]}))
    return "\n".join(rows)


@pytest.mark.long
def test_judged_questions_give_the_choice_its_scales(
    tmp_path: Path, demo_home: Path, demo_corpus: Corpus
) -> None:
    file = tmp_path / "judged.jsonl"
    paper = next(paper for paper in demo_corpus.papers() if "BM25" in paper.title)
    file.write_text(judged_rows().replace("field-notes-retrieval/bm25", paper.id))
    homes = [f"--home={name}={demo_home}" for name in ("demo", "taught")]
    made = run(write_sets(tmp_path / "data"), tmp_path, f"--judged={file}", *homes)
    assert made.exit_code == 0, made.output
    card = json.loads((tmp_path / "out" / "relevance.json").read_text())
    assert {"choice_all", "choice_features", "answerable_all", "answerable_features"} <= set(card["scales"])
    assert "network" in card["scales"]["choice_all"] and "network" not in card["scales"]["choice_features"]
    assert card["provenance"]["scale_of_the_choice_fitted_on"]
    missing = run(tmp_path / "data", tmp_path / "again", f"--judged={file}", homes[0])
    assert missing.exit_code == 2 and "--home taught=FOLDER" in " ".join(missing.output.split())


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("clapnq", '{"question": "x"}', "clapnq.jsonl, line 1"),
        ("qnli_dev", '{"question": "x", "text": "y", "label": 0}', "has no text that answers"),
        ("papers_abstracts", "\n".join([json.dumps(abstract("a1", 2020))] * 2), "lists a paper twice"),
        ("papers_questions", json.dumps(written("a1", answers=[9])), "papers_questions.jsonl, line 1"),
        ("papers_questions", json.dumps(written("b", answers=[0])), "papers_questions.jsonl, line 1"),
        ("pools", json.dumps(pooled("q", helps=[4])), "pools.jsonl, line 1"),
    ],
)
def test_a_set_that_cannot_teach_is_named(tmp_path: Path, name: str, text: str, said: str) -> None:
    made = run(write_sets(tmp_path / "data", **{name: text}), tmp_path)
    assert (made.exit_code, said in " ".join(made.output.split())) == (2, True)


def test_a_written_question_stands_beside_other_papers_and_without_what_only_helps(tmp_path: Path) -> None:
    papers = [abstract("a", 2020), abstract("b", 2019), abstract("old", 2015)]
    asked = [
        written("a", answers=[0], helps=[2]),
        written("b"),
        written("old", standalone="How old?", answers=[0]),
    ]
    data = write_sets(
        tmp_path / "data",
        papers_abstracts="\n".join(map(json.dumps, papers)),
        papers_questions="\n".join(map(json.dumps, asked)),
    )
    rows = {row.question: row for row in question_rows(data, {"papers": 9}, 13)}
    answered, near_miss = (rows[f"How many layers are there in {name}?"] for name in "ab")
    (right,) = answered.relevant
    assert answered.candidates[right] == papers[0]["sentences"][0]
    assert papers[0]["sentences"][2] not in answered.candidates
    titles = dict(zip(answered.candidates, answered.titles, strict=True))
    assert titles[papers[0]["sentences"][1]] == "On a" and titles[papers[1]["sentences"][0]] == "On b"
    assert near_miss.relevant == () and len(rows) == 2


def test_no_paper_is_learned_from_and_measured_on(shared: Path) -> None:
    rows = question_rows(shared / "data", {"qasper-sentences": 400, "qasper-paragraphs": 400}, 13)
    folds: dict[str, set[int]] = {}
    for row in rows:
        folds.setdefault(row.group, set()).add(fold_of(row))
    assert all(len(found) == 1 for found in folds.values())
    assert len({fold for found in folds.values() for fold in found}) == 5
