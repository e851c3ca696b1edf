"""Models that this machine runs, tried with one of random weights."""

import subprocess
import sys
import threading
import time
from typing import Literal

import pytest
import torch
from pydantic import BaseModel, ConfigDict, Field

from assistant.chat import Assistant
from assistant.generators.choice import generator_choices, open_generator
from assistant.models.local import LocalModel
from assistant.models.menu import available_models, open_model
from assistant.models.protocol import BadReplyError, ModelError, whole
from assistant.records import Answered, AskOptions, CallLog, Evidence, Message, Parameters, Rewrite
from corpus.records import Scope
from corpus.settings import Settings
from tests.assistant.generators.found_evidence import found_for
from tests.tiny_model import CHAT_TEMPLATE, save_tiny_model

MESSAGES = (Message("system", "Be brief."), Message("user", "Is it so?"))
BRIEF = Parameters(temperature=1.0, max_tokens=30)


class Verdict(BaseModel):
    model_config = ConfigDict(extra="forbid")

    verdict: Literal["yes", "no"]
    certain: bool
    why: str = Field(max_length=20)
    labels: list[Literal[1, 2, 3]] = Field(min_length=1, max_length=3)


@pytest.fixture(autouse=True)
def seed():
    torch.manual_seed(11)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return save_tiny_model(tmp_path_factory.mktemp("tiny"))


@pytest.fixture(scope="module")
def model(folder):
    return LocalModel(str(folder), "Tiny")


def test_a_reply_comes_in_pieces_and_whole(model):
    pieces, stream = [], model.stream(MESSAGES, Parameters(temperature=1.0, max_tokens=200))
    while True:
        try:
            pieces.append(next(stream))
        except StopIteration as end:
            completion = end.value
            break
    assert len(pieces) > 1
    assert "".join(pieces).strip() == completion.text
    assert completion.prompt_tokens == len("<system>Be brief.<user>Is it so?<assistant>")
    assert 0 < completion.completion_tokens <= 200
    assert completion.finish_reason == ("length" if completion.completion_tokens == 200 else "stop")


def test_without_temperature_the_same_is_written_twice(model):
    cold = Parameters(temperature=0.0, max_tokens=30)
    assert whole(model.stream(MESSAGES, cold)) == whole(model.stream(MESSAGES, cold))


def test_parameters_reach_the_model(model):
    narrow = Parameters(temperature=1.0, top_k=1, max_tokens=30)
    cold = Parameters(temperature=0.0, max_tokens=30)
    assert whole(model.stream(MESSAGES, narrow)) == whole(model.stream(MESSAGES, cold))
    unrepeated = Parameters(temperature=0.0, max_tokens=30, repetition_penalty=1.8)
    assert whole(model.stream(MESSAGES, unrepeated)) != whole(model.stream(MESSAGES, cold))


def test_stopping_stops_the_model(model):
    stream = model.stream(MESSAGES, Parameters(temperature=1.0, max_tokens=8000))
    next(stream)
    stream.close()
    assert not [thread for thread in threading.enumerate() if type(thread).__name__ == "_Writer"]
    assert whole(model.stream(MESSAGES, BRIEF)).completion_tokens <= 30


def test_two_who_ask_at_once_are_answered_one_after_the_other(model):
    replies = []
    threads = [
        threading.Thread(target=lambda: replies.append(whole(model.stream(MESSAGES, BRIEF))))
        for _ in range(3)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(replies) == 3


def test_random_weights_can_write_nothing_but_the_schema(model):
    heard = []
    for _ in range(5):
        verdict = model.reply(MESSAGES, Parameters(temperature=1.0, max_tokens=300), Verdict, heard.append)
        assert isinstance(verdict, Verdict)
    assert len(heard) == 5
    assert heard[0].messages == MESSAGES
    assert heard[0].completion.completion_tokens > len(
        '{"verdict":"no","certain":true,"why":"","labels":[1]}'
    )
    assert heard[0].completion.finish_reason == "stop"


def test_a_typed_reply_that_runs_out_of_tokens_is_asked_for_once_more_and_then_an_error(model):
    with pytest.raises(BadReplyError, match=r"Tiny did not reply .* it ran out of tokens") as caught:
        model.reply(MESSAGES, Parameters(max_tokens=5), Verdict)
    assert len(caught.value.received) == 2


def test_a_model_without_a_chat_template_is_given_one(tmp_path):
    bare = LocalModel(str(save_tiny_model(tmp_path, chat_template=None)), "Bare")
    completion = whole(bare.stream(MESSAGES, BRIEF))
    assert completion.prompt_tokens == len("System: Be brief.\n\nUser: Is it so?\n\nAssistant:")


def test_a_model_that_knows_no_system_is_told_by_the_user(tmp_path):
    template = (
        "{% for message in messages %}{% if message.role == 'system' %}{{ raise_exception('no system') }}"
        "{% endif %}<{{ message.role }}>{{ message.content }}{% endfor %}"
    )
    model = LocalModel(str(save_tiny_model(tmp_path, chat_template=template)), "Old")
    completion = whole(model.stream(MESSAGES, BRIEF))
    assert completion.prompt_tokens == len("<user>Be brief.\n\nIs it so?")
    assert isinstance(model.reply(MESSAGES, Parameters(temperature=1.0, max_tokens=300), Verdict), Verdict)


@pytest.mark.parametrize("name", ["no/such/model", "/no/such/folder"])
def test_a_model_that_is_not_there_is_named(name):
    with pytest.raises(ModelError, match=f"{name}' cannot be loaded"):
        LocalModel(name, "None")


def test_a_folder_without_a_model_is_named(tmp_path):
    (tmp_path / "config.json").write_text('{"model_type": "llama"')
    with pytest.raises(ModelError, match=r"cannot be loaded: .* PAPER_TRAIL_LOCAL_MODEL"):
        LocalModel(str(tmp_path), "Broken")


def test_a_model_that_fails_while_it_writes_is_an_error(folder):
    model = LocalModel(str(folder), "Tiny")
    model._model.generate = lambda **_: 1 / 0
    started = time.monotonic()
    started = time.monotonic()
    with pytest.raises(ModelError, match="Tiny failed on this machine: division by zero"):
        whole(model.stream(MESSAGES, BRIEF))
    assert time.monotonic() - started < 30


def _writes(model, text):
    """Have a model write a text, then its end, in place of what its weights would."""

    def generate(streamer, input_ids, stopping_criteria, **_):
        streamer.put(input_ids)
        for number in [*model._tokenizer.encode(text), model._tokenizer.eos_token_id]:
            stopping_criteria(input_ids, None)
            streamer.put(torch.tensor([number]))
        streamer.end()

    model._model.generate = generate


def _streamed(model):
    pieces, stream = [], model.stream(MESSAGES, Parameters(max_tokens=200))
    while True:
        try:
            pieces.append(next(stream))
        except StopIteration as end:
            return "".join(pieces).strip(), end.value.text


@pytest.mark.parametrize(
    ("written", "kept"),
    [
        ("<think>It is so.</think>\n\nYes [1].", "Yes [1]."),
        ("[THINK]It is so.[/THINK]Yes.", "Yes."),
        ("<|channel|>analysis<|message|>Hm.<|end|><|start|>assistant<|channel|>final<|message|>Yes.", "Yes."),
        ("<think>It is", ""),
        ("Yes.<|im_end|> And no.", "Yes."),
    ],
)
def test_a_model_of_this_machine_thinks_for_itself(folder, written, kept):
    model = LocalModel(str(folder), "Tiny")
    # As their makers do: gone from what is decoded, were special tokens left out.
    model._tokenizer.add_tokens(["[THINK]", "[/THINK]", "<|channel|>", "<|message|>"], special_tokens=True)
    _writes(model, written)
    assert _streamed(model) == (kept, kept)


@pytest.mark.parametrize(("written", "kept"), [("It is so.\n</think>\n\nYes.", "Yes."), ("It is so.", "")])
def test_a_template_that_begins_the_thoughts_is_known_before_the_first_reply(tmp_path, written, kept):
    template = CHAT_TEMPLATE.replace("<assistant>", "<assistant><think>\n")
    model = LocalModel(str(save_tiny_model(tmp_path, chat_template=template)), "Thinker")
    _writes(model, written)
    assert _streamed(model) == (kept, kept)


def test_the_setting_puts_a_folder_on_the_menu_with_its_context(folder):
    settings = Settings(local_model=str(folder))
    (entry,) = available_models(settings)
    assert (entry.provider, entry.context, entry.structured) == ("local", 16_384, True)
    assert [choice.name for choice in generator_choices(settings)] == [str(folder), "extractive"]


def test_a_users_file_may_name_one(folder, tmp_path):
    own = tmp_path / "own.toml"
    own.write_text(f'[[models]]\nid = "{folder}"\nlabel = "Tiny"\nprovider = "local"\ncontext = 4096\n')
    (entry,) = available_models(Settings(models_file=own, local_model=str(folder)))
    assert (entry.label, entry.context) == ("Tiny", 4096)


def test_a_question_is_answered_to_its_end_by_random_weights(folder, demo_corpus, encoder):
    settings = Settings(local_model=str(folder))
    generator = open_generator(str(folder), settings, encoder, Parameters(temperature=1.0, max_tokens=60))
    scope = Scope(collections=("field-notes-retrieval",))
    # A query of its own: what random weights make of the question finds nothing.
    options = AskOptions(scope, papers=2, search_query="BM25 ranking")
    *_, last = Assistant(demo_corpus, encoder, generator).ask("How does BM25 rank documents?", (), options)
    assert isinstance(last, Answered)
    (call,) = last.turn.calls
    assert (call.step, call.model) == ("write", str(folder))
    assert call.prompt_tokens > 1000


def test_a_model_is_loaded_once_when_it_is_first_asked(folder):
    settings = Settings(local_model=str(folder))
    first, second = (open_model(available_models(settings)[0], settings) for _ in "ab")
    replies = []
    threads = [
        threading.Thread(target=lambda model=model: replies.append(whole(model.stream(MESSAGES, BRIEF))))
        for model in (first, second)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(replies) == 2
    assert first._opened() is second._opened()


def test_a_model_that_is_not_there_can_be_chosen_and_says_so_when_asked(tmp_path, encoder):
    missing = str(tmp_path / "none")
    generator = open_generator(missing, Settings(local_model=missing), encoder)
    with pytest.raises(ModelError, match="cannot be loaded"):
        list(generator.write_draft(found_for(Rewrite("q", "q"), Evidence()), (), CallLog()))


def test_choosing_a_model_does_not_load_transformers(tmp_path):
    code = (
        "import sys; from assistant.generators.choice import open_generator;"
        "from corpus.settings import Settings;"
        f"open_generator({str(tmp_path)!r}, Settings(local_model={str(tmp_path)!r}), None);"
        "print([name for name in ('torch', 'transformers', 'outlines') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
