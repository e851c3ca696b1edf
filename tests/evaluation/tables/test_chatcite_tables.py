"""ChatCite's two tables through the command: without a model, with one and a judge, failed and resumed."""

from pathlib import Path
from typing import Any

import pytest

from evaluation.summaries import gold
from tests.assistant.comparing.comparing_model import ComparingModel
from tests.evaluation.commands import figures_in, invoke
from tests.evaluation.conftest import Serve
from tests.evaluation.summaries.gold_material import PAPERS, write_anthology, write_corwa, write_gold
from tests.evaluation.summaries.test_judge import judging
from tests.standin_chat import Behaviour, Received, refusal

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


class Run:
    """A run of a table's command: the figures of its JSON line, and its progress messages."""

    def __init__(self, data: Path, name: str, *more: str) -> None:
        places = ("--data", str(data), "--out", str(data.parent / "out"))
        result = invoke("table", name, *places, "--model", "writer", *more)
        self.told: dict[str, Any] = figures_in(result)
        self.doing = result.stderr
        self.rows = {row["system"]: row for row in self.told["measured"]}
        self.missing = {gap["what"]: gap["advice"] for gap in self.told["missing"]}


def test_a_model_and_a_judge_give_every_row_of_both_tables_from_one_experiment(
    data: Path, serve: Serve
) -> None:
    # Summaries of ComparingModel speak of what papers "take".
    model, judge = ComparingModel(), judging(lambda _, text: 4 if "take" in text else 2, gold=True)
    server = serve(lambda request: judge(request) if request.body["model"] == "judge" else model(request))
    results = Run(data, RESULTS, "--judge", "judge")
    written = ["zero-shot", "few-shot", "incremental, no reflection", "ChatCite's method"]
    assert list(results.rows) == [
        "lead sentences",
        "extractive",
        *(f"{method}, writer" for method in written),
    ]
    assert all(list(row["figures"]) == [*ROUGE, "G-Score"] for row in results.rows.values())
    lead, extractive = (results.rows[name]["figures"] for name in ("lead sentences", "extractive"))
    assert [lead[name] for name in ROUGE] == pytest.approx([57.3798, 39.9642, 49.5673], abs=1e-4)
    assert [extractive[name] for name in ROUGE] == pytest.approx([60.9280, 40.2550, 41.9292], abs=1e-4)
    scores = {name: row["figures"]["G-Score"] for name, row in results.rows.items()}
    assert (scores["lead sentences"], scores["ChatCite's method, writer"]) == (2, 4)
    assert results.missing == {}
    assert results.rows["zero-shot, writer"]["note"] == "on 2 of 2 sections; judged by judge on 2"
    sent = [request.body["messages"] for request in server.requests]
    prompts = [messages for messages in sent if "all at once" in messages[0]["content"]]
    assert sorted("Example 1" in system["content"] for system, _ in prompts) == [False, False, True, True]
    assert all(PAPERS[0][2] in user["content"] for _, user in prompts)
    asked = len(server.requests)
    ablations = Run(data, ABLATIONS, "--judge", "judge")
    names = ["all parts, writer", "no elements, writer", "no increments, writer", "no reflection, writer"]
    assert list(ablations.rows) == names
    assert (
        ablations.rows["all parts, writer"]["figures"] == results.rows["ChatCite's method, writer"]["figures"]
    )
    assert len(server.requests) == asked


def test_a_row_of_a_run_that_failed_in_part_is_shown_and_measured_again(data: Path, serve: Serve) -> None:
    model = ComparingModel()
    refused: list[Received] = []

    def behave(request: Received) -> Behaviour:
        if "all at once" in request.body["messages"][0]["content"] and not refused:
            refused.append(request)
            return refusal(400, "broken")
        return model(request)

    server = serve(behave)
    first = Run(data, RESULTS)
    assert first.rows["zero-shot, writer"]["note"] == "on 1 of 2 sections; it failed on 1"
    asked = len(server.requests)
    second = Run(data, RESULTS)
    assert len(server.requests) == asked + 1
    assert {row["note"] for row in second.rows.values()} == {"on 2 of 2 sections"}
    assert "Measuring" not in Run(data, RESULTS).doing
