"""ChatCite's two tables through the command: without a model, with one and a judge, failed and resumed."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from evaluation.__main__ import app
from tests.assistant.comparing.comparing_model import ComparingModel
from tests.evaluation.summaries.gold_material import write_anthology, write_corwa
from tests.evaluation.summaries.test_judge import judging
from tests.standin_chat import Behaviour, Received, StandinChat, refusal

ROUGE = ["ROUGE-1", "ROUGE-2", "ROUGE-L"]
RESULTS, ABLATIONS = "chatcite-summaries", "chatcite-ablations"
OTHER_VOLUME = (
    '<?xml version="1.0" encoding="UTF-8"?><collection id="2022.acl"><volume id="main" type="proceedings">'
    "<meta><booktitle>Others</booktitle><publisher>Nobody</publisher><year>2022</year><venue>acl</venue>"
    '</meta><frontmatter><bibkey>other</bibkey></frontmatter><paper id="1"><title>Of Another Year</title>'
    "<author><first>A</first><last>Other</last></author><bibkey>one</bibkey></paper></volume></collection>"
)


@pytest.fixture
def data(tmp_path: Path, demo_home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a data folder as sources.toml wants it, with two sections and a small Anthology."""
    # Of the home only the encoder's is used: the experiment's corpus is in its own folder.
    monkeypatch.setenv("PAPER_TRAIL_HOME", str(demo_home))
    data = tmp_path / "data"
    (data / "related_work").mkdir(parents=True)
    write_corwa(data / "related_work" / "corwa.jsonl")
    anthology = write_anthology(data / "acl_anthology")
    (anthology / "xml" / "2022.acl.xml").write_text(OTHER_VOLUME, encoding="utf-8")
    (anthology / "json").mkdir()
    (anthology / "json" / "venues.json").write_text("{}", encoding="utf-8")
    return data


@pytest.fixture
def served(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., StandinChat]]:
    """Return a function that starts a stand-in server with models "m" and "judge"."""
    models = tmp_path / "models.toml"
    entry = '[[models]]\nid = "{}"\nstructured = true\ncontext = 32768\n'
    models.write_text(entry.format("m") + entry.format("judge"), encoding="utf-8")
    monkeypatch.setenv("PAPER_TRAIL_MODELS_FILE", str(models))
    started: list[StandinChat] = []

    def start(default: Callable[[Received], Behaviour]) -> StandinChat:
        server = StandinChat(default=default)
        started.append(server)
        server.__enter__()
        monkeypatch.setenv("PAPER_TRAIL_MODEL_URL", server.url)
        return server

    yield start
    for server in started:
        server.__exit__(None, None, None)


class Run:
    """What a command said: its JSON line, and what it was doing."""

    def __init__(self, data: Path, name: str, *more: str) -> None:
        places = ("--data", str(data), "--out", str(data.parent / "out"))
        result = CliRunner().invoke(app, ["table", name, *places, *more])
        assert result.exit_code == 0, result.output
        self.told: dict[str, Any] = json.loads(result.stdout.splitlines()[-1])
        self.doing = result.stderr
        self.rows = {row["system"]: row for row in self.told["measured"]}
        self.missing = {one["what"]: one["advice"] for one in self.told["missing"]}


def by_judge(model: ComparingModel) -> Callable[[Received], Behaviour]:
    # Summaries of ComparingModel speak of what papers "take".
    judge = judging(lambda _, text: 4 if "take" in text else 2, gold=True)
    return lambda request: judge(request) if request.body["model"] == "judge" else model(request)


def test_a_model_and_a_judge_give_every_row_of_both_tables_from_one_experiment(
    data: Path, served: Callable[..., StandinChat]
) -> None:
    server = served(by_judge(ComparingModel()))
    results = Run(data, RESULTS, "--model", "m", "--judge", "judge")
    written = ["zero-shot, m", "few-shot, m", "incremental, no reflection, m", "ChatCite's method, m"]
    assert list(results.rows) == ["lead sentences", "extractive", *written]
    assert all(list(row["figures"]) == [*ROUGE, "G-Score"] for row in results.rows.values())
    scores = {name: row["figures"]["G-Score"] for name, row in results.rows.items()}
    assert (scores["lead sentences"], scores["ChatCite's method, m"]) == (2, 4)
    assert results.missing == {}
    assert results.rows["zero-shot, m"]["note"] == "on 2 of 2 sections; judged by judge on 2"
    asked = len(server.requests)
    ablations = Run(data, ABLATIONS, "--model", "m", "--judge", "judge")
    names = ["all parts, m", "no elements, m", "no increments, m", "no reflection, m"]
    assert list(ablations.rows) == names
    assert ablations.rows["all parts, m"]["figures"] == results.rows["ChatCite's method, m"]["figures"]
    assert len(server.requests) == asked


def test_a_row_of_a_run_that_failed_in_part_is_shown_and_measured_again(
    data: Path, served: Callable[..., StandinChat]
) -> None:
    model = ComparingModel()
    refused: list[Received] = []

    def behave(request: Received) -> Behaviour:
        if "all at once" in request.body["messages"][0]["content"] and not refused:
            refused.append(request)
            return refusal(400, "broken")
        return model(request)

    server = served(behave)
    first = Run(data, RESULTS, "--model", "m")
    assert first.rows["zero-shot, m"]["note"] == "on 1 of 2 sections; it failed on 1"
    asked = len(server.requests)
    second = Run(data, RESULTS, "--model", "m")
    assert len(server.requests) == asked + 1
    assert {row["note"] for row in second.rows.values()} == {"on 2 of 2 sections"}
    assert "Measuring" not in Run(data, RESULTS, "--model", "m").doing
