"""TruthReader's table of robustness by its command: which turns come before a question."""

import pytest

from evaluation.tables.systems import read_chosen
from tests.evaluation.tables.systems.conftest import Measure
from tests.evaluation.tables.systems.standin_reader import JudgedReader, prompt_of, question_in
from tests.standin_chat import Behaviour, Received, StandinChat, reply

TABLE = "truthreader-robustness"
(FIRST, *_) = [one for one in read_chosen() if one.judged.corpus == "demo"]
WITH_WRITER = ("--model", "writer", "--limit", "1")


@pytest.fixture
def rewriting(served: StandinChat, reader: JudgedReader) -> StandinChat:
    """Rewrite a question as it was asked, and answer as the reader does."""

    def behave(request: Received) -> Behaviour:
        return reader.quote(request) if question_in(request) else reply(FIRST.judged.question)

    served.default = behave
    return served


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
