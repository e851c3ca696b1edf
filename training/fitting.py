"""The training loop of all trainers: seeded batches, checkpoints to resume from, and a learning curve.

A library's trainer does not do this: batches are filled by tokens, the parts of a loss are backpropagated one
by one, and a run that was killed and resumed gives the same weights as an uninterrupted one.
"""

import io
import json
import math
import pickle
import random
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Generic, TypedDict, TypeVar

import torch

from assistant.learned.parts import Card
from evaluation.harness import say
from training.files import CHECKPOINT, CURVE, Run, TrainingError, saving, write_durably
from training.network import Measured, Reader, Scales, mean_weights, restore, trainable, write_part

Example = TypeVar("Example")
REPORTED = 20  # steps between two points of the stored curve
SPREAD = 0.1  # random change of lengths in sorting, so that batches differ between epochs


# An optimiser step, counted from 1.
class Point(TypedDict):
    step: int
    loss: float
    seconds: float


@dataclass(frozen=True, slots=True)
class Plan:
    """The hyperparameters of a run; `tokens` is the size of a batch without padding."""

    epochs: int = 3
    learning_rate: float = 5e-4
    tokens: int = 32768
    warm_up: float = 0.1
    weight_decay: float = 0.01
    seed: int = 13
    checkpoint_seconds: float = 60.0


@dataclass(frozen=True, slots=True)
class Task(Generic[Example]):
    """The functions of the loop that differ between trainers.

    `tokens` counts the tokens of an example. `losses` yields the parts of a batch's loss; each part is
    backpropagated before the next is computed.
    """

    tokens: Callable[[Example], int]
    losses: Callable[[Any, Sequence[Example]], Iterator[torch.Tensor]]


@dataclass(frozen=True, slots=True)
class Recipe(Generic[Example]):
    """The training of a part: its task, and the plans of its stages in order.

    `draft` has provisional scales with which `measure` reads the new network. `share` is explained in
    `train`.
    """

    part: str
    longest: int
    task: Task[Example]
    plans: Mapping[str, Plan]
    draft: Scales | None = None
    share: float = 1.0

    def train(
        self,
        run: Run,
        reader: Reader,
        examples: Callable[[str], Sequence[Example]],
        measure: Callable[[str], Measured],
    ) -> Card:
        """Fit a reader on the examples of each stage; a run with `start` only has the last stage.

        A killed run resumes. A continued part gets the means of its old and new weights, where `share` is the
        weight of the new ones.
        """
        before = {name: weight.detach().clone() for name, weight in trainable(reader).items()}
        for stage in list(self.plans)[-1 if run.start else 0 :]:
            say(f"{self.part}: {stage}")
            fit(reader, self.task, examples(stage), self.plans[stage], run.work / stage)
        if run.start and self.share < 1:
            restore(reader, mean_weights(before, trainable(reader), self.share))
        return write_part(self.part, reader, run, self.longest, measure, draft=self.draft)


def fit(
    model: torch.nn.Module,
    task: Task[Example],
    examples: Sequence[Example],
    plan: Plan,
    folder: Path,
    *,
    fingerprint: object = None,
) -> list[Point]:
    """Fit a model on examples and return the curve; a killed run resumes from the checkpoint in `folder`.

    `fingerprint` identifies the run, by default by the plan. Raises TrainingError.
    """
    if not examples:
        raise TrainingError("There is no example to learn from.")
    fingerprint = fingerprint or asdict(plan)
    batches = [batch for epoch in range(plan.epochs) for batch in make_batches(task, examples, plan, epoch)]
    weights, steps = list(trainable(model).values()), len(batches)
    optimizer = torch.optim.AdamW(weights, lr=plan.learning_rate, weight_decay=plan.weight_decay)
    curve, saved = _resume(model, optimizer, folder, fingerprint), time.monotonic()
    model.train()
    say(f"{steps} steps, {len(curve)} done, {weights[0].device.type}")
    for step in range(len(curve) + 1, steps + 1):
        clock = time.monotonic()
        # Seeded by the step, so that dropout is the same in a resumed run.
        torch.manual_seed(plan.seed * 1_000_003 + step - 1)
        optimizer.param_groups[0]["lr"] = _rate(plan, step - 1, steps)
        optimizer.zero_grad(set_to_none=True)
        loss = _backward(model, task, [examples[index] for index in batches[step - 1]])
        if not math.isfinite(loss):
            raise TrainingError(f"The loss of step {step} is not finite. Try a lower learning rate.")
        torch.nn.utils.clip_grad_norm_(weights, 1.0)
        optimizer.step()
        curve.append({"step": step, "loss": loss, "seconds": time.monotonic() - clock})
        if step == steps or step % REPORTED == 0:
            say(f"step {step} of {steps}: loss {loss:.4f}, {curve[-1]['seconds']:.2f} s")
            with saving(folder):
                write_durably(folder / CURVE, "".join(json.dumps(point) + "\n" for point in reported(curve)))
        if step == steps or time.monotonic() - saved > plan.checkpoint_seconds:
            _save(model, optimizer, folder, {"fingerprint": fingerprint, "curve": curve})
            saved = time.monotonic()
    return curve


def _backward(model: torch.nn.Module, task: Task[Example], batch: Sequence[Example]) -> float:
    """Backpropagate the parts of a batch's loss and return their sum."""
    parts, loss = task.losses(model, batch), 0.0
    while True:
        with autocast(model):
            part = next(parts, None)
        if part is None:
            return loss
        part.backward()  # type: ignore[no-untyped-call]
        loss += float(part.detach())


def _rate(plan: Plan, done: int, steps: int) -> float:
    """Return the learning rate after `done` steps: linear warm-up, then cosine decay."""
    warm = max(1, int(plan.warm_up * steps))
    fall = 0.5 * (1 + math.cos(math.pi * (done - warm) / max(1, steps - warm)))
    return plan.learning_rate * ((done + 1) / warm if done < warm else fall)


def _save(
    model: torch.nn.Module, optimizer: torch.optim.Optimizer, folder: Path, about: dict[str, object]
) -> None:
    content = io.BytesIO()
    weights = {name: weight.detach().cpu() for name, weight in trainable(model).items()}
    torch.save(about | {"trained": weights, "optimizer": optimizer.state_dict()}, content)
    with saving(folder):
        write_durably(folder / CHECKPOINT, content.getvalue())


def _resume(
    model: torch.nn.Module, optimizer: torch.optim.Optimizer, folder: Path, fingerprint: object
) -> list[Point]:
    path = folder / CHECKPOINT
    with saving(folder):
        folder.mkdir(parents=True, exist_ok=True)
    if not path.exists():
        return []
    try:
        state: dict[str, Any] = torch.load(path, weights_only=True)
    except (OSError, RuntimeError, EOFError, ValueError, LookupError, pickle.UnpicklingError):
        raise TrainingError(f"{path} cannot be read. Remove it to start again.") from None
    if state.get("fingerprint") != fingerprint:
        raise TrainingError(
            f"{path} is of a run with other data or settings. Remove it, or use another folder."
        )
    restore(model, state["trained"])
    optimizer.load_state_dict(state["optimizer"])
    return list(state["curve"])


def reported(curve: Sequence[Point]) -> list[dict[str, float]]:
    """Return the losses of every `REPORTED`-th step and of the last one."""
    points = [point for point in curve if point["step"] % REPORTED == 0 or point is curve[-1]]
    return [{"step": point["step"], "loss": round(point["loss"], 5)} for point in points]


def make_batches(task: Task[Example], examples: Sequence[Example], plan: Plan, epoch: int) -> list[list[int]]:
    """Return an epoch's batches of indices in random order; a batch has examples of similar length."""
    generator = random.Random(f"{plan.seed}:{epoch}")
    lengths = [task.tokens(example) for example in examples]
    jittered = [length * (1 + generator.uniform(-SPREAD, SPREAD)) for length in lengths]
    batches: list[list[int]] = []
    room = 0
    for index in sorted(range(len(examples)), key=jittered.__getitem__):
        if not batches or lengths[index] > room:
            batches.append([])
            room = plan.tokens
        batches[-1].append(index)
        room -= lengths[index]
    generator.shuffle(batches)
    return batches


def autocast(model: torch.nn.Module) -> torch.autocast:
    """Use bfloat16 for matrix products on GPUs and on CPUs with AMX; other CPUs emulate it slowly."""
    device = next(model.parameters()).device.type
    is_fast = device != "cpu" or torch.cpu._is_amx_tile_supported()
    return torch.autocast(device, torch.bfloat16, enabled=is_fast)
