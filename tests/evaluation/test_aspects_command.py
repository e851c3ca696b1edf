"""The evaluation's aspects command: what it prints, what it scores, and what it refuses."""

from pathlib import Path

import pytest

from evaluation.paper_summaries import measure_aspects


@pytest.mark.long
def test_the_figures_on_aclsum_stay_where_they_are(shared: Path) -> None:
    figures = measure_aspects(shared / "data" / "summaries" / "aclsum.jsonl")
    assert figures.papers == 50
    for name, least in {"challenge": 9.4, "approach": 18.4, "outcome": 13.8}.items():
        assert figures.systems["ours"][name]["rouge2"] > least  # type: ignore[index]
        assert figures.systems["ours"][name]["rouge2"] > figures.systems["lead"][name]["rouge2"]  # type: ignore[index]
