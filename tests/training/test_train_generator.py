"""Training a generator for real, a tiny one: it learns to cite, goes on where it was, says what is wrong."""

import json
import time
from pathlib import Path

import pytest
from transformers import AutoTokenizer
from typer.testing import CliRunner

from assistant.models.local import LocalModel, knows_system
from assistant.models.protocol import whole
from assistant.records import Message, Parameters
from tests.standin_chat import StandinChat
from tests.standin_writer import quote_material, write_documents
from tests.tiny_chat import CHAT_TEMPLATE, SUBJECTS, dialogue, save_tiny_chat, write_dialogues
from tests.training.test_train_fitting import files_of_at_most
from training.__main__ import app
from training.generator import encode

pytest.importorskip("peft", reason="peft, of the extra train, is not installed")


ROW = tuple(Message(message["role"], message["content"]) for message in dialogue("mosses"))
REPLY = ROW[-1].content
NO_SYSTEM = (
    "{% if messages[0].role == 'system' %}{{ raise_exception('no system') }}{% endif %}" + CHAT_TEMPLATE
)
# Opens a reply otherwise than it prints one.
THINKING = CHAT_TEMPLATE.replace("<|assistant|>{% endif %}", "<|assistant|>(thought)\n\n{% endif %}")
UNENDED = CHAT_TEMPLATE.replace("<|end|>\n", "\n")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_tiny_chat(tmp_path_factory.mktemp("tiny"))


@pytest.mark.parametrize(
    ("template", "read_end"),
    [
        (CHAT_TEMPLATE, "<|assistant|>"),
        (NO_SYSTEM, "<|assistant|>"),
        (THINKING, "<|assistant|>(thought)\n\n"),
        (UNENDED, "<|assistant|>"),
    ],
)
def test_the_loss_is_on_the_reply_and_what_ends_it(folder: Path, template: str, read_end: str) -> None:
    tokenizer = AutoTokenizer.from_pretrained(folder)
    tokenizer.chat_template = template
    encoded = encode(tokenizer, ROW, {tokenizer.eos_token_id}, system=knows_system(tokenizer))
    assert tokenizer.decode(encoded.tokens[: encoded.answer]).endswith(read_end)
    assert ROW[0].content in tokenizer.decode(encoded.tokens[: encoded.answer])
    assert tokenizer.decode(encoded.tokens[encoded.answer :]).replace("\n", "") == f"{REPLY}<|end|>"


def test_what_is_read_is_what_the_model_is_asked_with(folder: Path) -> None:
    tokenizer = AutoTokenizer.from_pretrained(folder)
    encoded = encode(tokenizer, ROW, {tokenizer.eos_token_id}, system=True)
    chat = [{"role": message.role, "content": message.content} for message in ROW[:-1]]
    asked = tokenizer.apply_chat_template(chat, add_generation_prompt=True, return_dict=True)["input_ids"]
    assert list(encoded.tokens[: encoded.answer]) == asked


pytest.importorskip("peft", reason="peft, of the extra train, is not installed")

SHORT = ("--epochs", "3", "--length", "200", "--rank", "4")


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_tiny_chat(tmp_path_factory.mktemp("model"))


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return write_dialogues(tmp_path / "dialogues.jsonl")


def arguments(data: Path, model: Path, out: Path, *options: str) -> list[str]:
    return ["generator", "--data", str(data), "--model", str(model), "--out", str(out), *options]


def run(data: Path, model: Path, out: Path, *options: str):
    return CliRunner().invoke(app, arguments(data, model, out, *options))


def test_taught_twenty_dialogues_it_cites(tmp_path: Path, model: Path, data: Path) -> None:
    options = "--epochs 100 --learning-rate 0.003 --length 150 --rank 32".split()
    result = run(data, model, tmp_path / "out", *options)
    assert result.exit_code == 0, result.output
    card = json.loads((tmp_path / "out" / "card.json").read_text())
    assert card["figures"]["last_loss"] < 0.1 < card["figures"]["first_loss"]
    assert not (tmp_path / "out" / "checkpoint.pt").exists()
    taught = LocalModel(str(tmp_path / "out"), "Taught")
    cold = Parameters(temperature=0.0, max_tokens=40)
    replies = {}
    for subject in SUBJECTS:
        *asked, answer = dialogue(subject)
        reply = whole(
            taught.stream([Message(message["role"], message["content"]) for message in asked], cold)
        )
        replies[subject] = (reply.text, answer["content"])
        assert reply.finish_reason == "stop"
    right = [subject for subject, (written, wanted) in replies.items() if written == wanted]
    assert replies["skylarks"][0] == "They were counted 3 times [1]."
    assert len(right) >= 18, replies


def test_it_takes_what_the_data_command_makes(tmp_path: Path, model: Path) -> None:
    documents, rows = write_documents(tmp_path / "documents.jsonl"), tmp_path / "rows.jsonl"
    models = tmp_path / "models.toml"
    models.write_text(
        '[[models]]\nid = "m"\nlabel = "M"\nprovider = "openai-compatible"\ncontext = 8192\n',
        encoding="utf-8",
    )
    command = ["data", "--documents", str(documents), "--out", str(rows), "--model", "m", "--limit", "1"]
    with StandinChat(default=quote_material) as server:
        environment = {"PAPER_TRAIL_MODEL_URL": server.url, "PAPER_TRAIL_MODELS_FILE": str(models)}
        assert CliRunner().invoke(app, command, env=environment).exit_code == 0
    # Two are enough to take time.
    rows.write_text("".join(rows.read_text().splitlines(keepends=True)[:2]))
    result = run(rows, model, tmp_path / "out", "--epochs", "1", "--length", "8192", "--rank", "2")
    assert result.exit_code == 0, result.output
    card = json.loads((tmp_path / "out" / "card.json").read_text())
    assert card["data"]["rows"] == 2 < card["data"]["made"]["rows"]
    assert card["data"]["too_long"] == 0


def test_what_is_complete_is_not_trained_again(tmp_path: Path, model: Path, data: Path) -> None:
    out = tmp_path / "out"
    clock = time.process_time()
    assert run(data, model, out, *SHORT).exit_code == 0
    trained = time.process_time() - clock
    stamp = (out / "model.safetensors").stat().st_mtime_ns
    clock = time.process_time()
    again = run(data, model, out, *SHORT)
    assert time.process_time() - clock < trained
    assert again.exit_code == 0
    assert "already" in again.output
    assert (out / "model.safetensors").stat().st_mtime_ns == stamp
    other = run(data, model, out, *SHORT, "--seed", "1")
    assert other.exit_code == 2
    assert "holds another model" in other.output


def test_on_a_full_disk_it_says_so_and_goes_on_later(tmp_path: Path, model: Path, data: Path) -> None:
    out = tmp_path / "out"
    with files_of_at_most(500_000):
        result = run(data, model, out, *SHORT)
    assert result.exit_code == 2
    assert "cannot be written" in result.output
    assert "Free space and run again" in result.output
    assert not (out / "card.json").exists()
    went_on = run(data, model, out, *SHORT)
    assert (went_on.exit_code, "step 1 of" in went_on.output) == (0, False)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "is empty"),
        ("{", "line 1"),
        ('{"messages": []}', "line 1: messages"),
        (
            '{"messages": [{"role": "user", "content": "a"}, {"role": "robot", "content": "b"}]}',
            "line 1: messages.1",
        ),
        (
            '{"messages": [{"role": "user", "content": "a"}, {"role": "user", "content": "b"}]}',
            "the assistant's last",
        ),
        ('{"messages": [{"role": "user", "content": "a"}, {"role": "assistant", "content": ""}]}', "line 1"),
    ],
)
def test_a_broken_row_is_named(tmp_path: Path, model: Path, text: str, said: str) -> None:
    broken = tmp_path / "broken.jsonl"
    broken.write_text(text)
    result = run(broken, model, tmp_path / "out")
    assert result.exit_code == 2
    assert said in result.output


def test_unusable_inputs_are_reported(tmp_path: Path, model: Path, data: Path) -> None:
    assert "cannot be read" in run(tmp_path / "nowhere.jsonl", model, tmp_path / "out").output
    assert "cannot be loaded" in run(data, tmp_path / "nowhere", tmp_path / "out").output
    assert "is 8,192 tokens" in run(data, model, tmp_path / "out", "--length", "9000").output
    assert "No dialogue fits into 20" in run(data, model, tmp_path / "out", "--length", "20").output
    silent = save_tiny_chat(tmp_path / "silent", chat_template=None)
    result = run(data, silent, tmp_path / "out")
    assert result.exit_code == 2
    assert "no chat template" in result.output
