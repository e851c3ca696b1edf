"""The cost of model calls as they end: whole ones, stopped ones, and uncounted ones."""

from contextlib import closing

import pytest
from pydantic import BaseModel

from assistant.models.menu import ModelEntry
from assistant.models.metered import MeteredModel, can_be_counted, is_paid
from assistant.models.protocol import BadReplyError, ModelError, whole
from assistant.models.together import Patience, TogetherModel
from assistant.prompts.material import estimate_tokens
from assistant.records import Message, Parameters
from tests.standin_chat import StandinChat, cut_off, refusal, reply

PRICES = {"price_in": 1.0, "price_out": 10.0}
ASKED = (Message("user", "Why is the sky blue?"),)
USUAL = Parameters(max_tokens=500)
# The most that a call without reported tokens may cost.
MOST = (estimate_tokens(ASKED[0].content) * 1.0 + 500 * 10.0) / 1e6


def entry(provider="openai-compatible", **prices):
    return ModelEntry(id="m", label="Model", provider=provider, context=4096, **prices)


class Word(BaseModel):
    word: str


@pytest.fixture
def metered():
    """Return a function that opens a metered model, with the list of the calls' costs."""

    def over(server, **prices):
        costs = []
        model = TogetherModel(
            "m", "Model", api_key="", base_url=server.url, patience=Patience(1, 1), first_wait=0.01
        )
        return MeteredModel(model, entry(**prices or PRICES), costs.append), costs

    return over


def test_a_call_costs_what_the_server_counted(metered):
    with StandinChat(reply("Because.", usage=(2_000, 300))) as server:
        model, costs = metered(server)
        assert whole(model.stream(ASKED, USUAL)).text == "Because."
    assert costs == pytest.approx([0.002 + 0.003])


@pytest.mark.parametrize("behaviour", [reply("Because.", usage=None), cut_off("Beca")])
def test_a_call_of_which_no_tokens_are_told_costs_the_most_it_can(metered, behaviour):
    with StandinChat(behaviour) as server:
        model, costs = metered(server)
        whole(model.stream(ASKED, USUAL))
    assert costs == pytest.approx([MOST])


def test_a_call_that_is_stopped_is_counted_and_stops_the_server(metered):
    with StandinChat(reply("Because of the light.", wait_between=0.2)) as server:
        model, costs = metered(server)
        with closing(model.stream(ASKED, USUAL)) as pieces:
            assert next(pieces)
        assert server.wait_for_hang_up()
    assert costs == pytest.approx([MOST])


def test_a_call_that_nobody_began_costs_nothing(metered):
    with StandinChat() as server:
        model, costs = metered(server)
        model.stream(ASKED, USUAL).close()
    assert costs == []


def test_a_call_that_fails_before_anything_came_costs_nothing(metered):
    with StandinChat(refusal(400)) as server:
        model, costs = metered(server)
        with pytest.raises(ModelError):
            whole(model.stream(ASKED, USUAL))
    assert costs == [0.0]


def test_both_replies_of_a_form_are_counted(metered):
    with StandinChat(default=reply("no JSON", usage=(1_000, 100))) as server:
        model, costs = metered(server)
        heard = []
        with pytest.raises(BadReplyError):
            model.reply(ASKED, USUAL, Word, heard.append)
    assert costs == pytest.approx([0.002, 0.002]) and len(heard) == 2


@pytest.mark.parametrize(
    ("model", "paid", "counted"),
    [
        (entry("together", **PRICES), True, True),
        (entry("together"), True, False),
        (entry("together", price_in=0.0, price_out=0.0), False, True),
        (entry(), False, True),
        (entry(**PRICES), True, True),
        (entry(price_in=1.0), True, False),
        (entry("local"), False, True),
    ],
)
def test_what_costs_and_whether_it_can_be_counted(model, paid, counted):
    assert (is_paid(model), can_be_counted(model)) == (paid, counted)
