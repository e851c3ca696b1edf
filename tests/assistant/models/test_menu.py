import subprocess
import sys
from dataclasses import replace

import pytest

from assistant.generators.choice import open_generator
from assistant.models.menu import (
    PROVIDERS,
    ModelEntry,
    available_models,
    describe_setup,
    load_models,
    open_model,
    receiver,
)
from assistant.models.metered import is_paid
from assistant.models.protocol import ModelError
from assistant.models.together import TogetherModel
from assistant.records import AssistantError, Message, Parameters
from corpus.settings import Settings
from tests.standin_chat import KEY_CANARY, StandinChat, refusal, reply

SEED_MODELS = {
    "meta-llama/Llama-3.3-70B-Instruct",
    "meta-llama/Llama-3.1-8B-Instruct",
    "mistralai/Mistral-Small-24B-Instruct-2501",
    "mistralai/Mixtral-8x22B-Instruct-v0.1",
    "mistralai/Mixtral-8x7B-Instruct-v0.1",
}


def settings(monkeypatch, key="", **values):
    for name in ("TOGETHER_API_KEY", "PAPER_TRAIL_MODEL_URL", "PAPER_TRAIL_MODELS_FILE"):
        monkeypatch.delenv(name, raising=False)
    return Settings(TOGETHER_API_KEY=key, **values)


def write_models(path, text):
    path.write_text(text, encoding="utf-8")
    return path


def test_the_seeds_five_are_for_a_server_of_ones_own(monkeypatch):
    own = available_models(settings(monkeypatch, model_url="http://localhost:9"))
    assert {model.id for model in own} == SEED_MODELS
    assert {model.price_in for model in own} == {None}


def test_what_has_left_the_hosted_menu_says_what_replaces_it(monkeypatch, encoder):
    hosted = settings(monkeypatch, "k")
    offered = {model.id for model in available_models(hosted)}
    gone = [model for model in load_models() if model.retired]
    assert gone
    for model in gone:
        assert model.replaced_by in offered
        with pytest.raises(AssistantError, match=f"left the hosted menu, and {model.replaced_by} replaces"):
            open_generator(model.id, hosted, encoder)


def test_nothing_is_offered_without_a_key_or_a_server(monkeypatch):
    assert available_models(settings(monkeypatch)) == ()


@pytest.mark.parametrize(
    ("key", "url", "providers"),
    [
        ("k", "", {"together"}),
        ("", "http://localhost:8000/v1", {"openai-compatible"}),
        ("k", "http://localhost:8000/v1", {"together", "openai-compatible"}),
    ],
)
def test_what_can_be_reached_is_offered(monkeypatch, key, url, providers):
    models = available_models(settings(monkeypatch, key, model_url=url))
    assert {model.provider for model in models} == providers
    assert not any(model.retired for model in models)


@pytest.mark.parametrize(
    ("tokens", "prices", "price"),
    [
        ((1_000_000, 0), (0.5, 2.0), 0.5),
        ((0, 1_000_000), (0.5, 2.0), 2.0),
        ((1200, 40), (0.5, 2.0), 0.00068),
        ((1200, 40), (0.0, 0.0), 0.0),
        ((1200, 40), (0.5, None), None),
        ((None, 40), (0.5, 2.0), None),
    ],
)
def test_a_call_has_a_price_where_all_is_known(tokens, prices, price):
    entry = ModelEntry(
        id="m", label="M", provider="together", context=9, price_in=prices[0], price_out=prices[1]
    )
    assert entry.price(*tokens) == (price if price is None else pytest.approx(price))


def test_a_model_on_this_machine_needs_neither_key_nor_server(monkeypatch, tmp_path):
    own = write_models(tmp_path / "own.toml", '[[models]]\nid = "org/model"\nprovider = "local"\n')
    (model,) = available_models(settings(monkeypatch, models_file=own))
    assert (model.provider, model.context) == ("local", 8192)
    (chosen,) = available_models(settings(monkeypatch, local_model="org/other"))
    assert (chosen.id, chosen.label, chosen.structured) == ("org/other", "other (this machine)", True)
    both = available_models(settings(monkeypatch, models_file=own, local_model="org/model"))
    assert both == (model,)


@pytest.mark.parametrize("config", [None, "{", "[]", '{"max_position_embeddings": -1}', '{"other": 1}'])
def test_a_folder_that_does_not_tell_its_context_is_taken_to_have_a_small_one(monkeypatch, tmp_path, config):
    if config:
        (tmp_path / "config.json").write_text(config)
    assert available_models(settings(monkeypatch, local_model=str(tmp_path)))[0].context == 8192


def test_a_users_model_needs_no_more_than_an_id_and_comes_first(monkeypatch, tmp_path):
    own = write_models(tmp_path / "own.toml", '[[models]]\nid = "qwen3:4b"\n')
    models = available_models(settings(monkeypatch, model_url="http://localhost:11434", models_file=own))
    assert models[0] == ModelEntry(
        id="qwen3:4b", label="qwen3:4b", provider="openai-compatible", context=8192
    )
    assert len(models) > 1


def test_a_user_overrides_single_fields(monkeypatch, tmp_path):
    bundled = available_models(settings(monkeypatch, "k"))
    first, second = bundled[:2]
    own = write_models(
        tmp_path / "own.toml",
        f'[[models]]\nid = "{first.id}"\nretired = true\n[[models]]\nid = "{second.id}"\ncontext = 99\n',
    )
    models = available_models(settings(monkeypatch, "k", models_file=own))
    assert models == (second.model_copy(update={"context": 99}), *bundled[2:])


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[[models]\n", "Expected"),
        ("models = 3\n", "'models' is no list of tables"),
        ("models = [3]\n", "'models' is no list of tables"),
        ("[[models]]\nlabel = 'x'\n", "model 1, field 'id'"),
        ("[[models]]\nid = 7\n", "model 1, field 'id'"),
        ("[[models]]\nid = ''\n", "model '', field 'id'"),
        ("[[models]]\nid = 'a'\n[[models]]\nid = 'a'\n", "model 2, field 'id'"),
        ("[[models]]\nid = 'a'\ncontext = 0\n", "model 'a', field 'context'"),
        ("[[models]]\nid = 'a'\nprice_in = -1\n", "model 'a', field 'price_in'"),
        ("[[models]]\nid = 'a'\nprovider = 'elsewhere'\n", "model 'a', field 'provider'"),
        ("[[models]]\nid = 'a'\nprices = 1\n", "model 'a', field 'prices'"),
    ],
)
def test_a_broken_file_is_named_with_its_field(monkeypatch, tmp_path, text, words):
    own = write_models(tmp_path / "own.toml", text)
    with pytest.raises(AssistantError) as caught:
        available_models(settings(monkeypatch, models_file=own))
    assert words in str(caught.value)
    assert str(own) in str(caught.value)
    assert "PAPER_TRAIL_MODELS_FILE" in str(caught.value)


def test_a_missing_file_is_named(monkeypatch, tmp_path):
    with pytest.raises(AssistantError, match=r"none\.toml"):
        available_models(settings(monkeypatch, models_file=tmp_path / "none.toml"))


def test_a_server_of_ones_own_is_sent_its_own_key_and_never_together_s(monkeypatch):
    with StandinChat(reply("yes")) as server:
        chosen = settings(monkeypatch, KEY_CANARY, model_url=server.url, model_api_key="own-key")
        entry = next(model for model in available_models(chosen) if model.provider == "openai-compatible")
        model = open_model(entry, chosen)
        assert "".join(model.stream((Message("user", "?"),), Parameters())) == "yes"
    assert server.requests[0].headers["Authorization"] == "Bearer own-key"
    assert KEY_CANARY not in str(server.requests)


def test_a_provider_is_known_by_its_entry_in_the_registry_alone(monkeypatch):
    hosted = settings(monkeypatch, "k")
    other = replace(
        PROVIDERS["together"],
        setting="OTHER_KEY",
        is_set=lambda _: True,
        receiver=lambda _: "another provider",
        open=lambda entry, _: TogetherModel(entry.id, entry.label, base_url=server.url, api_key="other-key"),
    )
    unpriced = ModelEntry(id="m", label="M", provider="together")
    assert receiver(unpriced, hosted) == "Together AI"
    assert is_paid(unpriced)
    with StandinChat(reply("yes")) as server:
        monkeypatch.setitem(PROVIDERS, "together", other)
        (first, *_) = available_models(settings(monkeypatch))
        model = open_model(first, settings(monkeypatch))
        assert "".join(model.stream((Message("user", "?"),), Parameters())) == "yes"
    assert server.requests[0].headers["Authorization"] == "Bearer other-key"
    assert receiver(first, hosted) == "another provider"
    assert "OTHER_KEY for hosted models" in describe_setup()
    monkeypatch.setitem(PROVIDERS, "together", replace(other, is_hosted=False))
    assert not is_paid(unpriced)


def test_fault_a_hosted_service_with_an_address_was_taken_for_a_server_of_ones_own(monkeypatch):
    with StandinChat(refusal(401), reply("yes")) as server:
        hosted = replace(
            PROVIDERS["openai-compatible"],
            setting="PAPER_TRAIL_OTHER_KEY",
            is_hosted=True,
            lists_models=False,
        )
        monkeypatch.setitem(PROVIDERS, "openai-compatible", hosted)
        chosen = settings(monkeypatch, model_url=server.url, model_api_key="a-key")
        entry = ModelEntry(id="m", label="M", provider="openai-compatible")
        asked = (Message("user", "?"),), Parameters(repetition_penalty=1.2)
        with pytest.raises(ModelError) as refused:
            "".join(open_model(entry, chosen).stream(*asked))
        assert "".join(open_model(entry, chosen).stream(*asked)) == "yes"
    assert "Check PAPER_TRAIL_OTHER_KEY" in str(refused.value)
    assert "repeat_penalty" not in server.requests[-1].body


def test_the_menu_does_not_load_the_sdk():
    code = "import sys, assistant.models.menu as menu; menu.load_models(); print('together' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
