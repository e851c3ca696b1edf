"""The evaluation's commands for one sentence on a paper: what they print, read, refuse and fit."""

from pathlib import Path

import pytest

from evaluation.paper_summaries import measure_tldr


@pytest.mark.long
def test_the_figures_on_scitldr_stay_where_they_are(shared: Path) -> None:
    figures = measure_tldr(shared / "data" / "summaries" / "scitldr.jsonl")
    assert figures.papers == 619
    assert figures.systems["ours"]["highest"]["rouge1"] > 41.5
    assert figures.systems["ours"]["highest"]["rouge1"] > figures.systems["lead"]["highest"]["rouge1"] + 11
    assert figures.systems["ours"]["highest"]["rouge1"] > figures.systems["unshortened"]["highest"]["rouge1"]
