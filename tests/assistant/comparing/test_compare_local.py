"""A comparison by a local model of random weights: its words are noise, its replies have their form."""

import pytest

from assistant.comparing.compare import Comparer
from assistant.comparing.prompted.generator import PromptedComparer
from assistant.comparing.prompted.replies import ElementsReply, summary_reply
from assistant.comparing.records import ELEMENT_NAMES
from assistant.generators.calls import no_price
from assistant.models.local import LARGEST_INDEX, LocalModel, _affordable
from assistant.records import Parameters
from assistant.trail.comparison_file import comparison_from_json, comparison_to_json
from assistant.trail.comparison_replay import replay_comparison
from tests.assistant.comparing.compared_papers import compared, open_compared_corpus, request_for
from tests.tiny_model import save_tiny_model


@pytest.fixture(scope="module")
def tiny(tmp_path_factory):
    return LocalModel(str(save_tiny_model(tmp_path_factory.mktemp("tiny"), context=32_768)), "Tiny")


def test_every_reply_is_of_its_form_by_construction_and_the_run_ends(tiny, tmp_path, encoder):
    corpus = open_compared_corpus(tmp_path, encoder)
    parameters = Parameters(temperature=1.0, top_p=1.0)
    generator = PromptedComparer(
        tiny, context=32_768, parameters=parameters, price=no_price, summaries="sentences"
    )
    made = compared(Comparer(corpus, encoder, generator), request_for(2, samples=2, votes=1, keep=1))
    assert {call.call.finish_reason for call in made.calls} == {"stop"}
    # Nothing was asked for twice, and nothing was discarded.

    assert len(made.calls) == 3 + 2 * 2 + 2
    assert [vote.problem for round_ in made.rounds for vote in round_.votes] == [""] * 2
    assert all([element.name for element in found.elements] == list(ELEMENT_NAMES) for found in made.elements)
    assert all(candidate.text and not candidate.problems for candidate in made.rounds[-1].candidates)
    read = comparison_from_json(comparison_to_json(made))
    assert read == made
    assert replay_comparison(read, encoder, lambda _: corpus).is_equal


@pytest.mark.parametrize("schema", [ElementsReply, summary_reply(10)])
def test_lengths_are_left_to_the_model_where_holding_them_would_fill_the_memory(schema):
    form = schema.model_json_schema()
    assert _affordable(form, 500) == form
    free = _affordable(form, 150_000)
    assert "maxLength" not in str(free)
    assert free["required"] == form["required"]
    assert LARGEST_INDEX < 3000 * 150_000
