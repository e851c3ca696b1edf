"""`evaluation corpus` on the demonstration: what it measures is kept and is of that version."""

import shutil
from pathlib import Path

import pytest

from corpus.measured import read_measured
from corpus.store.manifest import read_manifest
from tests.evaluation.commands import figures, invoke


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
