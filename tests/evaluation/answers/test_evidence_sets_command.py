"""Rows of candidates from data sets: small ones made here in their forms, and the real ones."""

import json

from typer.testing import CliRunner

from evaluation.__main__ import app


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
