"""The training run: dialogues in, a model that cites out."""

import json
import math
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from torch.nn.functional import cross_entropy

from corpus.durable import sync_tree
from training.errors import TrainingError
from training.folders import CARD, finished_card, saving, write_durably
from training.generator.base import Base, keeps_apart, logits_of, open_base, save_merged, with_adapters
from training.generator.card import CURVE, card_of, fingerprint_of
from training.generator.checkpoints import (
    NAME,
    Point,
    load_checkpoint,
    save_checkpoint,
)
from training.generator.dialogues import Dialogue, encode, read_rows
from training.generator.packing import IGNORED, Row, all_tokens, answer_tokens, as_batch, steps_of
from training.generator.plan import GeneratorPlan

WARM_UP = 0.03
LARGEST_GRADIENT = 1.0

Say = Callable[[str], None]
Step = tuple[int, tuple[Row, ...]]


def train_generator(plan: GeneratorPlan, say: Say) -> dict[str, Any]:
    """Train a model on dialogues, or go on with it, and return the card; raises TrainingError."""
    rows = read_rows(plan.data)
    fingerprint = fingerprint_of(plan)
    if (finished := finished_card(plan.out, fingerprint)) is not None:
        say(f"{plan.out} holds this model already.")
        return finished
    with saving(plan.out):
        plan.out.mkdir(parents=True, exist_ok=True)
    base = open_base(plan.model, plan.length)
    dialogues = _fitting(_encoded(base, rows), plan)
    model = with_adapters(base, plan)
    packed = len(dialogues) > 1 and keeps_apart(model, dialogues[0], dialogues[1], base.device)
    steps = steps_of(dialogues, plan.length, plan.seed, plan.epochs, plan.rows_per_step, packed=packed)
    say(f"{len(dialogues)} of {len(rows)} dialogues, {len(steps)} steps on {base.device.type}")
    curve = _Run(plan, fingerprint, model, base.device).take(steps, say)
    about = {"rows": len(rows), "too_long": len(rows) - len(dialogues), "packed": packed}
    return _save(model, base, plan, card_of(plan, fingerprint, curve, about), curve)


def _encoded(base: Base, rows: Sequence[Any]) -> list[Dialogue]:
    # Here, because it brings what local models are run with.
    from assistant.models.local import knows_system  # noqa: PLC0415

    system = knows_system(base.tokenizer)
    return [encode(base.tokenizer, row, base.stops, system=system) for row in rows]


def _fitting(dialogues: Sequence[Dialogue], plan: GeneratorPlan) -> list[Dialogue]:
    """Return the dialogues that have room in a row; none is cut: its answer would lose what carries it."""
    found = [one for one in dialogues if len(one.tokens) <= plan.length]
    if not found:
        shortest = min(len(one.tokens) for one in dialogues)
        raise TrainingError(
            f"No dialogue fits into {plan.length:,} tokens; the shortest has {shortest:,}. Ask for a longer"
            " --length, or make data with a smaller --context."
        )
    return found


@dataclass(frozen=True, slots=True)
class _Run:
    """A run under way: the model with its adapters, and what is to come of it."""

    plan: GeneratorPlan
    fingerprint: str
    model: Any
    device: torch.device

    def take(self, steps: Sequence[Step], say: Say) -> list[Point]:
        """Take the steps that are left and return the whole curve."""
        optimiser = torch.optim.AdamW(self._trained(), lr=self.plan.learning_rate, weight_decay=0.0)
        curve = load_checkpoint(self.plan.out, self.fingerprint, self.model, optimiser, self.device)
        self.model.train()
        for number in range(len(curve) + 1, len(steps) + 1):
            optimiser.param_groups[0]["lr"] = self.plan.learning_rate * share_of_rate(number, len(steps))
            curve.append(self._step(optimiser, number, steps[number - 1]))
            say(_told(curve[-1], len(steps)))
            if number % self.plan.checkpoint_every == 0 or number == len(steps):
                save_checkpoint(self.plan.out, self.fingerprint, self.model, optimiser, curve)
                _write_curve(self.plan.out, curve)
        return curve

    def _trained(self) -> list[torch.nn.Parameter]:
        return [parameter for parameter in self.model.parameters() if parameter.requires_grad]

    def _step(self, optimiser: torch.optim.Optimizer, number: int, step: Step) -> Point:
        epoch, rows = step
        clock = time.monotonic()
        answers = answer_tokens(rows)
        loss = 0.0
        for row in rows:
            # Each token of an answer counts the same, whatever row it stands in.
            part = loss_of(self.model, row, self.device) / answers
            part.backward()  # type: ignore[no-untyped-call]
            loss += float(part.detach())
        if not math.isfinite(loss):
            raise TrainingError(f"Step {number} has no finite loss. Try a lower --learning-rate.")
        torch.nn.utils.clip_grad_norm_(self._trained(), LARGEST_GRADIENT)
        optimiser.step()
        optimiser.zero_grad(set_to_none=True)
        return Point(number, epoch, loss, all_tokens(rows), answers, time.monotonic() - clock)


def share_of_rate(step: int, steps: int) -> float:
    """Return which share of the learning rate a step has, from 1: a short rise, then half a cosine."""
    rise = max(1, round(WARM_UP * steps))
    if step <= rise:
        return step / rise
    return 0.5 * (1 + math.cos(math.pi * (step - rise) / max(1, steps - rise)))


def loss_of(model: Any, row: Row, device: torch.device) -> torch.Tensor:
    """Return the summed loss on the tokens of a row's answers."""
    batch = as_batch(row, device)
    wanted = batch.labels[:, 1:]
    is_answer = wanted != IGNORED
    predicted = logits_of(model, batch)[:, :-1][is_answer]
    return cross_entropy(predicted.float(), wanted[is_answer], reduction="sum")


def _told(point: Point, steps: int) -> str:
    speed = point.tokens / max(point.seconds, 1e-9)
    return f"step {point.step} of {steps}, epoch {point.epoch}: loss {point.loss:.4f}, {speed:,.0f} tokens/s"


def _write_curve(out: Path, curve: Sequence[Point]) -> None:
    with saving(out):
        write_durably(out / CURVE, (json.dumps([asdict(point) for point in curve]) + "\n").encode())


def _save(model: Any, base: Base, plan: GeneratorPlan, card: str, curve: Sequence[Point]) -> dict[str, Any]:
    """Write the model, then its card, which says that it is whole; the checkpoint is not needed any more."""
    _write_curve(plan.out, curve)
    try:
        with saving(plan.out):
            save_merged(model, base, plan.out)
            sync_tree(plan.out)
            write_durably(plan.out / CARD, card.encode())
            (plan.out / NAME).unlink(missing_ok=True)
    except (SafetensorError, RuntimeError) as error:
        raise TrainingError(f"{plan.out} cannot be written: {error}. Free space and run again.") from None
    told: dict[str, Any] = json.loads(card)
    return told
