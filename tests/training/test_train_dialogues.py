"""Dialogues as tokens and rows: on what the loss is taken, and that none sees another."""

from pathlib import Path

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from transformers import AutoModelForCausalLM, AutoTokenizer

from assistant.models.local import knows_system
from assistant.records import Message
from tests.tiny_chat import CHAT_TEMPLATE, dialogue, save_tiny_chat

pytest.importorskip("peft", reason="peft, of the extra train, is not installed")

from training.generator import IGNORED, Dialogue, GeneratorPlan, Row, encode, keeps_apart, steps_of

ROW = tuple(Message(one["role"], one["content"]) for one in dialogue("mosses"))
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
    one = encode(tokenizer, ROW, {tokenizer.eos_token_id}, system=knows_system(tokenizer))
    assert tokenizer.decode(one.tokens[: one.answer]).endswith(read_end)
    assert ROW[0].content in tokenizer.decode(one.tokens[: one.answer])
    assert tokenizer.decode(one.tokens[one.answer :]).replace("\n", "") == f"{REPLY}<|end|>"
    assert Row((one,)).labels == [IGNORED] * one.answer + list(one.tokens[one.answer :])


def test_what_is_read_is_what_the_model_is_asked_with(folder: Path) -> None:
    tokenizer = AutoTokenizer.from_pretrained(folder)
    one = encode(tokenizer, ROW, {tokenizer.eos_token_id}, system=True)
    chat = [{"role": message.role, "content": message.content} for message in ROW[:-1]]
    asked = tokenizer.apply_chat_template(chat, add_generation_prompt=True, return_dict=True)["input_ids"]
    assert list(one.tokens[: one.answer]) == asked


@given(st.lists(st.integers(1, 40), min_size=1, max_size=30), st.integers())
def test_every_dialogue_stands_once_in_a_row_that_has_room(lengths: list[int], seed: int) -> None:
    dialogues = [Dialogue((place,) * length, 0) for place, length in enumerate(lengths)]
    packed = steps_of(dialogues, GeneratorPlan(epochs=1, length=40, seed=seed), is_packed=True)
    rows = [row.dialogues for step in packed for row in step]
    assert sorted(one.tokens[0] for row in rows for one in row) == list(range(len(lengths)))
    assert all(sum(len(one.tokens) for one in row) <= 40 for row in rows)
    steps = steps_of(dialogues, GeneratorPlan(epochs=2, length=40, rows_per_step=3), is_packed=False)
    assert sum(map(len, steps)) == 2 * len(lengths)


@pytest.mark.parametrize("attention", ["eager", "sdpa"])
def test_dialogues_in_a_row_do_not_see_each_other(folder: Path, attention: str) -> None:
    model = AutoModelForCausalLM.from_pretrained(folder, attn_implementation=attention).eval()
    tokenizer = AutoTokenizer.from_pretrained(folder)
    rows = [
        tuple(Message(one["role"], one["content"]) for one in dialogue(subject))
        for subject in ("mosses", "owls", "kites")
    ]
    dialogues = [encode(tokenizer, row, {tokenizer.eos_token_id}, system=True) for row in rows]
    device = torch.device("cpu")
    with torch.no_grad():
        together = Row(tuple(dialogues)).loss(model, device)
        alone = sum(Row((one,)).loss(model, device) for one in dialogues)
    assert float(together) == pytest.approx(float(alone), rel=1e-5)
    assert keeps_apart(model, dialogues[0], dialogues[1], device)


def test_a_model_that_sees_across_is_found_out(folder: Path) -> None:
    model = AutoModelForCausalLM.from_pretrained(folder).eval()

    def seeing_all(input_ids: torch.Tensor, **_: object):
        return model(input_ids=input_ids, use_cache=False)

    seeing_all.eval = lambda: None
    one, other = Dialogue(tuple(range(5, 40)), 10), Dialogue(tuple(range(60, 90)), 10)
    assert not keeps_apart(seeing_all, one, other, torch.device("cpu"))
