"""The facts a server of one's own reports, and the menu made of them."""

import pytest

from assistant.models.menu import available_models, call_limits, open_model
from assistant.models.protocol import whole
from assistant.models.server import MOST_LISTED
from assistant.records import Message, Parameters
from corpus.settings import Settings
from tests.standin_chat import KEY_CANARY, StandinChat, reply

LLAMA = "meta-llama/Llama-3.1-8B-Instruct"


def listing(*models, **more):
    return {"/v1/models": {"object": "list", "data": list(models)}} | more


def settings(server, **values):
    return Settings(TOGETHER_API_KEY="", model_url=server.url, model_api_key="own-key", **values)


def offered(pages, **values):
    with StandinChat(pages=pages) as server:
        return available_models(settings(server, **values))


def test_the_menu_names_what_the_server_serves_and_nothing_else():
    models = offered(listing({"id": "qwen3:4b"}, {"id": LLAMA}))
    assert {model.id for model in models} == {LLAMA, "qwen3:4b"}
    assert {model.provider for model in models} == {"openai-compatible"}


@pytest.mark.parametrize(
    ("told", "context"),
    [
        ({"meta": {"n_ctx": 2048, "n_ctx_train": 32768}}, 2048),
        ({"max_model_len": 16384}, 16384),
        ({"context_length": 4096}, 4096),
        ({}, 8192),
        ({"meta": None, "max_model_len": None}, 8192),
    ],
)
def test_a_model_takes_in_what_the_server_says(told, context):
    (model,) = offered(listing({"id": "own", **told}))
    assert model.context == context


def test_a_known_model_takes_in_no_more_than_it_is_run_with():
    (model,) = offered(listing({"id": LLAMA, "meta": {"n_ctx": 4096}}))
    assert (model.context, model.structured) == (4096, True)
    (model,) = offered(listing({"id": LLAMA, "max_model_len": 500_000}))
    assert model.context == 131_072


def test_what_the_users_file_names_stays_though_it_is_not_listed(tmp_path):
    own = tmp_path / "own.toml"
    own.write_text('[[models]]\nid = "alias"\n[[models]]\nid = "a"\ncontext = 1000\n')
    models = offered(listing({"id": "a", "max_model_len": 9000}, {"id": "b"}), models_file=own)
    assert [(model.id, model.context) for model in models] == [("alias", 8192), ("a", 1000), ("b", 8192)]


def test_a_path_of_weights_is_a_name_and_its_end_the_label():
    (model,) = offered(listing({"id": "/srv/models/tiny.gguf"}))
    assert (model.id, model.label) == ("/srv/models/tiny.gguf", "tiny.gguf")


@pytest.mark.parametrize(
    "page",
    [
        {"data": []},
        {"data": "none"},
        [],
        b"<html>Sign in</html>",
        b"",
        b"{",
        {"data": [{"id": ""}, {"id": 7}, {"name": "x"}, "x", {"id": "a\nb"}, {"id": "a\u202eb"}]},
        None,
    ],
)
def test_a_server_that_lists_nothing_may_serve_what_the_list_has(page):
    models = offered({} if page is None else {"/v1/models": page})
    assert LLAMA in {model.id for model in models}


def test_a_server_that_is_gone_costs_no_menu():
    with StandinChat() as server:
        chosen = settings(server)
    assert LLAMA in {model.id for model in available_models(chosen)}


def test_of_a_list_without_end_the_first_are_offered(caplog):
    models = offered(listing(*({"id": f"m{number}"} for number in range(2000))))
    assert len(models) == MOST_LISTED
    assert "lists 2000 models" in caplog.text


def test_the_server_is_sent_its_own_key_and_asked_once(monkeypatch):
    with StandinChat(pages=listing({"id": "own"})) as server:
        chosen = Settings(TOGETHER_API_KEY=KEY_CANARY, model_url=server.url, model_api_key="own-key")
        for _ in range(3):
            available_models(chosen)
    assert server.asked_for.count("/v1/models") == 1
    assert {heard["Authorization"] for heard in server.headers_heard} == {"Bearer own-key"}


@pytest.mark.parametrize(
    ("pages", "slots"),
    [
        ({"/props": {"total_slots": 3}}, 3),
        ({"/slots": [{"id": 0}]}, 1),
        ({"/props": {"total_slots": 40}}, 5),
        ({"/props": {"error": "off"}, "/slots": []}, 2),
        ({}, 2),
    ],
)
def test_a_server_is_given_as_many_calls_as_it_has_slots(pages, slots):
    with StandinChat(pages=listing({"id": "own"}, **pages)) as server:
        chosen = settings(server, model_calls=5)
        (entry,) = available_models(chosen)
        assert call_limits(entry, chosen).at_once == slots


def test_the_trail_and_the_menu_name_the_same_model():
    served = "/srv/tiny.gguf"
    with StandinChat(reply("yes", served=served), pages=listing({"id": served})) as server:
        chosen = settings(server)
        (entry,) = available_models(chosen)
        completion = whole(open_model(entry, chosen).stream((Message("user", "?"),), Parameters()))
    assert server.requests[0].body["model"] == served
    assert completion.served == ""
