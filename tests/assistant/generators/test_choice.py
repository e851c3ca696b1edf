import math
from dataclasses import replace

import pytest

from assistant.generators.choice import generator_choices, open_generator
from assistant.generators.extractive.generator import ExtractiveGenerator
from assistant.generators.parameters import RANGES, check_parameters
from assistant.records import AssistantError, CallLog, Evidence, Parameters, Rewrite
from corpus.errors import CorpusError
from corpus.settings import Settings, read_settings
from tests.assistant.generators.found_evidence import found_for
from tests.standin_chat import StandinChat, reply

OWN = "meta-llama/Llama-3.1-8B-Instruct"


def sent(settings, parameters=None, session=""):
    """Return the request that the server receives when a question is rewritten."""
    with StandinChat(reply("a query")) as server:
        settings = settings.model_copy(update={"model_url": server.url})
        generator = open_generator(OWN, settings, None, parameters, session)
        list(generator.write_draft(found_for(Rewrite("q", "q"), Evidence()), (), CallLog()))
    return server.requests[0].body


def test_without_a_model_only_the_extractive_generator_can_be_chosen(encoder):
    assert [choice.name for choice in generator_choices(Settings())] == ["extractive"]
    assert isinstance(open_generator("extractive", Settings(), encoder), ExtractiveGenerator)
    with pytest.raises(AssistantError, match=r"no writer 'm'\. Available: extractive\. Set TOGETHER_API_KEY"):
        open_generator("m", Settings(), encoder)


def test_parameters_are_those_asked_for_or_those_of_the_settings(monkeypatch):
    body = sent(Settings())
    assert (body["top_p"], body["max_tokens"]) == (0.9, 700)
    assert not {"top_k", "repetition_penalty"} & set(body)
    monkeypatch.setenv("PAPER_TRAIL_TOP_P", "0.5")
    monkeypatch.setenv("PAPER_TRAIL_TOP_K", "20")
    monkeypatch.setenv("PAPER_TRAIL_MAX_TOKENS", "99")
    monkeypatch.setenv("PAPER_TRAIL_REPETITION_PENALTY", "1.2")
    body = sent(read_settings())
    assert (body["top_p"], body["top_k"]) == (0.5, 20)
    assert (body["max_tokens"], body["repetition_penalty"]) == (99, 1.2)
    body = sent(read_settings(), Parameters(top_p=0.7, max_tokens=55), session="s")
    assert (body["top_p"], body["max_tokens"]) == (0.7, 55)
    assert "top_k" not in body


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("TEMPERATURE", "hot"),
        ("TEMPERATURE", "2.5"),
        ("TOP_P", "0"),
        ("TOP_K", "0"),
        ("MAX_TOKENS", "-1"),
        ("MODEL_CALLS", "0"),
        ("MODEL_CALLS_PER_SESSION", "x"),
        ("PASSAGE_WORDS", "99"),
        ("PASSAGE_OVERLAP", "101"),
    ],
)
def test_a_setting_that_cannot_be_is_named(monkeypatch, name, value):
    monkeypatch.setenv(f"PAPER_TRAIL_{name}", value)
    with pytest.raises(CorpusError, match=f"PAPER_TRAIL_{name} cannot be used"):
        read_settings()


@pytest.mark.parametrize("name", RANGES)
def test_every_parameter_is_kept_in_its_range(name):
    low, high = RANGES[name]
    for good in (low, high):
        check_parameters(replace(Parameters(), **{name: good}), context=200_000)
    for bad in (low - 1, high + 1, math.nan, math.inf):
        with pytest.raises(AssistantError, match=f"must be from {low:g} to {high:g}, not {bad:g}"):
            check_parameters(replace(Parameters(), **{name: bad}), context=200_000)


def test_a_reply_may_take_half_the_context_at_most():
    check_parameters(Parameters(max_tokens=4096), context=8192)
    with pytest.raises(AssistantError, match="must be at most 4,096, half of what this model takes in"):
        check_parameters(Parameters(max_tokens=4097), context=8192)


def test_parameters_out_of_range_are_said_before_anything_is_asked():
    settings = Settings(model_url="http://127.0.0.1:9/v1")
    with pytest.raises(AssistantError, match="temperature must be from 0 to 2, not 7"):
        open_generator(OWN, settings, None, Parameters(temperature=7.0))


@pytest.mark.parametrize("given", [{"temperature": math.nan}, {"top_p": 7.0}, {"max_tokens": 1}])
def test_parameters_out_of_range_are_said_where_no_model_writes(encoder, given):
    with pytest.raises(AssistantError, match="must be from"):
        open_generator("extractive", Settings(), encoder, replace(Parameters(), **given))
    open_generator("extractive", Settings(), encoder, Parameters(max_tokens=32_000))
