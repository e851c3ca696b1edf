"""ChatCite's experiment through its command: all rows, a model and a judge, failures, killed and resumed."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from click.testing import Result
from typer.testing import CliRunner

from evaluation.__main__ import app
from tests.assistant.comparing.comparing_model import ComparingModel
from tests.evaluation.summaries.gold_material import PAPERS, write_anthology, write_corwa
from tests.evaluation.summaries.test_judge import judging
from tests.standin_chat import Behaviour, Received, StandinChat, refusal

ABLATIONS = ["without-elements", "without-increments", "without-reflection"]
MODEL_ROWS = ["zero-shot", "few-shot", "chatcite", *ABLATIONS]
ALL_ROWS = ["lead", "extractive", *MODEL_ROWS]


class Experiment:
    """The command on the small material, in a folder of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        corwa, data = write_corwa(folder / "corwa.jsonl"), write_anthology(folder / "data")
        self.out = folder / "out"
        places = ("--corwa", str(corwa), "--anthology", str(data), "--out", str(self.out))
        self.arguments = ["summary", "--table", *places]

    def run(self, *more: str) -> Result:
        return CliRunner().invoke(app, [*self.arguments, *more])

    def figures(self, *more: str) -> dict:
        result = self.run(*more, "--json")
        assert result.exit_code == 0, result.output
        return json.loads(result.stdout)

    def failing(self, *more: str) -> str:
        result = self.run(*more)
        assert result.exit_code == 2, result.output
        return result.stderr


@pytest.fixture
def experiment(tmp_path: Path, demo_home: Path, monkeypatch: pytest.MonkeyPatch) -> Experiment:
    # Of the home only the encoder's is used: the experiment's corpus is in its own folder.
    monkeypatch.setenv("PAPER_TRAIL_HOME", str(demo_home))
    return Experiment(tmp_path)


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


def system_part(request: Received) -> str:
    return request.body["messages"][0]["content"]


def is_at_once(request: Received) -> bool:
    """Return True for the prompt of the baselines."""
    return "all at once" in system_part(request)


def test_with_a_model_every_row_is_run_and_paid(experiment: Experiment, served):
    model = ComparingModel()
    server = served(model)
    rows = experiment.figures("--writer", "m")["rows"]
    assert list(rows) == ALL_ROWS
    assert all(row["rouge"]["rouge1"]["mean"] > 0 and row["failed"] == 0 for row in rows.values())
    calls = {name: rows[name]["calls"]["mean"] for name in MODEL_ROWS}
    # Three papers: four texts read; 2, 4 and 6 samples; five votes a round.
    assert calls["chatcite"] == 4 + 12 + 15
    assert calls["zero-shot"] == calls["few-shot"] == 1
    assert calls["without-elements"] == 12 + 15
    assert calls["without-increments"] == 4 + 2 + 5
    assert calls["without-reflection"] == 4 + 3
    assert rows["zero-shot"]["tokens"]["mean"] == 18
    # The key elements of the whole method are not extracted again for its ablations.
    assert model.counts["elements"] == 2 * 4
    prompts = [request for request in server.requests if is_at_once(request)]
    assert sorted("Example 1" in system_part(request) for request in prompts) == [False, False, True, True]
    assert all(PAPERS[0][2] in request.body["messages"][1]["content"] for request in prompts)


def test_a_system_that_fails_on_a_section_is_counted_and_asked_again(experiment: Experiment, served):
    model = ComparingModel()
    refused = []

    def behave(request: Received) -> Behaviour:
        if is_at_once(request) and "Example 1" not in system_part(request) and len(refused) < 1:
            refused.append(request)
            return refusal(400, "broken")
        return model(request)

    server = served(behave)
    result = experiment.run("--writer", "m")
    assert result.exit_code == 0, result.output
    figures = json.loads(result.stdout.splitlines()[-1])
    assert (figures["gold"], figures["sections"]) == (2, 1)
    assert figures["rows"]["zero-shot"]["failed"] == 1
    assert figures["rows"]["chatcite"]["failed"] == 0
    assert "Zero-shot failed on section" in figures["problems"][0]
    assert "Zero-shot failed on section" in " ".join(result.stdout.split())
    asked = len(server.requests)
    assert experiment.figures("--writer", "m")["sections"] == 2
    assert len(server.requests) == asked + 1


def test_a_judge_marks_all_rows_of_a_section_once(experiment: Experiment, served):
    model, judge = ComparingModel(), judging(lambda _, text: 4 if "take" in text else 2, gold=True)
    server = served(lambda request: judge(request) if request.body["model"] == "judge" else model(request))
    arguments = ("--writer", "m", "--judge", "judge", "--votes", "2")
    figures = experiment.figures(*arguments)
    assert figures["judged"] == 2
    assert figures["rows"]["lead"]["g_score"] == {"mean": 2, "deviation": 0}
    assert figures["rows"]["chatcite"]["g_score"] == {"mean": 4, "deviation": 0}
    asked = len(server.requests)
    assert experiment.figures(*arguments) == figures
    assert len(server.requests) == asked
    experiment.figures("--writer", "m", "--judge", "judge", "--votes", "3")
    assert len(server.requests) == asked + 2 * 3
