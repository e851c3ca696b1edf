"""Summaries of papers: ours beside models, over a stand-in server, and our figures on real sets."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from evaluation.paper_summaries import measure_aspects, measure_tldr
from tests.evaluation.commands import measured_table, write_lines
from tests.evaluation.conftest import Serve
from tests.standin_chat import Behaviour, Received, StandinChat, reply


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


ABSTRACT = (
    "Parsers are slow on long sentences.",
    "In this paper, we propose a parser that reads a sentence from left to right in linear time.",
    "Experiments show that it is twice as fast as chart parsers on news text.",
)
TARGET = "A parser that reads a sentence from left to right in linear time."
ASPECTS = {"challenge": ABSTRACT[0], "approach": ABSTRACT[1], "outcome": ABSTRACT[2]}


@pytest.fixture(autouse=True)
def data(tmp_path: Path) -> None:
    told = {"split": "dev", "source": ABSTRACT, "targets": [TARGET]}
    papers = [{"id": f"p{at}", "title": f"A parser in linear time {at}", **told} for at in range(3)]
    write_lines(tmp_path / "data" / "summaries" / "scitldr.jsonl", *papers)
    told = {"split": "val", "source": {"abstract": ABSTRACT}, "aspects": ASPECTS}
    aclsum = [{"id": f"q{at}", "title": f"A parser in linear time {at}", **told} for at in range(2)]
    write_lines(tmp_path / "data" / "summaries" / "aclsum.jsonl", *aclsum)


def writing(tldr: str = TARGET) -> Callable[[Received], Behaviour]:
    def behave(request: Received) -> Behaviour:
        is_tldr = "The one sentence:" in request.body["messages"][-1]["content"]
        return reply(tldr if is_tldr else json.dumps(ASPECTS))

    return behave


@pytest.fixture
def server(serve: Serve) -> StandinChat:
    return serve(writing())


def test_a_model_is_asked_once_for_each_paper_and_each_set(tmp_path: Path, server: StandinChat) -> None:
    row = measured_table(tmp_path, "gengo-summaries", "--model", "writer")["measured"][-1]
    assert row["system"] == "writer"
    assert row["figures"]["SciTLDR ROUGE-1"] == pytest.approx(100)
    assert [row["figures"][f"{name} ROUGE-L"] for name in ASPECTS] == pytest.approx([100] * 3)
    assert row["note"] == "3 papers of SciTLDR, 2 of ACLSum"
    asked = len(server.requests)
    assert asked == 3 + 2
    measured_table(tmp_path, "gengo-summaries", "--model", "writer", "--limit", "2")
    assert len(server.requests) == asked


def test_a_model_that_writes_nothing_counts_as_wrong_and_is_named(
    tmp_path: Path, server: StandinChat
) -> None:
    server.default = writing(tldr=" ")
    row = measured_table(tmp_path, "gengo-summaries", "--model", "writer")["measured"][-1]
    assert row["figures"]["SciTLDR ROUGE-1"] == 0
    assert "nothing written for 3 papers, counted as wrong (p0, p1, p2)" in row["note"]
