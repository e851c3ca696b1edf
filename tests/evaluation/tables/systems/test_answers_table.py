"""TruthReader's table of answers by its command: without a model, and with one over a stand-in server."""

from pathlib import Path

import pytest

from evaluation.judged import counts_of, measure_judged
from evaluation.tables.systems import read_chosen
from tests.evaluation.tables.systems.conftest import Measure
from tests.evaluation.tables.systems.standin_reader import NO_ANSWER, JudgedReader, question_in, told_of
from tests.standin_chat import Behaviour, Received, StandinChat, cut_off, refusal, reply

TABLE = "truthreader-answers"
DEMO = [one for one in read_chosen() if one.judged.corpus == "demo"]
WITH_WRITER = ("--model", "writer", "--limit", "4")


def test_without_a_model_it_counts_as_the_judged_questions_do(measure: Measure, demo_home: Path) -> None:
    told = measure(TABLE, "--limit", "6")
    (row,) = told["measured"]
    counts = counts_of(measure_judged([one.judged for one in DEMO[:6]], {"demo": demo_home}))
    figures = row["figures"]
    assert figures["answer accuracy"] == pytest.approx(100 * counts["any_full"])
    assert figures["citation precision"] == 100
    assert 1 <= figures["citations"] <= 6
    assert 0 <= figures["refusal recall"] <= 100
    assert row["system"] == "extractive"
    assert row["note"].startswith("6 of 88 questions (demo 6); ")
    assert {one["system"] for one in told["printed"]} == {"GPT-4", "Qwen-14B, adapted", "Mixtral, adapted"}


def test_what_is_not_given_is_named_with_how_it_is_built(measure: Measure) -> None:
    told = measure(TABLE, home="")
    assert told["measured"] == []
    advice = {one["what"]: one["advice"] for one in told["missing"]}
    assert list(advice) == [
        f"22 questions of the corpus {name}" for name in ("demo", "acl-2022", "findings-2022", "acl-pdfs")
    ]
    assert "paper-trail index acl 2022.acl-long, then --home acl-2022=FOLDER" in [*advice.values()][1]


def test_another_corpus_than_was_judged_is_not_measured(measure: Measure) -> None:
    told = measure(TABLE, home="acl-2022")
    assert told["measured"] == []
    assert any("it is not the corpus acl-2022 as" in one["advice"] for one in told["missing"])


def test_a_model_that_quotes_what_answers_and_else_refuses_is_right(
    measure: Measure, served: StandinChat
) -> None:
    told = measure(TABLE, *WITH_WRITER)
    _, row = told["measured"]
    assert row["system"] == "writer"
    assert row["figures"] == {
        "answer accuracy": 100,
        "refusal recall": 100,
        "citation precision": 100,
        "citations": 1,
    }
    assert row["note"] == "4 of 88 questions (demo 4); 0 refused that can be answered"


def test_a_model_that_answers_in_any_case_is_wrong(measure: Measure, served: StandinChat) -> None:
    served.default = reply("Whales sing in the winter of the north [1]. Bats do not [77].")
    assert measure(TABLE, *WITH_WRITER)["measured"][1]["figures"]["answer accuracy"] == 0


def test_a_model_that_tells_what_is_near_does_not_refuse(measure: Measure, served: StandinChat) -> None:
    served.default = told_of
    assert measure(TABLE, *WITH_WRITER)["measured"][1]["figures"]["refusal recall"] < 100


def test_a_citation_that_does_not_carry_its_claim_lowers_the_precision(
    measure: Measure, served: StandinChat, reader: JudgedReader
) -> None:
    def behave(request: Received) -> Behaviour:
        quoted = "".join(reader.quote(request).pieces)
        return reply(quoted if quoted == NO_ANSWER else f"{quoted} Nine whales were asked about it [1].")

    served.default = behave
    figures = measure(TABLE, *WITH_WRITER)["measured"][1]["figures"]
    assert (figures["answer accuracy"], figures["citations"]) == (100, 2)
    assert figures["citation precision"] == 50


def test_a_failure_costs_its_question_and_is_named(
    measure: Measure, served: StandinChat, reader: JudgedReader
) -> None:
    def behave(request: Received) -> Behaviour:
        is_second = question_in(request) == DEMO[1].judged.question
        return refusal(400, "too odd") if is_second else reader.quote(request)

    served.default = behave
    _, row = measure(TABLE, *WITH_WRITER)["measured"]
    assert row["figures"]["answer accuracy"] == 75
    assert f"counted as wrong ({DEMO[1].judged.id}" in row["note"]
    assert "HTTP 400" in row["note"]


def test_a_model_that_fails_from_the_start_has_no_row(measure: Measure, served: StandinChat) -> None:
    served.default = refusal(401, "no")
    told = measure(TABLE, *WITH_WRITER)
    assert [row["system"] for row in told["measured"]] == ["extractive"]
    (missing,) = [one for one in told["missing"] if one["what"] == "writer"]
    assert "API key" in missing["advice"]


def test_a_reply_that_breaks_off_ends_the_row_and_the_next_run_goes_on(
    measure: Measure, served: StandinChat, reader: JudgedReader
) -> None:
    def behave(request: Received) -> Behaviour:
        is_third = question_in(request) == DEMO[2].judged.question
        return cut_off("It is") if is_third else reader.quote(request)

    served.default = behave
    told = measure(TABLE, *WITH_WRITER)
    assert any(one["what"] == "writer" and "the same command" in one["advice"] for one in told["missing"])
    asked_first = [question_in(one) for one in served.requests]
    served.requests.clear()
    served.default = reader.quote
    _, row = measure(TABLE, *WITH_WRITER)["measured"]
    assert row["figures"]["answer accuracy"] == 100
    again = [question_in(one) for one in served.requests]
    assert DEMO[2].judged.question in again
    assert DEMO[0].judged.question in asked_first and DEMO[0].judged.question not in again


def test_a_model_that_is_not_there_is_named(measure: Measure, served: StandinChat) -> None:
    told = measure(TABLE, "--model", "nobody", "--limit", "1")
    (missing,) = [one for one in told["missing"] if one["what"] == "nobody"]
    assert "There is no writer 'nobody'" in missing["advice"]
    assert served.requests == []
