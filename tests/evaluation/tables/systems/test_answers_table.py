"""TruthReader's table of answers by its command: without a model, and with one over a stand-in server."""

from evaluation.tables.systems import read_chosen
from tests.evaluation.tables.systems.conftest import Measure
from tests.evaluation.tables.systems.standin_reader import JudgedReader, question_in
from tests.standin_chat import Behaviour, Received, StandinChat, cut_off

TABLE = "truthreader-answers"
DEMO = [one for one in read_chosen() if one.judged.corpus == "demo"]
WITH_WRITER = ("--model", "writer", "--limit", "4")


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
