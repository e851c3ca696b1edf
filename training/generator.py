"""The generator: a causal language model taught to answer with citations, by LoRA (TruthReader)."""

import hashlib
import json
import random
import re
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any, Literal, NamedTuple

import torch
from pydantic import BaseModel, ConfigDict, Field, model_validator
from torch.nn.functional import cross_entropy
from transformers import AutoConfig, AutoModelForCausalLM, AutoTokenizer
from transformers.utils import logging as transformers_logging

from assistant.records import Message
from evaluation.input_files import read_json_lines
from training.files import Run, TrainingError, finished_card, write_durably, write_model
from training.fitting import CHECKPOINT, CURVE, Loop, Plan, packed
from training.network import adapted

IGNORED = -100  # the label of tokens without loss
# Relative difference of a dialogue's logits alone and behind another one, as far as rounding makes it.
APART = {torch.float32: 1e-3, torch.bfloat16: 5e-2}
LOOKED_AT = 64
_LICENCE = re.compile(r"^license:\s*(?P<name>[^\n]{1,100})$", re.MULTILINE)
NOTE = (
    "These weights are made of the base model's and are under its licence. Their data quote the documents"
    " they were made of and were written by a model: the terms of both apply."
)


@dataclass(frozen=True, slots=True)
class GeneratorPlan:
    """The options of a run; the defaults are TruthReader's where it names them.

    `rows_per_step` rows of `length` tokens make a step. `rank` and `dropout` are LoRA's.
    """

    epochs: int = 2
    learning_rate: float = 1e-5
    length: int = 4096
    seed: int = 0
    rank: int = 16
    dropout: float = 0.05
    rows_per_step: int = 4


class ChatMessage(BaseModel):
    """A message in a file of dialogues."""

    model_config = ConfigDict(extra="forbid")

    role: Literal["system", "user", "assistant"]
    content: str = Field(min_length=1, max_length=400_000)


class ChatRow(BaseModel):
    """A line of a file of dialogues."""

    messages: tuple[ChatMessage, ...] = Field(min_length=2, max_length=100)

    @model_validator(mode="after")
    def _in_order(self) -> "ChatRow":
        roles = [message.role for message in self.messages]
        if roles[-1] != "assistant" or "user" not in roles or "system" in roles[1:]:
            raise ValueError("has a user's message, ends with the assistant's, and a system message is first")
        return self


class Dialogue(NamedTuple):
    """The tokens of a dialogue; from `answer` on they are the last reply, with the token that ends it."""

    tokens: tuple[int, ...]
    answer: int


class Row(NamedTuple):
    """Dialogues one after the other; a step has several rows, and an epoch several steps."""

    dialogues: tuple[Dialogue, ...]
    epoch: int = 1

    @property
    def tokens(self) -> list[int]:
        return [token for dialogue in self.dialogues for token in dialogue.tokens]

    @property
    def labels(self) -> list[int]:
        """The tokens of answers, IGNORED elsewhere."""
        return [
            token if place >= dialogue.answer else IGNORED
            for dialogue in self.dialogues
            for place, token in enumerate(dialogue.tokens)
        ]

    def logits(self, model: Any, device: torch.device) -> torch.Tensor:
        """Return the predictions after every token: (1, tokens, vocabulary).

        Positions restart with every dialogue, from which transformers masks the other dialogues.
        """
        positions = [place for dialogue in self.dialogues for place in range(len(dialogue.tokens))]
        ids, places = torch.tensor([[self.tokens], [positions]], device=device)
        found: torch.Tensor = model(input_ids=ids, position_ids=places, use_cache=False).logits
        return found

    def loss(self, model: Any, device: torch.device) -> torch.Tensor:
        """Return the summed loss on the tokens of answers."""
        wanted = torch.tensor([self.labels[1:]], device=device)
        is_answer = wanted != IGNORED
        predicted = self.logits(model, device)[:, :-1][is_answer]
        return cross_entropy(predicted.float(), wanted[is_answer], reduction="sum")


def train_generator(run: Run, name: str, plan: GeneratorPlan, checkpoint_steps: int = 20) -> dict[str, Any]:
    """Train a model on dialogues and return the card; a killed run resumes. Raises TrainingError."""
    rows = read_json_lines(run.data, ChatRow, "Each line has messages.")
    weights = sorted(Path(name).glob("*.safetensors"))
    digest = hashlib.sha256("".join(map(_sha256, weights)).encode()).hexdigest() if weights else ""
    base, data_digest = {"name": name, "sha256": digest}, _sha256(run.data)
    parts = {"data": data_digest, "model": base, "numbers": asdict(plan)}
    fingerprint = hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()
    if (finished := finished_card(run.out, fingerprint)) is not None:
        run.say(f"{run.out} holds this model already.")
        return finished
    model, tokenizer, stored = _open(name, plan)
    device = next(model.parameters()).device
    dialogues = _fitting(model, tokenizer, rows, plan.length)
    is_packed = len(dialogues) > 1 and keeps_apart(model, dialogues[0], dialogues[1], device)
    steps = steps_of(dialogues, plan, is_packed=is_packed)
    run.say(f"{len(dialogues)} of {len(rows)} dialogues")

    def losses(step: Sequence[Row]) -> Iterator[torch.Tensor]:
        # Each answer token has the same weight, whatever its row.
        answers = _answers(step)
        yield from (row.loss(model, device) / answers for row in step)

    how = Plan(plan.epochs, plan.learning_rate, plan.length, 0.03, 0.0, plan.seed)
    points = Loop(model, steps, losses, how, run.out, fingerprint, run.say, 1, checkpoint_steps).run()
    curve: list[dict[str, Any]] = []
    for point, step in zip(points, steps, strict=True):
        counts = {"tokens": sum(len(row.tokens) for row in step), "answer_tokens": _answers(step)}
        curve.append({**point, "epoch": step[0].epoch, **counts})
    tokens, answers, seconds = (
        sum(point[of] for point in curve) for of in ("tokens", "answer_tokens", "seconds")
    )
    losses_of: dict[int, float] = {}
    for epoch in (1, plan.epochs):
        own = [point for point in curve if point["epoch"] == epoch]
        summed = sum(point["loss"] * point["answer_tokens"] for point in own)
        losses_of[epoch] = round(summed / sum(point["answer_tokens"] for point in own), 4)
    about = {"rows": len(rows), "too_long": len(rows) - len(dialogues), "packed": is_packed}
    made = _read(run.data.with_suffix(".statistics.json"), json.loads)
    licence = _read(Path(name) / "README.md", _LICENCE.search)
    card = {
        "kind": "generator",
        "method": "LoRA on all linear layers, merged; loss on the answers' tokens (TruthReader)",
        "fingerprint": fingerprint,
        "base": base,
        "data": {"file": run.data.name, "sha256": data_digest, **about} | ({"made": made} if made else {}),
        "numbers": asdict(plan),
        "figures": {
            "steps": len(curve),
            "first_epoch_loss": losses_of[1],
            "last_epoch_loss": losses_of[plan.epochs],
            "tokens": tokens,
            "answer_tokens": answers,
            "seconds": round(seconds, 1),
            "tokens_per_second": round(tokens / max(seconds, 1e-9), 1),
        },
        "licences": {
            "base": licence["name"].strip() if licence else "not stated beside the weights",
            "note": NOTE,
        },
        "versions": {package: version(package) for package in ("torch", "transformers", "peft")},
    }

    def write() -> None:
        write_durably(run.out / "curve.json", json.dumps(curve) + "\n")
        model.merge_and_unload().to(stored).save_pretrained(run.out)
        tokenizer.save_pretrained(run.out)

    return write_model(run.out, card, write, [run.out / CHECKPOINT, run.out / CURVE])


def _answers(step: Sequence[Row]) -> int:
    """Return the number of answer tokens in a step."""
    return sum(len(dialogue.tokens) - dialogue.answer for row in step for dialogue in row.dialogues)


def _sha256(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise TrainingError(f"{path} cannot be read: {error.strerror}.") from None


def _read(path: Path, parse: Callable[[str], Any]) -> Any:
    """Return what a file beside the data or the model says, None where it cannot be read."""
    try:
        return parse(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None


def _open(name: str, plan: GeneratorPlan) -> tuple[Any, Any, torch.dtype]:
    """Return a model with adapters on its linear layers, its tokenizer, and the type of its stored weights.

    Any: their types depend on what is loaded. Raises TrainingError where the model cannot be trained.
    """
    transformers_logging.disable_progress_bar()  # type: ignore[no-untyped-call]
    has_gpu = torch.cuda.is_available()
    try:
        config = AutoConfig.from_pretrained(name)
        tokenizer: Any = AutoTokenizer.from_pretrained(name)
        dtype = torch.bfloat16 if has_gpu else torch.float32
        model: Any = AutoModelForCausalLM.from_pretrained(name, dtype=dtype)
    except (OSError, ValueError, KeyError, RuntimeError) as error:
        raise TrainingError(
            f"The model {name!r} cannot be loaded: {_first_line(error)}. Name a folder with a model in it, or"
            " one on the hub."
        ) from None
    if not tokenizer.chat_template:
        raise TrainingError(
            f"The model {name!r} has no chat template. Choose one that was taught to chat, or put a"
            " chat_template.jinja beside its weights."
        )
    room = getattr(config, "max_position_embeddings", None)
    if room and plan.length > room:
        raise TrainingError(f"The model {name!r} takes in {room:,} tokens: --length must not exceed them.")
    torch.manual_seed(plan.seed)
    if has_gpu:
        model = model.to("cuda")
        model.gradient_checkpointing_enable()
        model.enable_input_require_grads()
    options = {"lora_alpha": 2 * plan.rank, "lora_dropout": plan.dropout, "task_type": "CAUSAL_LM"}
    try:
        model = adapted(model, plan.rank, "all-linear", **options)
    except ValueError as error:
        raise TrainingError(f"This model takes no LoRA adapters: {_first_line(error)}.") from None
    return model, tokenizer, config.dtype if isinstance(config.dtype, torch.dtype) else torch.float32


def _first_line(error: Exception) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0][:200].rstrip(".")


def _fitting(model: Any, tokenizer: Any, rows: Sequence[ChatRow], length: int) -> list[Dialogue]:
    """Return the dialogues of at most `length` tokens; none is cut: its answer would lose its evidence."""
    # Imported here because it imports the runtime of local models.
    from assistant.models.local import knows_system  # noqa: PLC0415

    known = getattr(model.generation_config, "eos_token_id", None)
    stops = {*(known if isinstance(known, list) else [known]), tokenizer.eos_token_id} - {None}
    system, dialogues = knows_system(tokenizer), []
    for row in rows:
        messages = [Message(message.role, message.content.strip()) for message in row.messages]
        dialogues.append(encode(tokenizer, messages, stops, system=system))
    found = [dialogue for dialogue in dialogues if len(dialogue.tokens) <= length]
    if not found:
        shortest = min(len(dialogue.tokens) for dialogue in dialogues)
        raise TrainingError(
            f"No dialogue fits into {length:,} tokens; the shortest has {shortest:,}. Ask for a longer"
            " --length, or make data with a smaller --context."
        )
    return found


def encode(tokenizer: Any, messages: Sequence[Message], stops: Collection[int], *, system: bool) -> Dialogue:
    """Return a dialogue's tokens as a model that writes the last message reads and writes them.

    `stops` are the tokens that end a reply; `system`: the chat template takes a system message.
    """
    from assistant.models.local import as_chat  # noqa: PLC0415

    def tokens(text: str) -> list[int]:
        # Templates write the special tokens themselves.
        return list(tokenizer(text, add_special_tokens=False)["input_ids"])

    chat, reply = as_chat(messages[:-1], knows_system=system), messages[-1].content
    prefix = tokenizer.apply_chat_template(chat, tokenize=False, add_generation_prompt=True)
    whole = tokenizer.apply_chat_template([*chat, {"role": "assistant", "content": reply}], tokenize=False)
    completion = reply
    if whole.startswith(prefix):
        completion = whole[len(prefix) :]
    elif reply in whole:  # the template opens a reply in another way than it prints one
        completion = whole[whole.rindex(reply) :]
    read, together = tokens(prefix), tokens(prefix + completion)
    # Where a token would span the border, the model begins its answer with a token of its own.
    written = together[len(read) :] if together[: len(read)] == read else tokens(completion)
    ends = [place for place, token in enumerate(written) if token in stops]
    if ends:
        written = written[: ends[-1] + 1]
    elif tokenizer.eos_token_id is not None:
        written.append(tokenizer.eos_token_id)
    return Dialogue((*read, *written), len(read))


def keeps_apart(model: Any, first: Dialogue, second: Dialogue, device: torch.device) -> bool:
    """Return True if a dialogue's logits do not depend on another one before it in its row."""
    before, looked_at = (Dialogue(dialogue.tokens[:LOOKED_AT], 0) for dialogue in (first, second))
    model.eval()
    with torch.no_grad():
        alone = Row((looked_at,)).logits(model, device)
        behind = Row((before, looked_at)).logits(model, device)[:, len(before.tokens) :]
    difference = (behind - alone).float().norm() / alone.float().norm()
    return bool(difference < APART.get(alone.dtype, APART[torch.bfloat16]))


def steps_of(dialogues: Sequence[Dialogue], plan: GeneratorPlan, *, is_packed: bool) -> list[list[Row]]:
    """Return the steps of a run, of rows of dialogues in a drawn order; packed rows have as many as fit."""
    steps: list[list[Row]] = []
    lengths = [len(dialogue.tokens) for dialogue in dialogues]
    for epoch in range(1, plan.epochs + 1):
        order = random.Random(f"{plan.seed} {epoch}").sample(range(len(dialogues)), len(dialogues))
        places = packed(order, lengths, plan.length if is_packed else 0)
        rows = [Row(tuple(dialogues[index] for index in own), epoch) for own in places]
        steps += [rows[at : at + plan.rows_per_step] for at in range(0, len(rows), plan.rows_per_step)]
    return steps
