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
from training.network import Reader, restore, trained

Example = TypeVar("Example")
Batch = TypeVar("Batch")
CHECKPOINT, CURVE = "checkpoint.pt", "curve.jsonl"
SPREAD = 0.1  # jitter of lengths, so that batches differ between epochs


# One optimiser step, from 1.
class Point(TypedDict):
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
    """Optimiser steps over batches, with a checkpoint in `folder`; `fingerprint` tells runs apart.

    `losses` yields the parts of a batch's loss, each backpropagated by itself. Checkpoints are
    `checkpoint_steps` apart, or, where that is 0, `plan.checkpoint_seconds`.
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
        plan, weights, steps = self.plan, list(trained(self.model).values()), len(self.batches)
        optimizer = torch.optim.AdamW(weights, lr=plan.learning_rate, weight_decay=plan.weight_decay)
        curve, saved = self._resume(optimizer), time.monotonic()
        self.model.train()
        self.say(f"{steps} steps, {len(curve)} done, {weights[0].device.type}")
        for step in range(len(curve) + 1, steps + 1):
            clock = time.monotonic()
            loss = self._step(optimizer, weights, step)
            curve.append({"step": step, "loss": loss, "seconds": time.monotonic() - clock})
            if step == steps or step % self.report_steps == 0:
                self.say(f"step {step} of {steps}: loss {loss:.4f}, {curve[-1]['seconds']:.2f} s")
                lines = "".join(json.dumps(point) + "\n" for point in reported(curve, self.report_steps))
                with saving(self.folder):
                    write_durably(self.folder / CURVE, lines)
            passed = time.monotonic() - saved > plan.checkpoint_seconds
            if step == steps or (step % self.checkpoint_steps == 0 if self.checkpoint_steps else passed):
                self._save(optimizer, curve)
                saved = time.monotonic()
        return curve

    def _step(self, optimizer: torch.optim.Optimizer, weights: list[torch.nn.Parameter], step: int) -> float:
        """Take one step and return its loss; the learning rate rises linearly and falls by half a cosine."""
        steps, done = len(self.batches), step - 1
        # Dropout is seeded by the step, so that a resumed run draws what an uninterrupted one does.
        torch.manual_seed(self.plan.seed * 1_000_003 + done)
        warm = max(1, int(self.plan.warm_up * steps))
        fall = 0.5 * (1 + math.cos(math.pi * (done - warm) / max(1, steps - warm)))
        optimizer.param_groups[0]["lr"] = self.plan.learning_rate * (step / warm if done < warm else fall)
        optimizer.zero_grad(set_to_none=True)
        loss = 0.0
        for part in self.losses(self.batches[done]):
            part.backward()  # type: ignore[no-untyped-call]
            loss += float(part.detach())
        if not math.isfinite(loss):
            raise TrainingError(f"Step {step} has no finite loss. Try a lower learning rate.")
        torch.nn.utils.clip_grad_norm_(weights, 1.0)
        optimizer.step()
        return loss

    def _save(self, optimizer: torch.optim.Optimizer, curve: list[Point]) -> None:
        written = io.BytesIO()
        weights = {name: weight.detach().cpu() for name, weight in trained(self.model).items()}
        state = {"fingerprint": self.fingerprint, "trained": weights, "curve": curve}
        torch.save(state | {"optimizer": optimizer.state_dict()}, written)
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
        restore(self.model, state["trained"])
        optimizer.load_state_dict(state["optimizer"])
        return list(state["curve"])


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
    """Fit a reader to examples and return the curve; raises TrainingError."""
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
    batches = packed(sorted(range(len(examples)), key=jittered.__getitem__), lengths, plan.tokens)
    chance.shuffle(batches)
    return batches


def packed(order: Iterable[int], lengths: Sequence[int], most: int) -> list[list[int]]:
    """Return indices, in their order, in groups of at most so many tokens."""
    groups: list[list[int]] = []
    room = 0
    for index in order:
        if not groups or lengths[index] > room:
            groups.append([])
            room = most
        groups[-1].append(index)
        room -= lengths[index]
    return groups


def autocast(reader: Reader) -> torch.autocast:
    """Multiply matrices in bfloat16 where the machine does so faster: on GPUs and newer processors."""
    device = reader.head.weight.device.type
    is_fast = device != "cpu" or torch.ops.mkldnn._is_mkldnn_bf16_supported()
    return torch.autocast(device, torch.bfloat16, enabled=is_fast)
