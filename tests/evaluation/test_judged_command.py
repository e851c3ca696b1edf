"""Answers counted against the sentences that were judged to answer."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from corpus.store import Corpus
from evaluation.__main__ import app
from evaluation.judged import JUDGED, counts_of, places, read_judged


@pytest.fixture
def judged(tmp_path: Path, demo_corpus: Corpus) -> Path:
    paper = next(one for one in demo_corpus.papers() if "BM25" in one.title)
    seen = [f"{one.id}:0-{len(one.sentences) - 1}" for one in demo_corpus.passages(paper.id)]
    rows = [
        {"id": "a", "question": "What is BM25?", "answerable": True, "full": seen},
        {"id": "b", "question": "What is the XQZ score of whales?", "answerable": False, "full": []},
    ]
    common = {"corpus": "demo", "kind": "definition", "part": [], "leaning": [], "seen": seen}
    file = tmp_path / "judged.jsonl"
    file.write_text("\n".join(json.dumps(row | common) for row in rows))
    return file


def run(*arguments: str) -> tuple[int, str]:
    done = CliRunner().invoke(app, ["judged", *arguments])
    return done.exit_code, done.output


def test_an_answer_is_counted_by_the_sentences_it_cites(judged: Path, demo_home: Path) -> None:
    code, said = run(f"--home=demo={demo_home}", f"--data={judged}")
    assert code == 0, said
    counts = json.loads(said.splitlines()[-1])
    assert (counts["answerable"], counts["refused_wrongly"]) == (1, 0)
    assert (counts["unanswerable"], counts["refused_rightly"]) == (1, 1)
    assert counts["any_full"] == 1.0 and counts["beside"] == 0.0


@pytest.mark.parametrize(
    ("home", "said"), [("demo", "is not NAME=FOLDER"), ("other=/nowhere", "None of the questions")]
)
def test_a_home_that_is_not_named_is_told(judged: Path, home: str, said: str) -> None:
    code, output = run(f"--home={home}", f"--data={judged}")
    assert code == 2 and said in " ".join(output.split())


def test_every_judged_place_was_seen() -> None:
    rows = read_judged(JUDGED)
    assert len({row.id for row in rows}) == len(rows) > 1500
    for row in rows:
        seen = set(places(row.seen))
        assert set(places((*row.full, *row.part, *row.leaning))) <= seen, row.id
        assert row.answerable or not row.full, row.id


def test_nothing_asked_counts_nothing() -> None:
    assert counts_of([])["any_full"] == 0.0
