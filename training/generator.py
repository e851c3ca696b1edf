"""The generator: a causal language model taught to answer with citations, by LoRA (TruthReader)."""

import hashlib
import json
import random
import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import version
from itertools import chain
from pathlib import Path
from typing import Any, Literal

import torch
from pydantic import BaseModel, ConfigDict, Field, model_validator
from torch.nn.functional import cross_entropy
from transformers import AutoConfig, AutoModelForCausalLM, AutoTokenizer
from transformers.utils import logging as transformers_logging

from assistant.records import Message
from corpus.durable import sync_tree
from evaluation.input_files import read_json_lines
from training.files import CARD, Run, TrainingError, as_json, finished_card, saving, write_durably
from training.fitting import CHECKPOINT, CURVE, Loop, Plan
from training.network import adapted

LONGEST_MESSAGE = 400_000
IGNORED = -100  # the label of tokens without loss
# Relative difference of a dialogue's logits alone and behind another one, as far as rounding makes it.
APART = {torch.float32: 1e-3, torch.bfloat16: 5e-2}
LOOKED_AT = 64
_LICENCE = re.compile(r"^license:\s*(?P<name>[^\n]{1,100})$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class GeneratorPlan:
    """The options of a run; the defaults are TruthReader's where it names them.

    `rows_per_step` rows of `length` tokens make a step. `rank` and `dropout` are LoRA's; its scale is twice
    the rank.
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

    model_config = ConfigDict(frozen=True, extra="forbid")

    role: Literal["system", "user", "assistant"]
    content: str = Field(min_length=1, max_length=LONGEST_MESSAGE)


class ChatRow(BaseModel):
    """A line of a file of dialogues."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    messages: tuple[ChatMessage, ...] = Field(min_length=2, max_length=100)

    @model_validator(mode="after")
    def _in_order(self) -> "ChatRow":
        roles = [message.role for message in self.messages]
        if roles[-1] != "assistant" or "user" not in roles or "system" in roles[1:]:
            raise ValueError("has a user's message, ends with the assistant's, and a system message is first")
        return self


@dataclass(frozen=True, slots=True)
class Dialogue:
    """The tokens of a dialogue; from `answer` on they are the last reply, with the token that ends it."""

    tokens: tuple[int, ...]
    answer: int


Row = tuple[Dialogue, ...]
Step = tuple[int, tuple[Row, ...]]


@dataclass(frozen=True, slots=True)
class Base:
    """A causal language model with its tokenizer; `stored` is the type in which its weights are saved.

    Any: their types depend on what is loaded.
    """

    model: Any
    tokenizer: Any
    stored: torch.dtype
    device: torch.device

    @property
    def stops(self) -> frozenset[int]:
        """The tokens that end a reply."""
        known = getattr(self.model.generation_config, "eos_token_id", None)
        listed = known if isinstance(known, list) else [known]
        return frozenset(token for token in (*listed, self.tokenizer.eos_token_id) if token is not None)

    @classmethod
    def open(cls, name: str, length: int) -> "Base":
        """Open a model by its folder or name; raises TrainingError where it cannot be trained."""
        device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        transformers_logging.disable_progress_bar()  # type: ignore[no-untyped-call]
        try:
            config = AutoConfig.from_pretrained(name)
            tokenizer: Any = AutoTokenizer.from_pretrained(name)
            dtype = torch.bfloat16 if device.type == "cuda" else torch.float32
            model: Any = AutoModelForCausalLM.from_pretrained(name, dtype=dtype)
        except (OSError, ValueError, KeyError, RuntimeError) as error:
            raise TrainingError(
                f"The model {name!r} cannot be loaded: {_first_line(error)}. Name a folder with a"
                " model in it, or one on the hub."
            ) from None
        if not tokenizer.chat_template:
            raise TrainingError(
                f"The model {name!r} has no chat template, so there is no form for its dialogues. Choose one"
                " that was taught to chat, or put a chat_template.jinja beside its weights."
            )
        room = getattr(config, "max_position_embeddings", None)
        if room and length > room:
            raise TrainingError(
                f"The model {name!r} takes in {room:,} tokens: ask for a --length of at most so many."
            )
        stored = config.dtype if isinstance(config.dtype, torch.dtype) else torch.float32
        return cls(model.to(device), tokenizer, stored, device)


def train_generator(run: Run, name: str, plan: GeneratorPlan, checkpoint_steps: int = 20) -> dict[str, Any]:
    """Train a model on dialogues and return the card; a killed run resumes. Raises TrainingError."""
    data, out, say = run.data, run.out, run.say
    rows = read_json_lines(data, ChatRow, "Each line has messages.")
    source, weights = {"file": data.name, "sha256": _sha256(data)}, sorted(Path(name).glob("*.safetensors"))
    digests = "".join(map(_sha256, weights))
    model_id = {"name": name, "sha256": hashlib.sha256(digests.encode()).hexdigest() if weights else ""}
    parts = {"data": source["sha256"], "model": model_id, "numbers": asdict(plan)}
    fingerprint = hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()
    if (finished := finished_card(out, fingerprint)) is not None:
        say(f"{out} holds this model already.")
        return finished
    with saving(out):
        out.mkdir(parents=True, exist_ok=True)
    base = Base.open(name, plan.length)
    dialogues = _fitting(base, rows, plan.length)
    model = _with_adapters(base, plan)
    packed = len(dialogues) > 1 and keeps_apart(model, dialogues[0], dialogues[1], base.device)
    steps = steps_of(dialogues, plan, packed=packed)
    say(f"{len(dialogues)} of {len(rows)} dialogues")

    def losses(step: Step) -> Iterator[torch.Tensor]:
        # Each answer token has the same weight, whatever its row.
        answers = _answer_tokens(step)
        yield from (loss_of(model, row, base.device) / answers for row in step[1])

    how = Plan(plan.epochs, plan.learning_rate, plan.length, 0.03, 0.0, plan.seed)
    points = Loop(model, steps, losses, how, out, fingerprint, say, 1, checkpoint_steps).run()
    curve = [
        {**point, "epoch": step[0], "tokens": _all_tokens(step), "answer_tokens": _answer_tokens(step)}
        for point, step in zip(points, steps, strict=True)
    ]
    about = {"rows": len(rows), "too_long": len(rows) - len(dialogues), "packed": packed}
    card = {
        "kind": "generator",
        "method": "LoRA on all linear layers, merged; loss on the answers' tokens (TruthReader)",
        "fingerprint": fingerprint,
        "base": model_id,
        "data": {**source, **about, **_made_of(data)},
        "numbers": asdict(plan),
        "figures": _figures(curve),
        "licences": _licences(name),
        "versions": {package: version(package) for package in ("torch", "transformers", "peft")},
    }
    with saving(out):
        write_durably(out / "curve.json", json.dumps(curve) + "\n")
        model.merge_and_unload().to(base.stored).save_pretrained(out)
        base.tokenizer.save_pretrained(out)
        sync_tree(out)
        write_durably(out / CARD, as_json(card))
        for file in (CHECKPOINT, CURVE):
            (out / file).unlink(missing_ok=True)
    return card


def _sha256(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise TrainingError(f"{path} cannot be read: {error.strerror}.") from None


def _fitting(base: Base, rows: Sequence[ChatRow], length: int) -> list[Dialogue]:
    """Return the dialogues of at most `length` tokens; none is cut: its answer would lose its evidence."""
    # Imported here because it imports the runtime of local models.
    from assistant.models.local import knows_system  # noqa: PLC0415

    system, dialogues = knows_system(base.tokenizer), []
    for row in rows:
        messages = [Message(message.role, message.content.strip()) for message in row.messages]
        dialogues.append(encode(base.tokenizer, messages, base.stops, system=system))
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


def _with_adapters(base: Base, plan: GeneratorPlan) -> Any:
    """Return the model with new LoRA adapters on all its linear layers; raises TrainingError."""
    torch.manual_seed(plan.seed)
    if base.device.type == "cuda":
        base.model.gradient_checkpointing_enable()
        base.model.enable_input_require_grads()
    options = {"lora_alpha": 2 * plan.rank, "lora_dropout": plan.dropout, "task_type": "CAUSAL_LM"}
    try:
        return adapted(base.model, plan.rank, "all-linear", **options)
    except ValueError as error:
        raise TrainingError(f"This model takes no LoRA adapters: {_first_line(error)}.") from None


def keeps_apart(model: Any, first: Dialogue, second: Dialogue, device: torch.device) -> bool:
    """Return True if a dialogue's logits do not depend on another one before it in its row."""
    one, other = (Dialogue(long.tokens[:LOOKED_AT], LOOKED_AT) for long in (first, second))
    model.eval()
    with torch.no_grad():
        alone = _logits(model, (other,), device)
        behind = _logits(model, (one, other), device)[:, len(one.tokens) :]
    difference = (behind - alone).float().norm() / alone.float().norm()
    return bool(difference < APART.get(alone.dtype, APART[torch.bfloat16]))


def _logits(model: Any, row: Row, device: torch.device) -> torch.Tensor:
    """Return the predictions after every token of a row: (1, tokens, vocabulary).

    Positions restart with every dialogue, from which transformers makes a mask that keeps dialogues apart.
    """
    tokens = list(chain.from_iterable(dialogue.tokens for dialogue in row))
    positions = list(chain.from_iterable(range(len(dialogue.tokens)) for dialogue in row))
    ids, places = torch.tensor([[tokens], [positions]], device=device)
    found: torch.Tensor = model(input_ids=ids, position_ids=places, use_cache=False).logits
    return found


def labels_of(row: Row) -> torch.Tensor:
    """Return the labels of a row: (1, tokens), IGNORED outside of answers."""
    labels = ([IGNORED] * dialogue.answer + list(dialogue.tokens[dialogue.answer :]) for dialogue in row)
    return torch.tensor([list(chain.from_iterable(labels))])


def loss_of(model: Any, row: Row, device: torch.device) -> torch.Tensor:
    """Return the summed loss on the tokens of a row's answers."""
    wanted = labels_of(row).to(device)[:, 1:]
    is_answer = wanted != IGNORED
    predicted = _logits(model, row, device)[:, :-1][is_answer]
    return cross_entropy(predicted.float(), wanted[is_answer], reduction="sum")


def steps_of(dialogues: Sequence[Dialogue], plan: GeneratorPlan, *, packed: bool) -> list[Step]:
    """Return the steps of a run: the epoch, from 1, and rows of dialogues in a drawn order.

    Packed rows have as many dialogues as fit into `plan.length` tokens.
    """
    steps: list[Step] = []
    for epoch in range(1, plan.epochs + 1):
        rows: list[list[Dialogue]] = []
        room = 0
        for index in random.Random(f"{plan.seed} {epoch}").sample(range(len(dialogues)), len(dialogues)):
            dialogue = dialogues[index]
            if not packed or len(dialogue.tokens) > room:
                rows.append([])
                room = plan.length
            rows[-1].append(dialogue)
            room -= len(dialogue.tokens)
        starts = range(0, len(rows), plan.rows_per_step)
        steps += [(epoch, tuple(map(tuple, rows[at : at + plan.rows_per_step]))) for at in starts]
    return steps


def _answer_tokens(step: Step) -> int:
    return sum(len(dialogue.tokens) - dialogue.answer for row in step[1] for dialogue in row)


def _all_tokens(step: Step) -> int:
    return sum(len(dialogue.tokens) for row in step[1] for dialogue in row)


def _figures(curve: Sequence[dict[str, Any]]) -> dict[str, float]:
    """Return the totals of a run, with the mean losses of its first and its last epoch."""

    def mean_loss(epoch: int) -> float:
        points = [point for point in curve if point["epoch"] == epoch]
        summed = sum(point["loss"] * point["answer_tokens"] for point in points)
        return float(round(summed / sum(point["answer_tokens"] for point in points), 4))

    tokens, seconds = (sum(point[name] for point in curve) for name in ("tokens", "seconds"))
    return {
        "steps": len(curve),
        "first_epoch_loss": mean_loss(1),
        "last_epoch_loss": mean_loss(curve[-1]["epoch"]),
        "tokens": tokens,
        "answer_tokens": sum(point["answer_tokens"] for point in curve),
        "seconds": round(seconds, 1),
        "tokens_per_second": round(tokens / max(seconds, 1e-9), 1),
    }


def _licences(name: str) -> dict[str, str]:
    try:
        found = _LICENCE.search((Path(name) / "README.md").read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError):
        found = None
    return {
        "base": found["name"].strip() if found else "not stated beside the weights",
        "note": "These weights are made of the base model's and are under its licence. Their data quote the"
        " documents they were made of and were written by a model: the terms of both apply.",
    }


def _made_of(data: Path) -> dict[str, object]:
    """Return the statistics that the data command wrote beside the rows."""
    try:
        told = json.loads(data.with_suffix(".statistics.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return {"made": told} if isinstance(told, dict) else {}


def _first_line(error: Exception) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0][:200].rstrip(".")
