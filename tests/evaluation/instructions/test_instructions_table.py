"""The table of instructions by its command, over a stand-in server: all kinds of replies, resumed, judged."""

import json
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from evaluation.tables.commands import TABLES
from tests.evaluation.commands import measured_table
from tests.evaluation.conftest import Serve
from tests.evaluation.instructions.sciriff_samples import INSTANCES, OUTPUTS, QUESTION, TITLE, write_lines
from tests.standin_chat import Behaviour, Received, StandinChat, dropped, reply

FORMED = len(INSTANCES) - 1
COLUMNS = list(TABLES["gengo-instructions"].columns)
SCORES = [name for name in COLUMNS if name.endswith((" F1", " judged", "ROUGE-L"))]
UNJUDGED = [name for name in SCORES if "judged" not in name]


def instruction_of(request: Received) -> str:
    return next(message["content"] for message in request.body["messages"] if message["role"] == "user")


def are_all(row: dict[str, Any], figure: float, names: Sequence[str] = UNJUDGED) -> bool:
    """Return True if these figures of a row are all the same."""
    return [row["figures"][name] for name in names] == pytest.approx([figure] * len(names))


def is_judging(request: Received) -> bool:
    return request.body["model"] == "judge"


def saying(change: Callable[[str], str] = lambda text: text) -> Callable[[Received], Behaviour]:
    """Answer with what is wanted, changed; the judge likes all."""

    def behave(request: Received) -> Behaviour:
        if is_judging(request):
            return reply(json.dumps({"explanation": "Alike.", "rating": 5}))
        return reply(change(OUTPUTS[instruction_of(request)]))

    return behave


@pytest.fixture
def served(serve: Serve, tmp_path: Path) -> StandinChat:
    write_lines(tmp_path / "data" / "sciriff" / "validation.jsonl")
    return serve(saying())


def run(folder: Path, *more: str) -> dict[str, Any]:
    return measured_table(folder, "gengo-instructions", "--model", "writer", *more)


def rows(told: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    held, free = told["measured"]
    assert (held["system"], free["system"]) == ("writer, held to the schema", "writer, free")
    return held, free


def test_perfect_replies_reach_100_in_both_ways(tmp_path, served):
    told = run(tmp_path)
    for row in rows(told):
        found = row["figures"]
        assert are_all(row, 100, (*UNJUDGED, "mean", "SciRIFF mean, unjudged"))
        assert (found["invalid at first %"], found["invalid at last %"]) == (0, 0)
        assert (found["prompt tokens"], found["completion tokens"]) == (11, 7)
        assert found["seconds"] > 0
        assert not {"SciRIFF mean", "MUP judged", "Qasper judged"} & found.keys()
        assert row["note"].startswith("12 items (validation: bioasq_list_qa 1, biored_ner 1,")
    assert [gap["what"] for gap in told["missing"]] == ["MUP judged and Qasper judged"]
    best = told["printed"][0]
    printed = [figure for name, figure in best["figures"].items() if name != "mean"]
    assert best["figures"]["mean"] == pytest.approx(sum(printed) / len(printed), abs=0.05)


def test_json_in_prose_is_found_where_the_model_is_free_and_refused_where_it_is_held(tmp_path, served):
    served.default = saying(
        lambda text: f"Here you are:\n\n{text}\n\nAsk for more." if text[0] in "[{" else text
    )
    held, free = rows(run(tmp_path))
    assert are_all(free, 100)
    assert (free["figures"]["invalid at first %"], free["figures"]["invalid at last %"]) == (100, 0)
    assert held["figures"]["MUP ROUGE-L"] == pytest.approx(100)
    assert {held["figures"][name] for name in UNJUDGED if name != "MUP ROUGE-L"} == {0}
    assert (held["figures"]["invalid at first %"], held["figures"]["invalid at last %"]) == (100, 100)
    # Each was asked once more, and that is paid for.
    assert held["figures"]["completion tokens"] == pytest.approx(7 * (2 * FORMED + 1) / (FORMED + 1))
    assert "no reply" not in held["note"] + free["note"]


def test_a_run_whose_server_goes_goes_on_where_it_was_and_pays_for_nothing_twice(
    tmp_path, served, monkeypatch
):
    monkeypatch.setenv("PAPER_TRAIL_MODEL_CALLS", "1")
    answered: Counter[tuple[str, bool]] = Counter()
    left = 4

    def behave(request: Received) -> Behaviour:
        nonlocal left
        if not left:
            return dropped()
        left -= 1
        answered[instruction_of(request), "response_format" in request.body] += 1
        return saying()(request)

    served.default = behave
    told = run(tmp_path)
    assert told["measured"] == []
    systems = [gap["what"] for gap in told["missing"]]
    assert systems == ["MUP judged and Qasper judged", "writer, held to the schema", "writer, free"]
    assert "ended the connection" in told["missing"][1]["advice"]
    # The line that a kill would have torn.
    (file,) = (tmp_path / "out" / "replies").glob("*.jsonl")
    with file.open("a", encoding="utf-8") as lines:
        lines.write('{"key": "0a1b')
    left = 1000
    for row in rows(run(tmp_path)):
        assert are_all(row, 100)
    assert set(answered.values()) == {1}
    assert len(answered) == 2 * len(INSTANCES) - 1


def test_a_judge_rates_answers_and_summaries(tmp_path, served):
    told = run(tmp_path, "--judge", "judge")
    assert told["missing"] == []
    for row in rows(told):
        assert are_all(row, 100, (*SCORES, "mean", "SciRIFF mean", "SciRIFF mean, unjudged"))
    judged = [request.body["messages"][1]["content"] for request in served.requests if is_judging(request)]
    # The same answer of both ways is rated once, and so is the summary.
    assert len(judged) == 2
    (answer,) = [prompt for prompt in judged if QUESTION in prompt]
    assert answer.count("A small encoder of six layers.") == 2
    assert f"⟦title⟧\n{TITLE}\n" in answer
    (summary,) = [prompt for prompt in judged if prompt is not answer]
    assert "Sum up." in summary
