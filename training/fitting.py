"""The loop of all trainers: seeded batches, checkpoints that a killed run resumes from, a learning curve."""

import io
import json
import math
import pickle
import random
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Generic, TypedDict, TypeVar

import torch

from training.files import Say, TrainingError, saving, write_durably
from training.network import Reader, learned, restore

Example = TypeVar("Example")
Batch = TypeVar("Batch")
CHECKPOINT = "checkpoint.pt"
CURVE = "curve.jsonl"
SPREAD = 0.1  # jitter of lengths, so that batches differ between epochs


class Point(TypedDict):
    """One optimiser step: its number from 1, its loss and its duration."""

    step: int
    loss: float
    seconds: float


@dataclass(frozen=True, slots=True)
class Plan:
    """The numbers of a run; `tokens` is the size of a step without padding."""

    epochs: int = 3
    learning_rate: float = 5e-4
    tokens: int = 32768
    warm_up: float = 0.1
    weight_decay: float = 0.01
    seed: int = 13
    checkpoint_seconds: float = 60.0


@dataclass(frozen=True, slots=True)
class Task(Generic[Example]):
    """What a trainer brings to the loop: the tokens of an example and the loss of a batch."""

    tokens: Callable[[Example], int]
    loss: Callable[[Reader, Sequence[Example]], torch.Tensor]


@dataclass(frozen=True, slots=True)
class Loop(Generic[Batch]):
    """Optimiser steps over batches, with a checkpoint in `folder`.

    `losses` yields the parts of a batch's loss, each backpropagated by itself. `fingerprint` names the run.
    With `checkpoint_steps` the checkpoints are so many steps apart, otherwise `plan.checkpoint_seconds`.
    """

    model: torch.nn.Module
    batches: Sequence[Batch]
    losses: Callable[[Batch], Iterable[torch.Tensor]]
    plan: Plan
    folder: Path
    fingerprint: object
    say: Say
    report_steps: int = 20
    checkpoint_steps: int = 0

    def run(self) -> list[Point]:
        """Take the remaining steps and return the whole curve; raises TrainingError."""
        weights = list(learned(self.model).values())
        optimizer = torch.optim.AdamW(
            weights, lr=self.plan.learning_rate, weight_decay=self.plan.weight_decay
        )
        curve = self._resume(optimizer)
        self.model.train()
        steps, saved, device = len(self.batches), time.monotonic(), weights[0].device.type
        self.say(f"{steps} steps, {len(curve)} done, {device}")
        for batch in self.batches[len(curve) :]:
            point = self._step(optimizer, weights, batch, len(curve) + 1)
            curve.append(point)
            is_last = point["step"] == steps
            if is_last or point["step"] % self.report_steps == 0:
                self.say(
                    f"step {point['step']} of {steps}: loss {point['loss']:.4f}, {point['seconds']:.2f} s"
                )
                self._write_curve(curve)
            passed = time.monotonic() - saved > self.plan.checkpoint_seconds
            is_due = point["step"] % self.checkpoint_steps == 0 if self.checkpoint_steps else passed
            if is_last or is_due:
                self._save(optimizer, curve)
                saved = time.monotonic()
        return curve

    def _step(
        self, optimizer: torch.optim.Optimizer, weights: list[torch.nn.Parameter], batch: Batch, step: int
    ) -> Point:
        clock, loss = time.monotonic(), 0.0
        # Dropout is seeded by the step, so that a resumed run draws what an uninterrupted one does.
        torch.manual_seed(self.plan.seed * 1_000_003 + step - 1)
        optimizer.param_groups[0]["lr"] = self.plan.learning_rate * self._share_of_rate(step - 1)
        optimizer.zero_grad(set_to_none=True)
        for part in self.losses(batch):
            part.backward()  # type: ignore[no-untyped-call]
            loss += float(part.detach())
        if not math.isfinite(loss):
            raise TrainingError(f"Step {step} has no finite loss. Try a lower learning rate.")
        torch.nn.utils.clip_grad_norm_(weights, 1.0)
        optimizer.step()
        return {"step": step, "loss": loss, "seconds": time.monotonic() - clock}

    def _share_of_rate(self, done: int) -> float:
        """Return the share of the learning rate: a linear rise, then half a cosine."""
        steps = len(self.batches)
        warm = max(1, int(self.plan.warm_up * steps))
        if done < warm:
            return (done + 1) / warm
        return 0.5 * (1 + math.cos(math.pi * (done - warm) / max(1, steps - warm)))

    def _save(self, optimizer: torch.optim.Optimizer, curve: list[Point]) -> None:
        state = {
            "fingerprint": self.fingerprint,
            "learned": {name: weight.detach().cpu() for name, weight in learned(self.model).items()},
            "optimizer": optimizer.state_dict(),
            "curve": curve,
        }
        written = io.BytesIO()
        torch.save(state, written)
        with saving(self.folder):
            write_durably(self.folder / CHECKPOINT, written.getvalue())

    def _resume(self, optimizer: torch.optim.Optimizer) -> list[Point]:
        path = self.folder / CHECKPOINT
        with saving(self.folder):
            self.folder.mkdir(parents=True, exist_ok=True)
        if not path.exists():
            return []
        try:
            state: dict[str, Any] = torch.load(path, weights_only=True)
        except (OSError, RuntimeError, EOFError, ValueError, LookupError, pickle.UnpicklingError):
            raise TrainingError(f"{path} cannot be read. Remove it to begin anew.") from None
        if state.get("fingerprint") != self.fingerprint:
            raise TrainingError(
                f"{path} is of a run on other data or with other numbers. Remove it, or name another folder."
            )
        restore(self.model, state["learned"])
        optimizer.load_state_dict(state["optimizer"])
        return list(state["curve"])

    def _write_curve(self, curve: Sequence[Point]) -> None:
        lines = "".join(json.dumps(point) + "\n" for point in reported(curve, self.report_steps))
        with saving(self.folder):
            write_durably(self.folder / CURVE, lines)


def reported(curve: Sequence[Point], every: int = 20) -> list[dict[str, float]]:
    """Return the losses of every 20th step and of the last one."""
    kept = [point for point in curve if point["step"] % every == 0 or point is curve[-1]]
    return [{"step": point["step"], "loss": round(point["loss"], 5)} for point in kept]


def fit(
    reader: Reader,
    task: Task[Example],
    examples: Sequence[Example],
    plan: Plan,
    folder: Path,
    *,
    say: Say,
    fingerprint: object = None,
) -> list[Point]:
    """Fit a reader to examples and return the curve, resuming from the folder's checkpoint.

    Raises TrainingError without examples, and for a checkpoint of another run.
    """
    if not examples:
        raise TrainingError("There is no example to learn from.")
    batches = [batch for epoch in range(plan.epochs) for batch in batched(task, examples, plan, epoch)]

    def losses(batch: Sequence[int]) -> Iterator[torch.Tensor]:
        with autocast(reader):
            loss = task.loss(reader, [examples[index] for index in batch])
        yield loss

    return Loop(reader, batches, losses, plan, folder, fingerprint or asdict(plan), say).run()


def batched(task: Task[Example], examples: Sequence[Example], plan: Plan, epoch: int) -> list[list[int]]:
    """Return an epoch's batches of indices: examples of similar length together, in random order."""
    chance = random.Random(f"{plan.seed}:{epoch}")
    lengths = [task.tokens(example) for example in examples]
    jittered = [length * (1 + chance.uniform(-SPREAD, SPREAD)) for length in lengths]
    batches: list[list[int]] = []
    room = 0
    for index in sorted(range(len(examples)), key=jittered.__getitem__):
        if not batches or lengths[index] > room:
            batches.append([])
            room = plan.tokens
        batches[-1].append(index)
        room -= lengths[index]
    chance.shuffle(batches)
    return batches


def autocast(reader: Reader) -> torch.autocast:
    """Multiply matrices in bfloat16 where the machine does so faster: on GPUs and newer processors."""
    device = reader.head.weight.device.type
    is_fast = device != "cpu" or torch.ops.mkldnn._is_mkldnn_bf16_supported()
    return torch.autocast(device, torch.bfloat16, enabled=is_fast)
