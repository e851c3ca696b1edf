"""The model that is trained: opened, given its adapters, and saved with them merged in."""

import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from peft import LoraConfig, get_peft_model
from transformers import AutoConfig, AutoModelForCausalLM, AutoTokenizer
from transformers.utils import logging as transformers_logging

from training.errors import TrainingError
from training.generator.dialogues import Dialogue
from training.generator.packing import as_batch
from training.generator.plan import GeneratorPlan

# How far what a model says of a dialogue may differ when another stands before it: what rounding makes.
APART = {torch.float32: 1e-3, torch.bfloat16: 5e-2}
LOOKED_AT = 64


@dataclass(frozen=True, slots=True)
class Base:
    """A causal language model with its tokenizer; `stored` is the type its weights are saved in.

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
        return frozenset(one for one in (*listed, self.tokenizer.eos_token_id) if one is not None)


def open_base(name: str, length: int) -> Base:
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
            f"The model {name!r} cannot be loaded: {_first_line(error)}. Name a folder with a model in it, or"
            " one on the hub."
        ) from None
    if not tokenizer.chat_template:
        raise TrainingError(
            f"The model {name!r} has no chat template, so there is no form for its dialogues. Choose one that"
            " was taught to chat, or put a chat_template.jinja beside its weights."
        )
    room = getattr(config, "max_position_embeddings", None)
    if room and length > room:
        raise TrainingError(
            f"The model {name!r} takes in {room:,} tokens: ask for a --length of at most so many."
        )
    stored = config.dtype if isinstance(config.dtype, torch.dtype) else torch.float32
    return Base(model.to(device), tokenizer, stored, device)


def with_adapters(base: Base, plan: GeneratorPlan) -> Any:
    """Return the model with fresh LoRA adapters on all its linear layers; raises TrainingError."""
    torch.manual_seed(plan.seed)
    adapters = LoraConfig(
        r=plan.rank,
        lora_alpha=2 * plan.rank,
        lora_dropout=plan.dropout,
        target_modules="all-linear",
        task_type="CAUSAL_LM",
    )
    if base.device.type == "cuda":
        base.model.gradient_checkpointing_enable()
        base.model.enable_input_require_grads()
    try:
        with warnings.catch_warnings():
            # peft asks transformers for it by its old name.
            warnings.filterwarnings("ignore", "`is_gradient_checkpointing`", FutureWarning)
            return get_peft_model(base.model, adapters)
    except ValueError as error:
        raise TrainingError(f"This model takes no LoRA adapters: {_first_line(error)}.") from None


def keeps_apart(model: Any, first: Dialogue, second: Dialogue, device: torch.device) -> bool:
    """Return True if a model says the same of a dialogue when another stands before it in its row."""
    one, other = (_beginning(dialogue) for dialogue in (first, second))
    model.eval()
    with torch.no_grad():
        alone = logits_of(model, as_batch((other,), device))
        behind = logits_of(model, as_batch((one, other), device))[:, len(one.tokens) :]
    difference = (behind - alone).float().norm() / alone.float().norm()
    return bool(difference < APART.get(alone.dtype, APART[torch.bfloat16]))


def logits_of(model: Any, batch: Any) -> torch.Tensor:
    """Return what a model predicts after every token of a row."""
    found: torch.Tensor = model(input_ids=batch.tokens, position_ids=batch.positions, use_cache=False).logits
    return found


def save_merged(model: Any, base: Base, out: Path) -> None:
    """Save the model with its adapters merged in, its tokenizer and its chat template; raises OSError."""
    merged = model.merge_and_unload().to(base.stored)
    merged.save_pretrained(out)
    base.tokenizer.save_pretrained(out)


def _beginning(one: Dialogue) -> Dialogue:
    return Dialogue(one.tokens[:LOOKED_AT], min(one.answer, LOOKED_AT))


def _first_line(error: Exception) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0][:200].rstrip(".")
