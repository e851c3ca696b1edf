"""ChatCite's two tables through the command: without a model, with one and a judge, failed and resumed."""

import json
import re
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from evaluation.summaries import gold
from tests.assistant.comparing.comparing_model import ComparingModel, labels_of
from tests.evaluation.commands import figures_in, invoke
from tests.evaluation.conftest import Serve
from tests.evaluation.summaries.gold_material import (
    PAPERS,
    write_anthology,
    write_corwa,
    write_gold,
    write_sets,
)
from tests.evaluation.summaries.test_summary_command import judging
from tests.standin_chat import Behaviour, Received, refusal, reply

PLAN, SUMMARY, WHOLE, GUIDANCE = "You plan the section", "You summarise", "all at once", "How to go about it"
WRITTEN = [
    "zero-shot",
    "few-shot",
    "LitLLM's way, a plan first",
    "incremental, no reflection",
    "ChatCite's method",
]
ROUGE = ["ROUGE-1", "ROUGE-2", "ROUGE-L"]
RESULTS, ABLATIONS = "chatcite-summaries", "chatcite-ablations"


@pytest.fixture
def data(tmp_path: Path, demo_home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a data folder as sources.toml wants it, with two sections and a small Anthology."""
    # Of the home only the encoder's is used: the experiment's corpus is in its own folder.
    monkeypatch.setenv("PAPER_TRAIL_HOME", str(demo_home))
    data = tmp_path / "data"
    (data / "related_work").mkdir(parents=True)
    write_corwa(data / "related_work" / "corwa.jsonl")
    monkeypatch.setattr(gold, "GOLD", write_gold(tmp_path / "gold.jsonl"))
    anthology = write_anthology(data / "acl_anthology")
    write_anthology(anthology, [(["Other"], "Of Another Year", "")], "2022.acl")
    (anthology / "json").mkdir()
    (anthology / "json" / "venues.json").write_text("{}", encoding="utf-8")
    return data


class Writer:
    """A model that also summarises and plans; a summary names the text by its first words."""

    def __init__(self) -> None:
        self._compares = ComparingModel()

    def __call__(self, request: Received) -> Behaviour:
        system, user = (message["content"] for message in request.body["messages"][:2])
        if system.startswith(SUMMARY):
            begin = user.split("⟦text⟧\n")[1].split()[:6]
            return reply(f"In short: {' '.join(begin)}.")
        if system.startswith(PLAN):
            first, *others = labels_of(request)
            return reply(json.dumps({"sentences": [[first], others, []]}))
        return self._compares(request)


class Run:
    """A run of a table's command: the figures of its JSON line, and its progress messages."""

    def __init__(self, data: Path, name: str, *more: str) -> None:
        places = ("--data", str(data), "--out", str(data.parent / "out"))
        result = invoke("table", name, *places, "--model", "writer", *more)
        self.told: dict[str, Any] = figures_in(result)
        self.doing = result.stderr
        self.rows = {row["system"]: row for row in self.told["measured"]}
        self.missing = {gap["what"]: gap["advice"] for gap in self.told["missing"]}


def prompts_of(requests: list[Received], beginning: str, *, within: bool = False) -> list[tuple[str, str]]:
    """Return system and user parts of the prompts whose system part begins with, or has, a text."""
    sent = [tuple(message["content"] for message in request.body["messages"][:2]) for request in requests]
    return [
        (own[0], own[1]) for own in sent if (beginning in own[0] if within else own[0].startswith(beginning))
    ]


def test_a_model_and_a_judge_give_every_row_of_both_tables_from_one_experiment(
    data: Path, serve: Serve
) -> None:
    # Summaries of ComparingModel speak of what papers "take".
    model, judge = Writer(), judging(lambda _, text: 4 if "take" in text else 2, gold=True)
    server = serve(lambda request: judge(request) if request.body["model"] == "judge" else model(request))
    results = Run(data, RESULTS, "--judge", "judge")
    assert list(results.rows) == ["lead sentences", "extractive", *(f"{name}, writer" for name in WRITTEN)]
    assert all(list(row["figures"]) == [*ROUGE, "G-Score"] for row in results.rows.values())
    lead, extractive = (results.rows[name]["figures"] for name in ("lead sentences", "extractive"))
    assert [lead[name] for name in ROUGE] == pytest.approx([57.3798, 39.9642, 49.5673], abs=1e-4)
    assert [extractive[name] for name in ROUGE] == pytest.approx([60.9280, 40.2550, 41.9292], abs=1e-4)
    scores = {name: row["figures"]["G-Score"] for name, row in results.rows.items()}
    assert (scores["lead sentences"], scores["ChatCite's method, writer"]) == (2, 4)
    assert results.missing == {}
    assert results.rows["lead sentences"]["note"] == "on 2 of 2 sections; judged by judge on 2"
    assert results.rows["zero-shot, writer"]["note"] == (
        "on 2 of 2 sections; judged by judge on 2; in two steps, from summaries of the references;"
        " the work described by its abstract (1), words of the references' titles (1)"
    )
    asked = len(server.requests)
    ablations = Run(data, ABLATIONS, "--judge", "judge")
    names = ["few-shot", "all parts", "no elements", "no increments", "no reflection"]
    assert list(ablations.rows) == [f"{name}, writer" for name in names]
    assert (
        ablations.rows["all parts, writer"]["figures"] == results.rows["ChatCite's method, writer"]["figures"]
    )
    assert len(server.requests) == asked
    (plot,) = (data.parent / "out").rglob("g-scores.svg")
    titles = [
        element.text or "" for element in ElementTree.parse(plot).iter() if element.tag.endswith("title")
    ]
    assert len(titles) == 28  # six qualities and all of them, of four systems
    assert titles[-1] == "overall, no reflection: median 4.00"


def test_baselines_and_ablations_are_prompted_as_in_the_paper(data: Path, serve: Serve) -> None:
    server = serve(Writer())
    Run(data, RESULTS)
    summarised = [user for _, user in prompts_of(server.requests, SUMMARY)]
    # Four references, each once, and the citing paper that is known.
    assert len(summarised) == 5
    assert sum("We parse sentences into trees" in user for user in summarised) == 1
    short = [f"In short: {' '.join(PAPERS[at][2].split()[:6])}." for at in range(4)]
    whole = prompts_of(server.requests, WHOLE, within=True)
    kinds = [("Example 1" in system, GUIDANCE in system, "to this plan" in user) for system, user in whole]
    assert sorted(kinds) == sorted(
        2 * [(False, False, False), (True, False, False), (False, False, True), (True, True, False)]
    )
    first = [user for _, user in whole if short[1] in user]
    assert len(first) == 4
    for user in first:
        assert all(text in user for text in short[:3])
        assert PAPERS[0][2] not in user
        assert "In short: Parsing Sentences into Trees. We parse." in user
    planned = next(user for user in first if "to this plan" in user)
    assert "plan of 3 sentences:\n- Sentence 1: cites [1].\n- Sentence 2: cites [2][3].\n" in planned
    assert "- Sentence 3: cites nothing." in planned
    # Without elements a reference is known to writers and voters by its summary.
    bare = [
        user for _, user in prompts_of(server.requests, "You write the part of a paper") if short[0] in user
    ]
    assert bare
    assert not any("Methodology:" in user for user in bare)
    votes = prompts_of(server.requests, "Several drafts", within=True)
    assert any(f"[1] {short[0]}" in user for _, user in votes)


def test_a_model_of_long_context_is_given_the_texts_in_one_step(
    data: Path, serve: Serve, tmp_path: Path
) -> None:
    server = serve(Writer())
    models = tmp_path / "models.toml"
    models.write_text(models.read_text("utf-8").replace("32768", "131072"), "utf-8")
    results = Run(data, RESULTS)
    assert "; in one step;" in results.rows["zero-shot, writer"]["note"]
    whole = prompts_of(server.requests, WHOLE, within=True)
    assert all((PAPERS[0][2] in user) != (GUIDANCE in system) for system, user in whole)


def test_repeated_runs_are_written_anew_and_their_spread_is_shown(data: Path, serve: Serve) -> None:
    judge = judging(lambda _, text: 5 if "take 1 " in text or "take 2 " in text else 3, gold=True)
    model = Writer()
    server = serve(lambda request: judge(request) if request.body["model"] == "judge" else model(request))
    once = Run(data, ABLATIONS, "--judge", "judge")
    asked = len(prompts_of(server.requests, SUMMARY))
    twice = Run(data, ABLATIONS, "--judge", "judge", "--repeat", "2")
    assert len(prompts_of(server.requests, SUMMARY)) == 2 * asked
    assert once.rows["few-shot, writer"]["note"].startswith("on 2 of 2 sections; judged by judge on 2;")
    note = twice.rows["few-shot, writer"]["note"]
    assert note.startswith(
        "on 4 of 4 sections in 2 runs; judged by judge on 4; means of whole runs: ROUGE-1 ± "
    )
    assert re.search(r"G-Score ± \d\.\d\d;", note)
    assert twice.told["command"].endswith("--judge judge --repeat 2")
    asked = len(server.requests)
    assert Run(data, ABLATIONS, "--judge", "judge", "--repeat", "2").rows == twice.rows
    assert len(server.requests) == asked


def test_nudtrwg_citation_is_used_where_its_file_is_there(data: Path, serve: Serve) -> None:
    write_sets(data / "related_work" / "nudtrwg_citation.jsonl")
    server = serve(Writer())
    results = Run(data, RESULTS)
    assert results.told["stand_ins"] == []
    assert results.rows["few-shot, writer"]["note"].endswith("the work described by its whole text (1)")
    read = [user for _, user in prompts_of(server.requests, "You read one research text")]
    assert any("The index has nine shards." in user and PAPERS[0][2] in user for user in read)


def test_a_row_of_a_run_that_failed_in_part_is_shown_and_measured_again(data: Path, serve: Serve) -> None:
    model = Writer()
    refused: list[Received] = []

    def behave(request: Received) -> Behaviour:
        if WHOLE in request.body["messages"][0]["content"] and not refused:
            refused.append(request)
            return refusal(400, "broken")
        return model(request)

    server = serve(behave)
    first = Run(data, RESULTS)
    assert first.rows["zero-shot, writer"]["note"].startswith("on 1 of 2 sections; it failed on 1;")
    asked = len(server.requests)
    second = Run(data, RESULTS)
    assert len(server.requests) == asked + 1
    assert all(row["note"].startswith("on 2 of 2 sections") for row in second.rows.values())
    assert "Measuring" not in Run(data, RESULTS).doing


def test_fault_a_baseline_that_cited_nothing_took_the_rows_of_all_others(data: Path, serve: Serve) -> None:
    model = Writer()

    def behave(request: Received) -> Behaviour:
        is_style_shown = WHOLE in request.body["messages"][0]["content"] and "example" in str(request.body)
        return reply("A text that cites nothing.") if is_style_shown else model(request)

    serve(behave)
    results = Run(data, RESULTS)
    assert results.missing["few-shot, writer"].startswith("It finished none of 2 sections. In round 1")
    assert results.rows["ChatCite's method, writer"]["note"].startswith("on 2 of 2 sections")
