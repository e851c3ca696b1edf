"""The table of instructions by its command, over a stand-in server: all kinds of replies, resumed, judged."""

import json
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from evaluation.__main__ import app
from evaluation.instructions import question_of, sampled, title_of
from evaluation.tables.commands import TABLES
from tests.evaluation.instructions.sciriff_samples import (
    IDS,
    INSTANCES,
    OUTPUTS,
    QUESTION,
    TITLE,
    instance,
    write_lines,
)
from tests.standin_chat import Behaviour, Received, StandinChat, dropped, refusal, reply

SUMMARY = next(one["input"] for one in INSTANCES if one["_instance_id"].startswith("mup"))
FORMED = len(INSTANCES) - 1
SCORES = [column.name for column in TABLES["gengo-instructions"].columns[:15]]
UNJUDGED = [name for name in SCORES if "judged" not in name]


def instruction_of(request: Received) -> str:
    return next(one["content"] for one in request.body["messages"] if one["role"] == "user")


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
def data(tmp_path: Path) -> Path:
    write_lines(tmp_path / "data" / "sciriff" / "validation.jsonl")
    return tmp_path / "data"


@pytest.fixture
def served(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[StandinChat]:
    models = tmp_path / "models.toml"
    models.write_text(
        '[[models]]\nid = "writer"\nstructured = true\n[[models]]\nid = "judge"\nstructured = true\n'
        '[[models]]\nid = "plain"\n',
        encoding="utf-8",
    )
    monkeypatch.setenv("PAPER_TRAIL_MODELS_FILE", str(models))
    monkeypatch.setenv("PAPER_TRAIL_MODEL_CALLS", "2")
    with StandinChat(default=saying()) as server:
        monkeypatch.setenv("PAPER_TRAIL_MODEL_URL", server.url)
        yield server


def run(data: Path, *arguments: str, model: str = "writer") -> dict[str, Any]:
    given = ["--data", str(data), "--out", str(data.parent / "out"), "--model", model, *arguments]
    result = CliRunner().invoke(app, ["table", "gengo-instructions", *given])
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout.splitlines()[-1])


def rows(told: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    held, free = told["measured"]
    assert (held["system"], free["system"]) == ("writer, held to the schema", "writer, free")
    return held, free


def test_perfect_replies_reach_100_in_both_ways(data, served):
    told = run(data)
    for row in rows(told):
        figures = row["figures"]
        assert are_all(row, 100, (*UNJUDGED, "mean, unjudged"))
        assert (figures["invalid at first %"], figures["invalid at last %"]) == (0, 0)
        assert (figures["prompt tokens"], figures["completion tokens"]) == (11, 7)
        assert figures["seconds"] > 0
        assert not {"mean", "MUP judged", "Qasper judged"} & figures.keys()
        assert row["note"].startswith("9 items (validation: bioasq_list_qa 1, biored_ner 1,")
    assert [one["what"] for one in told["missing"]] == ["MUP judged and Qasper judged"]
    assert told["printed"] == []


def test_only_what_is_held_is_asked_for_in_a_form_and_text_is_paid_for_once(data, served):
    run(data)
    asked = Counter((instruction_of(one), "response_format" in one.body) for one in served.requests)
    assert asked == Counter({(text, held): 1 for text in OUTPUTS for held in (True, False)}) - Counter(
        {(SUMMARY, True): 1}
    )
    for one in served.requests:
        assert (one.body["temperature"], one.body["max_tokens"]) == (0, 1024)
        assert [message["role"] for message in one.body["messages"]] == ["user"]


def test_items_are_asked_within_the_models_limits(data, served):
    served.default = lambda request: replace(saying()(request), wait_before=0.05)
    told = run(data)
    assert served.most_at_once == 2
    for row in rows(told):
        assert row["figures"]["seconds"] > 0.05


def test_a_measured_row_asks_for_nothing_again(data, served):
    first = run(data)
    count = len(served.requests)
    assert run(data)["measured"] == first["measured"]
    assert len(served.requests) == count


@pytest.mark.parametrize("said", ["", " \n"])
def test_empty_replies_count_as_wrong_and_are_named(data, served, said):
    served.default = reply(said)
    for row in rows(run(data)):
        assert {row["figures"][name] for name in (*UNJUDGED, "mean, unjudged")} == {0}
        assert (row["figures"]["invalid at first %"], row["figures"]["invalid at last %"]) == (100, 100)
        first, last = INSTANCES[0]["_instance_id"], INSTANCES[-1]["_instance_id"]
        assert f"no reply to 9 items, counted as wrong ({first}, " in row["note"]
        assert "and 4 more)" in row["note"]
        assert last not in row["note"]


def test_one_item_without_a_reply_is_named_alone(data, served):
    silent = INSTANCES[6]
    served.default = saying(lambda text: "" if text == silent["output"] else text)
    for row in rows(run(data)):
        assert row["figures"]["SciERC F1"] == 0
        assert row["figures"]["BioRED F1"] == pytest.approx(100)
        assert f"no reply to 1 item, counted as wrong ({silent['_instance_id']})" in row["note"]


def test_json_in_prose_is_found_where_the_model_is_free_and_refused_where_it_is_held(data, served):
    served.default = saying(
        lambda text: f"Here you are:\n\n{text}\n\nAsk for more." if text[0] in "[{" else text
    )
    held, free = rows(run(data))
    assert are_all(free, 100)
    assert (free["figures"]["invalid at first %"], free["figures"]["invalid at last %"]) == (100, 0)
    assert held["figures"]["MUP ROUGE-L"] == pytest.approx(100)
    assert {held["figures"][name] for name in UNJUDGED if name != "MUP ROUGE-L"} == {0}
    assert (held["figures"]["invalid at first %"], held["figures"]["invalid at last %"]) == (100, 100)
    # Each was asked once more, and that is paid for.
    assert held["figures"]["completion tokens"] == pytest.approx(7 * (2 * FORMED + 1) / (FORMED + 1))
    assert "no reply" not in held["note"] + free["note"]


def test_a_fence_around_json_is_no_fault(data, served):
    served.default = saying(lambda text: f"```json\n{text}\n```" if text[0] in "[{" else text)
    for row in rows(run(data)):
        assert are_all(row, 100)
        assert row["figures"]["invalid at first %"] == 0


def test_a_reply_that_is_mended_when_asked_once_more_counts_at_last(data, served):
    def behave(request: Received) -> Behaviour:
        text = OUTPUTS[instruction_of(request)]
        is_first = len(request.body["messages"]) == 1
        return reply(text[:-3] if is_first and text[0] in "[{" else text)

    served.default = behave
    held, free = rows(run(data))
    assert are_all(held, 100)
    assert (held["figures"]["invalid at first %"], held["figures"]["invalid at last %"]) == (100, 0)
    assert held["figures"]["completion tokens"] == pytest.approx(7 * (2 * FORMED + 1) / (FORMED + 1))
    assert (free["figures"]["invalid at first %"], free["figures"]["invalid at last %"]) == (100, 100)
    assert free["figures"]["BioRED F1"] == 0


def test_wrong_types_and_extra_keys_are_off_the_form_yet_scored_as_the_authors_do_when_free(data, served):
    changed = {
        "bioasq_list_qa": ["sleep", "appetite", 3],
        "scifact_entailment": {"verdict": "SUPPORT", "evidence": ["A helped in all."], "why": "It says so."},
        "qasper_abstractive_qa": {"answer": ["A small encoder", "of six layers."], "evidence": []},
        "scierc_ner": [["parsing", "Task"]],
    }

    def behave(request: Received) -> Behaviour:
        asked = instruction_of(request)
        value = changed.get(IDS[asked].partition(":")[0])
        return reply(OUTPUTS[asked] if value is None else json.dumps(value))

    served.default = behave
    held, free = rows(run(data))
    # Two of SciFact's and one each of the others, of eight.
    for row in (held, free):
        assert (row["figures"]["invalid at first %"], row["figures"]["invalid at last %"]) == (62.5, 62.5)
    assert free["figures"]["BioASQ F1"] == pytest.approx(100)
    assert free["figures"]["Qasper answer F1"] == pytest.approx(100)
    assert free["figures"]["SciFact label F1"] == pytest.approx(200 / 3)
    assert free["figures"]["SciERC F1"] == 0
    assert {held["figures"][name] for name in ("BioASQ F1", "Qasper answer F1", "SciFact label F1")} == {0}


def test_null_for_an_answer_has_its_form_and_no_credit(data, served):
    served.default = saying(lambda text: "null" if "answer" in text else text)
    for row in rows(run(data)):
        assert row["figures"]["Qasper answer F1"] == 0
        assert row["figures"]["invalid at last %"] == 0


def test_a_run_whose_server_goes_goes_on_where_it_was_and_pays_for_nothing_twice(data, served, monkeypatch):
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
    told = run(data)
    assert told["measured"] == []
    systems = [one["what"] for one in told["missing"]]
    assert systems == ["MUP judged and Qasper judged", "writer, held to the schema", "writer, free"]
    assert "ended the connection" in told["missing"][1]["advice"]
    # The line that a kill would have torn.
    (file,) = (data.parent / "out" / "replies").glob("*.jsonl")
    with file.open("a", encoding="utf-8") as lines:
        lines.write('{"key": "0a1b')
    left = 1000
    for row in rows(run(data)):
        assert are_all(row, 100)
    assert set(answered.values()) == {1}
    assert len(answered) == 2 * len(INSTANCES) - 1


def test_an_error_on_one_item_costs_that_item_and_is_said(data, served):
    def behave(request: Received) -> Behaviour:
        if "orexin" in instruction_of(request):
            return refusal(400, "the prompt is too long")
        return saying()(request)

    served.default = behave
    for row in rows(run(data)):
        assert row["figures"]["BioASQ F1"] == 0
        assert row["figures"]["SciERC F1"] == pytest.approx(100)
        assert "an error for 1 item, counted as wrong (bioasq_list_qa:validation:0): " in row["note"]
        assert "the prompt is too long" in row["note"]


def test_a_model_that_answers_nothing_but_errors_is_missing(data, served):
    served.default = refusal(401)
    told = run(data)
    assert told["measured"] == []
    assert "refused the API key" in told["missing"][1]["advice"]


def test_a_judge_rates_answers_and_summaries(data, served):
    told = run(data, "--judge", "judge")
    assert told["missing"] == []
    for row in rows(told):
        assert are_all(row, 100, (*SCORES, "mean", "mean, unjudged"))
    judged = [one.body["messages"][1]["content"] for one in served.requests if is_judging(one)]
    # The same answer of both ways is rated once, and so is the summary.
    assert len(judged) == 2
    (answer,) = [one for one in judged if QUESTION in one]
    assert answer.count("A small encoder of six layers.") == 2
    assert f"⟦title⟧\n{TITLE}\n" in answer
    (summary,) = [one for one in judged if one is not answer]
    assert "Sum up." in summary


def test_ratings_are_shares_of_the_scale_and_what_cannot_be_rated_is_left_out(data, served):
    def behave(request: Received) -> Behaviour:
        if not is_judging(request):
            return saying()(request)
        is_answer = QUESTION in request.body["messages"][1]["content"]
        return reply(json.dumps({"explanation": "So so.", "rating": 4}) if is_answer else "Rating: 5")

    served.default = behave
    held, free = rows(run(data, "--judge", "judge"))
    for row in (held, free):
        assert row["figures"]["Qasper judged"] == pytest.approx(75)
        assert "MUP judged" not in row["figures"]
        assert "mean" not in row["figures"]
        assert "1 rating left out, as it could not be had" in row["note"]


def test_what_was_not_answered_is_rated_lowest_without_asking(data, served):
    served.default = reply("")
    for row in rows(run(data, "--judge", "judge")):
        assert (row["figures"]["Qasper judged"], row["figures"]["MUP judged"]) == (0, 0)
    assert not any(map(is_judging, served.requests))


def test_a_judge_of_its_own_replies_is_said(data, served):
    def behave(request: Received) -> Behaviour:
        is_rating = "rating" in request.body["messages"][0]["content"]
        return reply('{"explanation": "x", "rating": 1}') if is_rating else saying()(request)

    served.default = behave
    for row in rows(run(data, "--judge", "writer")):
        assert "the judge is the model itself" in row["note"]


def test_a_judge_adds_no_calls_to_the_writer(data, served):
    run(data)
    count = len(served.requests)
    run(data, "--judge", "judge")
    assert all(map(is_judging, served.requests[count:]))
    assert len(served.requests) > count


def test_a_server_that_cannot_hold_is_told_the_schema_and_that_is_said(data, served):
    held, free = run(data, model="plain")["measured"]
    assert "told in words" in held["note"]
    assert "told in words" not in free["note"]
    assert not any("response_format" in one.body for one in served.requests)
    assert sum(one.body["messages"][0]["role"] == "system" for one in served.requests) == FORMED


def test_replies_that_ran_out_of_tokens_are_counted(data, served):
    def behave(request: Received) -> Behaviour:
        return replace(saying()(request), finish_reason="length")

    served.default = behave
    for row in rows(run(data)):
        assert "the last reply to 9 items ran out of tokens" in row["note"]


def test_what_is_not_here_is_said(data, served, tmp_path):
    told = run(data, model="unknown")
    assert told["missing"][1]["what"] == "unknown"
    assert "There are: writer, judge, plain, " in told["missing"][1]["advice"]
    assert served.requests == []
    (missing,) = run(tmp_path / "nothing")["missing"]
    assert "fetch sciriff" in missing["advice"]
    unknown = run(data, "--judge", "nobody")["missing"][0]
    assert unknown["advice"].startswith("nobody cannot be asked here; name a judge")


def test_real_claims_stand_in(shared, served, tmp_path):
    def behave(request: Received) -> Behaviour:
        first = instruction_of(request).partition("Abstract:\n")[2].split("\n")[0]
        return reply(json.dumps({"verdict": "SUPPORT", "evidence": [first]}))

    served.default = behave
    given = ["--data", str(shared / "data"), "--out", str(tmp_path), "--model", "writer", "--limit", "3"]
    result = CliRunner().invoke(app, ["table", "gengo-instructions", *given, "--json"])
    told = json.loads(result.stdout)
    (stand_in,) = told["stand_ins"]
    assert "SciFact" in stand_in
    for row in rows(told):
        assert row["note"].startswith("3 items (train: scifact_entailment 3)")
        assert 0 <= row["figures"]["SciFact label F1"] <= 100
        assert "mean, unjudged" not in row["figures"]


def test_a_wide_table_lies_on_its_side_in_a_terminal(data, served):
    given = ["--data", str(data), "--out", str(data.parent / "out"), "--model", "writer"]
    shown = CliRunner().invoke(app, ["table", "gengo-instructions", *given]).stdout
    (line,) = [one for one in shown.splitlines() if one.strip().startswith("SciERC F1")]
    assert line.split() == ["SciERC", "F1", "100.0", "100.0"]


def test_the_ids_of_items_are_shown_as_they_are(data, served):
    served.default = reply("")
    write_lines(data / "sciriff" / "validation.jsonl", [instance("scierc_ner", 1, "x", {}, split="train")])
    given = ["--data", str(data), "--out", str(data.parent / "out"), "--model", "writer"]
    shown = CliRunner().invoke(app, ["table", "gengo-instructions", *given]).stdout
    assert "(scierc_ner:train:1)" in shown.partition("{")[0]


def test_of_summaries_100_are_rated_always_the_same():
    chosen = sampled(list(range(250)))
    assert len(set(chosen)) == 100
    assert chosen == sorted(chosen) == sampled(list(range(250)))
    assert sampled(list(range(7))) == list(range(7))


@pytest.mark.parametrize(
    ("instruction", "title", "question"),
    [
        (INSTANCES[5]["input"], TITLE, QUESTION),
        ("No paper", "", ""),
        ("Question: Only this?", "", "Only this?"),
    ],
)
def test_title_and_question_are_read_of_an_instruction(instruction, title, question):
    assert (title_of(instruction), question_of(instruction)) == (title, question)
