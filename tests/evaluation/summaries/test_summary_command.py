"""Comparative summaries: from files of comparisons to figures, with gold text, and unusable votes."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from assistant.comparing.records import Comparison
from assistant.trail.comparison_file import comparison_to_json
from evaluation.summaries.summary import DIMENSIONS, judge_summaries, sentences_of
from tests.evaluation import standin_judge
from tests.evaluation.commands import figures_in, invoke
from tests.evaluation.conftest import Serve
from tests.evaluation.labelled import SUMMARY, comparison_of, system_of
from tests.evaluation.standin_judge import Marks, judge_over
from tests.standin_chat import Behaviour, Received, StandinChat, reply

WITHOUT_GOLD = DIMENSIONS[1:]


def judging(marks: Marks, gold: bool = False) -> Callable[[Received], Behaviour]:
    return standin_judge.judging(marks, DIMENSIONS if gold else WITHOUT_GOLD)


def a_vote(given: list[int], gold: bool = False, **changes: Any) -> dict[str, Any]:
    return standin_judge.a_vote(given, DIMENSIONS if gold else WITHOUT_GOLD, **changes)


SYSTEMS = (
    system_of("first", "The first text says it [1]."),
    system_of("second", "The second text says it [2]."),
    system_of("third", "The third text says it [3]."),
)
WORTH = {"first": 2, "second": 5, "third": 3}


def worth(place: int, text: str) -> int:
    return next(mark for name, mark in WORTH.items() if name in text)


@pytest.mark.parametrize(
    "bad",
    [
        "no JSON at all",
        json.dumps(a_vote([3, 3])),
        json.dumps(a_vote([3, 3, 6])),
        json.dumps(a_vote([3, 3, 3], best=4)),
        json.dumps(a_vote([3, 3, 3], best="the first")),
        json.dumps(a_vote([3, 3, 3], gold=True)),
        json.dumps(a_vote([3, 3, 3]))[:-20],
    ],
)
def test_malformed_votes_are_discarded_and_counted(bad):
    twice = (reply(bad), reply(bad))
    with StandinChat(*twice, default=judging(worth)) as server, judge_over(server) as judge:
        one_by_one = replace(judge, at_once=1)
        figures = judge_summaries(one_by_one, SYSTEMS, 3)
    assert figures.discarded == 1
    assert "twice" in figures.problems[0]
    assert {name: row.overall for name, row in figures.systems.items()} == WORTH
    assert figures.systems["second"].best == 2


def write(file: Path, comparison: Comparison) -> str:
    file.write_text(comparison_to_json(comparison), encoding="utf-8")
    return str(file)


@pytest.fixture(scope="module")
def ours(tmp_path_factory: pytest.TempPathFactory) -> str:
    return write(tmp_path_factory.mktemp("comparisons") / "ours.json", comparison_of())


@pytest.mark.parametrize(
    ("text", "paragraphs"),
    [
        (
            "# Related work\nOne [1]. Two [2].\n\n- Three [3].\n- Four.",
            (("One [1].", "Two [2]."), ("Three [3].", "Four.")),
        ),
        ("1. **One** is\nbroken [1].", (("One is broken [1].",),)),
        ("", ()),
        ("[1]", (("[1]",),)),
        ("## Only a heading", ()),
    ],
)
def test_sentences_stand_in_paragraphs_without_headings_and_marks(text, paragraphs):
    assert sentences_of(text) == paragraphs


def test_systems_of_two_files_are_judged_together(ours: str, tmp_path: Path, serve: Serve):
    other = write(tmp_path / "other.json", comparison_of(SUMMARY.replace("quick", "slow"), generator="judge"))
    server = serve(judging(lambda _, text: 2 if "slow" in text else 4))
    arguments = ["--comparison", ours, "--comparison", other, "--judge", "judge", "--votes", "3"]
    result = invoke("summary", *arguments)
    judged = figures_in(result)["judge"]
    assert (len(server.requests), judged["discarded"], judged["wrote"]) == (3, 0, ["other"])
    assert judged["dimensions"] == list(DIMENSIONS[1:])
    assert judged["systems"]["ours"]["overall"] == 4
    assert judged["systems"]["other"] == judged["systems"]["other"] | {"overall": 2, "best": 0}
    printed = " ".join(result.output.split())
    assert "The judge wrote other itself" in printed
    assert "asked 3 times" in printed
