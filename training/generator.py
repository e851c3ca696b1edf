"""Trains the generator: a causal language model that answers with citations, by LoRA (TruthReader)."""

import hashlib
import json
import re
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal, NamedTuple

import torch
from pydantic import BaseModel, ConfigDict, Field, model_validator
from torch.nn.functional import cross_entropy
from transformers import AutoConfig, AutoModelForCausalLM, AutoTokenizer
from transformers.utils import logging as transformers_logging

from assistant.records import Message
from evaluation.harness import say
from evaluation.input_files import read_json_lines
from training.files import Run, Trained, TrainingError, train_folder
from training.fitting import Plan, Task, fit, reported
from training.network import add_adapters

DIALOGUES_PER_STEP = 4
_LICENCE = re.compile(r"^license:\s*(?P<name>[^\n]{1,100})$", re.MULTILINE)
NOTE = (
    "These weights are made of the base model's and are under its licence. Their data quote the documents"
    " they were made of and were written by a model: the terms of both apply."
)


@dataclass(frozen=True, slots=True)
class GeneratorPlan:
    """The options of a run; the defaults are those that TruthReader states.

    A step has up to `DIALOGUES_PER_STEP` dialogues of `length` tokens. `rank` and `dropout` are LoRA's.
    """

    epochs: int = 2
    learning_rate: float = 1e-5
    length: int = 4096
    seed: int = 0
    rank: int = 16
    dropout: float = 0.05


class ChatMessage(BaseModel):
    """A message in a file of dialogues."""

    model_config = ConfigDict(extra="forbid")

    role: Literal["system", "user", "assistant"]
    content: str = Field(min_length=1, max_length=400_000)


class ChatRow(BaseModel):
    """A line of a file of dialogues."""

    messages: tuple[ChatMessage, ...] = Field(min_length=2, max_length=100)

    @model_validator(mode="after")
    def _check_roles(self) -> "ChatRow":
        roles = [message.role for message in self.messages]
        if roles[-1] != "assistant" or "user" not in roles or "system" in roles[1:]:
            raise ValueError("needs a user's message, the assistant's last, and a system message only first")
        return self


class Dialogue(NamedTuple):
    """The tokens of a dialogue; those from index `answer` are the last reply and its end token."""

    tokens: tuple[int, ...]
    answer: int


def _losses(model: Any, batch: Sequence[Dialogue]) -> Iterator[torch.Tensor]:
    """Yield each dialogue's loss on the tokens of its answer; all answer tokens of a batch weigh equally."""
    answers = sum(len(dialogue.tokens) - dialogue.answer for dialogue in batch)
    device = next(model.parameters()).device
    for dialogue in batch:
        ids = torch.tensor([dialogue.tokens], device=device)
        logits = model(input_ids=ids, use_cache=False).logits[0, dialogue.answer - 1 : -1]
        yield cross_entropy(logits.float(), ids[0, dialogue.answer :], reduction="sum") / answers


TASK: Task[Dialogue] = Task(lambda dialogue: len(dialogue.tokens), _losses)


def train_generator(run: Run, name: str, plan: GeneratorPlan) -> dict[str, Any]:
    """Train a model on dialogues and return the card; a killed run resumes. Raises TrainingError."""
    rows = read_json_lines(run.data, ChatRow, "Each line has messages.")
    weights = sorted(Path(name).glob("*.safetensors"))
    digest = hashlib.sha256("".join(map(_sha256, weights)).encode()).hexdigest() if weights else ""
    base = {"name": name, "sha256": digest}
    data: dict[str, Any] = {"file": run.data.name, "sha256": _sha256(run.data), "rows": len(rows)}
    numbers = asdict(plan)

    def train(fingerprint: str) -> Trained:
        model, tokenizer, stored = _open(name, plan)
        dialogues = _encode_all(model, tokenizer, rows, plan.length)
        say(f"{len(dialogues)} of {len(rows)} dialogues")
        tokens = DIALOGUES_PER_STEP * plan.length
        fitting_plan = Plan(plan.epochs, plan.learning_rate, tokens, 0.03, 0.0, plan.seed)
        curve = fit(model, TASK, dialogues, fitting_plan, run.out, fingerprint=fingerprint)
        learned, seconds = sum(map(TASK.tokens, dialogues)), sum(point["seconds"] for point in curve)
        statistics = _read(run.data.with_suffix(".statistics.json"), json.loads)
        licence = _read(Path(name) / "README.md", _LICENCE.search)
        card = {
            "kind": "generator",
            "method": "LoRA on all linear layers, merged; loss on the answers' tokens (TruthReader)",
            "base": base,
            "data": {
                **data,
                "too_long": len(rows) - len(dialogues),
                **({"made": statistics} if statistics else {}),
            },
            "numbers": numbers,
            "figures": {
                "first_loss": round(curve[0]["loss"], 4),
                "last_loss": round(curve[-1]["loss"], 4),
                "tokens": learned,
                "seconds": round(seconds, 1),
                "tokens_per_second": round(plan.epochs * learned / max(seconds, 1e-9), 1),
            },
            "curve": reported(curve),
            "licences": {
                "base": licence["name"].strip() if licence else "not stated beside the weights",
                "note": NOTE,
            },
        }

        def write() -> None:
            model.merge_and_unload().to(stored).save_pretrained(run.out)
            tokenizer.save_pretrained(run.out)

        return card, write

    return train_folder(run, {"data": data, "model": base, "numbers": numbers}, train)


def _sha256(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise TrainingError(f"{path} cannot be read: {error.strerror}.") from None


def _read(path: Path, parse: Callable[[str], Any]) -> Any:
    """Parse an optional file of the data or the model; None if it cannot be read."""
    try:
        return parse(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None


def _open(name: str, plan: GeneratorPlan) -> tuple[Any, Any, torch.dtype]:
    """Load a model with adapters on its linear layers, its tokenizer, and the dtype of its stored weights.

    Typed Any, as the classes depend on the model. Raises TrainingError if the model cannot be trained.
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
            f"The model {name!r} cannot be loaded: {_first_line(error)}. Use a folder with a model, or the"
            " name of one on the hub."
        ) from None
    if not tokenizer.chat_template:
        raise TrainingError(
            f"The model {name!r} has no chat template. Choose a chat model, or put a chat_template.jinja"
            " beside its weights."
        )
    context = getattr(config, "max_position_embeddings", None)
    if context and plan.length > context:
        raise TrainingError(f"The context of {name!r} is {context:,} tokens: --length must not exceed it.")
    torch.manual_seed(plan.seed)
    if has_gpu:
        model = model.to("cuda")
        model.gradient_checkpointing_enable()
        model.enable_input_require_grads()
    options = {"lora_alpha": 2 * plan.rank, "lora_dropout": plan.dropout, "task_type": "CAUSAL_LM"}
    try:
        model = add_adapters(model, plan.rank, "all-linear", **options)
    except ValueError as error:
        raise TrainingError(f"This model does not support LoRA: {_first_line(error)}.") from None
    return model, tokenizer, config.dtype if isinstance(config.dtype, torch.dtype) else torch.float32


def _first_line(error: Exception) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0][:200].rstrip(".")


def _encode_all(model: Any, tokenizer: Any, rows: Sequence[ChatRow], length: int) -> list[Dialogue]:
    """Encode the dialogues of at most `length` tokens; longer ones are left out, not cut."""
    # Imported here because it imports the runtime of local models.
    from assistant.models.local import knows_system  # noqa: PLC0415

    end_tokens = getattr(model.generation_config, "eos_token_id", None)
    stops = {
        *(end_tokens if isinstance(end_tokens, list) else [end_tokens]),
        tokenizer.eos_token_id,
    } - {None}
    system, dialogues = knows_system(tokenizer), []
    for row in rows:
        messages = [Message(message.role, message.content.strip()) for message in row.messages]
        dialogues.append(encode(tokenizer, messages, stops, system=system))
    short_enough = [dialogue for dialogue in dialogues if len(dialogue.tokens) <= length]
    if not short_enough:
        shortest = min(len(dialogue.tokens) for dialogue in dialogues)
        raise TrainingError(
            f"No dialogue fits into {length:,} tokens; the shortest has {shortest:,}. Use a larger --length,"
            " or make data with a smaller --context."
        )
    return short_enough


def encode(tokenizer: Any, messages: Sequence[Message], stops: Collection[int], *, system: bool) -> Dialogue:
    """Encode a dialogue: its prompt as the model reads it, and the last message as the model writes it.

    `stops` has the tokens that end a reply. `system` is True if the chat template supports a system message.
    """
    from assistant.models.local import as_chat  # noqa: PLC0415

    def tokens(text: str) -> list[int]:
        # The templates already contain the special tokens.
        return list(tokenizer(text, add_special_tokens=False)["input_ids"])

    chat, reply = as_chat(messages[:-1], knows_system=system), messages[-1].content
    prefix = tokenizer.apply_chat_template(chat, tokenize=False, add_generation_prompt=True)
    whole = tokenizer.apply_chat_template([*chat, {"role": "assistant", "content": reply}], tokenize=False)
    completion = reply
    if whole.startswith(prefix):
        completion = whole[len(prefix) :]
    elif reply in whole:  # the generation prompt differs from the beginning of a printed reply
        completion = whole[whole.rindex(reply) :]
    prompt_tokens, all_tokens = tokens(prefix), tokens(prefix + completion)
    # If a token would span prompt and answer, tokenise the answer alone: generation starts with a new token.
    has_same_prefix = all_tokens[: len(prompt_tokens)] == prompt_tokens
    answer_tokens = all_tokens[len(prompt_tokens) :] if has_same_prefix else tokens(completion)
    ends = [index for index, token in enumerate(answer_tokens) if token in stops]
    if ends:
        answer_tokens = answer_tokens[: ends[-1] + 1]
    elif tokenizer.eos_token_id is not None:
        answer_tokens.append(tokenizer.eos_token_id)
    return Dialogue((*prompt_tokens, *answer_tokens), len(prompt_tokens))
