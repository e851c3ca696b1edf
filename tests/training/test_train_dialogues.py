"""Dialogues as tokens: on what the loss is taken."""

from pathlib import Path

import pytest
from transformers import AutoTokenizer

from assistant.models.local import knows_system
from assistant.records import Message
from tests.tiny_chat import CHAT_TEMPLATE, dialogue, save_tiny_chat

pytest.importorskip("peft", reason="peft, of the extra train, is not installed")

from training.generator import encode

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
