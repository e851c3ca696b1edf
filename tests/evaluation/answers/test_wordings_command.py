"""The commands that measure how steady answers are, and whether what people highlighted is told first."""

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from corpus.encoders.base import SentenceEncoder
from evaluation.__main__ import app
from evaluation.answers.wordings import forms
from tests.small_corpus import make_paper, write_corpus


def measured(*arguments: str) -> Any:
    run = CliRunner().invoke(app, list(arguments))
    assert run.exit_code == 0, run.output
    return json.loads(run.output.splitlines()[-1])


@pytest.mark.long
def test_other_words_find_the_same_papers_and_the_unsaid_is_refused(demo_home: Path) -> None:
    figures = measured("wordings", "--corpus", str(demo_home), "--most", "3")
    assert figures["topics"] == figures["full_texts"] == 3
    assert figures["same_papers"] == 1.0
    assert figures["best_cited"] == 1.0
    assert figures["refused"]["What is this paper about?"] == 0
    assert set(figures["refused"]) == set(forms().one_paper)


def test_a_system_is_asked_what_its_paper_does_not_say(tmp_path: Path, encoder: SentenceEncoder) -> None:
    papers = {
        make_paper("notes", "a", title="FlourNet: Baking"): ["FlourNet bakes with a batch size of 3."],
        make_paper("notes", "b", title="Nothing named here"): ["It is about nothing."],
    }
    write_corpus(tmp_path / "corpus", encoder, papers)
    figures = measured("wordings", "--corpus", str(tmp_path))
    assert figures["near_misses"] == len(forms().near_misses) - 1
    assert figures["near_misses_refused"] == 1.0
    assert figures["topics"] == 0


def test_a_corpus_with_nothing_to_ask_about_is_told(tmp_path: Path, encoder: SentenceEncoder) -> None:
    write_corpus(tmp_path / "corpus", encoder, {make_paper("notes", "a", title="A"): ["One passage."]})
    run = CliRunner().invoke(app, ["wordings", "--corpus", str(tmp_path)])
    assert run.exit_code == 2
    assert "no topic that papers share" in run.output
