"""Aspects and one sentence on a paper: the figures on real sets stay where they are."""

from pathlib import Path

import pytest

from evaluation.paper_summaries import measure_aspects, measure_tldr


@pytest.mark.long
def test_the_figures_on_aclsum_stay_where_they_are(shared: Path) -> None:
    figures = measure_aspects(shared / "data" / "summaries" / "aclsum.jsonl")
    assert figures.papers == 50
    ours, lead = figures.systems["ours"], figures.systems["lead"]
    for name, least in {"challenge": 9.4, "approach": 18.4, "outcome": 13.8}.items():
        assert ours[name]["rouge2"] > max(least, lead[name]["rouge2"])  # type: ignore[index]


@pytest.mark.long
def test_the_figures_on_scitldr_stay_where_they_are(shared: Path) -> None:
    figures = measure_tldr(shared / "data" / "summaries" / "scitldr.jsonl")
    assert figures.papers == 619
    found = {name: figures.systems[name]["tldr"]["rouge1"] for name in ("ours", "lead", "unshortened")}
    assert found["ours"] > max(41.5, found["lead"] + 11, found["unshortened"])
