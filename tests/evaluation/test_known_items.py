"""Known items, made of the papers themselves and found; all figures of a corpus; figures on real sets."""

import random
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from corpus.encoders.base import Encoder
from corpus.measured import read_measured
from corpus.records import Author
from corpus.store.manifest import read_manifest
from evaluation.known_items import known_items, misspell
from tests.evaluation.commands import figures, invoke
from tests.small_corpus import make_paper, write_corpus

PAPERS = [
    replace(
        make_paper("notes", "link", title="LinkBERT: Pretraining Language Models with Document Links"),
        authors=(Author("Percy", "Liang"),),
        doi="10.1000/1",
    ),
    replace(
        make_paper("notes", "cake", title="Cakes without Butter and Flour"),
        authors=(Author("", "Bakers"),),
        abstract="We bake with LinkBERT and FlourNet.",
    ),
    replace(make_paper("notes", "oven", title="Ovens"), abstract="Heat comes from OvenGPT."),
]


def test_queries_are_made_of_the_papers() -> None:
    made = {(item.kind, item.query) for item in known_items(PAPERS, random.Random(1))}
    assert {
        ("title", "Cakes without Butter and Flour"),
        ("quoted words of a title", '"Cakes without Butter and"'),
        ("system name", "LinkBERT"),
        ("system name, split", "Link BERT"),
        ("name in an abstract, in a question", "What is FlourNet?"),
        ("the same, compared with another", "OvenGPT vs FlourNet: how do they differ?"),
        ("author", "Percy Liang"),
        ("author, initial", "P. Liang"),
        ("id", "notes/cake"),
        ("doi", "10.1000/1"),
    } <= made
    assert made == {(item.kind, item.query) for item in known_items(PAPERS, random.Random(1))}


def test_a_slip_changes_a_word_but_not_its_first_letter() -> None:
    for seed in range(200):
        slip = misspell("LinkBERT", random.Random(seed))
        assert slip != "LinkBERT"
        assert slip[0] == "L"
        assert abs(len(slip) - len("LinkBERT")) <= 1


def test_the_command_ends_with_its_figures(tmp_path: Path, encoder: Encoder) -> None:
    write_corpus(tmp_path / "corpus", encoder, {paper: [f"{paper.title}. Text."] for paper in PAPERS})
    found = figures("known-items", "--home", tmp_path, "--most", 3)
    assert found["system name, split"] == {"queries": 1, "first": 1.0, "in_ten": 1.0}
    assert found["author"]["in_ten"] == 1.0


def test_without_papers_nothing_is_measured(tmp_path: Path) -> None:
    result = invoke("known-items", "--home", tmp_path)
    assert result.exit_code == 2
    assert "no corpus" in result.output


@pytest.mark.long
def test_a_corpus_is_measured_and_the_figures_are_kept_beside_it(demo_home: Path, tmp_path: Path) -> None:
    home = tmp_path / "home"
    shutil.copytree(demo_home, home)
    found = figures("corpus", "--home", home, "--most", 2)
    measured = read_measured(home / "measured.json")
    assert measured is not None and measured.is_of(read_manifest(home / "corpus"))
    shares = {share.counted: share for share in measured.shares}
    assert shares["papers found first by their titles"].share == 1.0
    assert shares["questions to other papers refused"].of > 10
    assert not shares["questions that these papers answer refused"].is_good
    assert measured.command == "paper-trail eval corpus --most 2"
    assert len(found["measured"]["shares"]) == len(shares) >= 6
    assert str(tmp_path) not in (home / "measured.json").read_text(encoding="utf-8")


def test_where_there_is_no_corpus_nothing_is_kept(tmp_path: Path) -> None:
    run = invoke("corpus", "--home", tmp_path)
    assert (run.exit_code, "There is no corpus" in run.stderr) == (2, True)
    assert list(tmp_path.iterdir()) == []
