"""TruthReader's table of robustness by its command: which turns come before a question."""

import pytest

from evaluation.tables.systems import read_chosen
from tests.evaluation.tables.systems.conftest import Measure
from tests.evaluation.tables.systems.standin_reader import JudgedReader, prompt_of, question_in
from tests.standin_chat import Behaviour, Received, StandinChat, reply

TABLE = "truthreader-robustness"
(FIRST, *_) = [one for one in read_chosen() if one.judged.corpus == "demo"]
KINDS = ("no history", "relevant history", "irrelevant history", "both histories")
WITH_WRITER = ("--model", "writer", "--limit", "1")


@pytest.fixture
def rewriting(served: StandinChat, reader: JudgedReader) -> StandinChat:
    """Rewrite a question as it was asked, and answer as the reader does."""

    def behave(request: Received) -> Behaviour:
        return reader.quote(request) if question_in(request) else reply(FIRST.judged.question)

    served.default = behave
    return served


@pytest.mark.long
def test_each_generator_has_a_row_for_each_history(measure: Measure, rewriting: StandinChat) -> None:
    told = measure(TABLE, *WITH_WRITER)
    assert [row["system"] for row in told["measured"]] == [
        f"{name}, {kind}" for name in ("extractive", "writer") for kind in KINDS
    ]
    for row in told["measured"]:
        assert set(row["figures"]) == {"answer accuracy", "refusal recall"}
        assert row["note"].startswith("1 of 88 questions (demo 1)")
    assert told["measured"][4]["figures"]["answer accuracy"] == 100
    assert "were searched for in the light" not in told["measured"][0]["note"]
    assert "of 2 were searched for in the light of their history" in told["measured"][3]["note"]
    assert told["printed"] == []


def test_the_turns_before_are_those_of_the_history(measure: Measure, rewriting: StandinChat) -> None:
    measure(TABLE, *WITH_WRITER)
    prompts = [prompt_of(one) for one in rewriting.requests if question_in(one)]
    relevant, irrelevant = FIRST.relevant.question, FIRST.irrelevant.question
    before = {
        tuple(one for one in (irrelevant, relevant) if f"{one}\n" in prompt.partition("The papers:")[0])
        for prompt in prompts
    }
    assert before == {(), (relevant,), (irrelevant,), (irrelevant, relevant)}
    both = next(prompt for prompt in prompts if f"{relevant}\n" in prompt and f"{irrelevant}\n" in prompt)
    assert both.index(irrelevant) < both.index(relevant) < both.index("The papers:")


def test_without_a_home_nothing_is_asked(measure: Measure) -> None:
    told = measure(TABLE, home="")
    assert told["measured"] == []
    assert len(told["missing"]) == 4


def test_what_was_answered_for_the_other_table_is_not_paid_for_again(
    measure: Measure, rewriting: StandinChat
) -> None:
    measure("truthreader-answers", *WITH_WRITER)
    rewriting.requests.clear()
    measure(TABLE, *WITH_WRITER)
    alone = [one for one in rewriting.requests if question_in(one) and "Earlier turns" not in prompt_of(one)]
    assert alone == []
