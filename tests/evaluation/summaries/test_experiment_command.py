"""ChatCite's experiment through its command: all rows, a model and a judge, failures, killed and resumed."""

from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

from tests.assistant.comparing.comparing_model import ComparingModel
from tests.evaluation.commands import figures_in, invoke
from tests.evaluation.conftest import Serve
from tests.evaluation.summaries.gold_material import PAPERS, write_anthology, write_corwa
from tests.standin_chat import Behaviour, Received, refusal

ABLATIONS = ["without-elements", "without-increments", "without-reflection"]
MODEL_ROWS = ["zero-shot", "few-shot", "chatcite", *ABLATIONS]
ALL_ROWS = ["lead", "extractive", *MODEL_ROWS]


Run = Callable[..., Result]


@pytest.fixture
def run(tmp_path: Path, demo_home: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Return a function that runs the command on the small material."""
    # Of the home only the encoder's is used: the experiment's corpus is in its own folder.
    monkeypatch.setenv("PAPER_TRAIL_HOME", str(demo_home))
    corwa, data = write_corwa(tmp_path / "corwa.jsonl"), write_anthology(tmp_path / "data")
    places = ("--corwa", corwa, "--anthology", data, "--out", tmp_path / "out")
    return lambda *more: invoke("summary", "--table", *places, "--writer", "writer", *more)


def system_part(request: Received) -> str:
    return request.body["messages"][0]["content"]


def is_at_once(request: Received) -> bool:
    """Return True for the prompt of the baselines."""
    return "all at once" in system_part(request)


def test_with_a_model_every_row_is_run_and_paid(run: Run, serve: Serve):
    model = ComparingModel()
    server = serve(model)
    rows = figures_in(run())["rows"]
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


def test_a_system_that_fails_on_a_section_is_counted_and_asked_again(run: Run, serve: Serve):
    model = ComparingModel()
    refused = []

    def behave(request: Received) -> Behaviour:
        if is_at_once(request) and "Example 1" not in system_part(request) and len(refused) < 1:
            refused.append(request)
            return refusal(400, "broken")
        return model(request)

    server = serve(behave)
    result = run()
    figures = figures_in(result)
    assert (figures["gold"], figures["sections"]) == (2, 1)
    assert figures["rows"]["zero-shot"]["failed"] == 1
    assert figures["rows"]["chatcite"]["failed"] == 0
    assert "Zero-shot failed on section" in figures["problems"][0]
    assert "Zero-shot failed on section" in " ".join(result.stdout.split())
    asked = len(server.requests)
    assert figures_in(run())["sections"] == 2
    assert len(server.requests) == asked + 1
