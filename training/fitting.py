"""The loop of all trainers: seeded batches, checkpoints that a killed run resumes from, a learning curve.

No library's trainer takes its place: batches are filled by tokens, the parts of a loss are backpropagated one
by one, and a run killed at any step ends with the weights of an uninterrupted one.
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
from training.network import Measured, Reader, Scales, averaged, restore, trained, write_part

Example = TypeVar("Example")
REPORTED = 20  # steps between two points of the curve that is written
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
    """A trainer's part of the loop: the token count of an example, and the parts of a batch's loss.

    Each part is backpropagated before the next is computed.
    """

    tokens: Callable[[Example], int]
    losses: Callable[[Any, Sequence[Example]], Iterator[torch.Tensor]]


@dataclass(frozen=True, slots=True)
class Recipe(Generic[Example]):
    """The making of a part: its task, and its stages with their plans.

    `draft` are scales that `measure` can read the new network with.
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
        """Fit a reader to the examples of each stage, of a run that is continued of the last one alone.

        A killed run resumes. A part that is continued becomes the mean of what it was and what it has become,
        the latter by `share`.
        """
        begun = {name: weight.detach().clone() for name, weight in trained(reader).items()}
        for stage in list(self.plans)[-1 if run.begun else 0 :]:
            say(f"{self.part}: {stage}")
            fit(reader, self.task, examples(stage), self.plans[stage], run.work / stage)
        if run.begun and self.share < 1:
            restore(reader, averaged(begun, trained(reader), self.share))
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
    """Fit a model to examples and return the curve; a killed run resumes from the checkpoint in `folder`.

    `fingerprint`, by default the plan, tells runs apart. Raises TrainingError.
    """
    if not examples:
        raise TrainingError("There is no example to learn from.")
    fingerprint = fingerprint or asdict(plan)
    batches = [batch for epoch in range(plan.epochs) for batch in batched(task, examples, plan, epoch)]
    weights, steps = list(trained(model).values()), len(batches)
    optimizer = torch.optim.AdamW(weights, lr=plan.learning_rate, weight_decay=plan.weight_decay)
    curve, saved = _resume(model, optimizer, folder, fingerprint), time.monotonic()
    model.train()
    say(f"{steps} steps, {len(curve)} done, {weights[0].device.type}")
    for step in range(len(curve) + 1, steps + 1):
        clock = time.monotonic()
        # Dropout is seeded by the step, so that a resumed run draws what an uninterrupted one does.
        torch.manual_seed(plan.seed * 1_000_003 + step - 1)
        optimizer.param_groups[0]["lr"] = _rate(plan, step - 1, steps)
        optimizer.zero_grad(set_to_none=True)
        loss = _backward(model, task, [examples[index] for index in batches[step - 1]])
        if not math.isfinite(loss):
            raise TrainingError(f"Step {step} has no finite loss. Try a lower learning rate.")
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
    """Return the learning rate, which rises linearly and falls by half a cosine."""
    warm = max(1, int(plan.warm_up * steps))
    fall = 0.5 * (1 + math.cos(math.pi * (done - warm) / max(1, steps - warm)))
    return plan.learning_rate * ((done + 1) / warm if done < warm else fall)


def _save(
    model: torch.nn.Module, optimizer: torch.optim.Optimizer, folder: Path, about: dict[str, object]
) -> None:
    written = io.BytesIO()
    weights = {name: weight.detach().cpu() for name, weight in trained(model).items()}
    torch.save(about | {"trained": weights, "optimizer": optimizer.state_dict()}, written)
    with saving(folder):
        write_durably(folder / CHECKPOINT, written.getvalue())


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
        raise TrainingError(f"{path} cannot be read. Remove it to begin anew.") from None
    if state.get("fingerprint") != fingerprint:
        raise TrainingError(
            f"{path} is of a run on other data or with other numbers. Remove it, or name another folder."
        )
    restore(model, state["trained"])
    optimizer.load_state_dict(state["optimizer"])
    return list(state["curve"])


def reported(curve: Sequence[Point]) -> list[dict[str, float]]:
    """Return the losses of every 20th step and of the last one."""
    kept = [point for point in curve if point["step"] % REPORTED == 0 or point is curve[-1]]
    return [{"step": point["step"], "loss": round(point["loss"], 5)} for point in kept]


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


def autocast(model: torch.nn.Module) -> torch.autocast:
    """Multiply matrices in bfloat16 where the machine does so faster: on GPUs, and processors with AMX.

    Others that can, emulate it: there it is four times slower than in 32 bits.
    """
    device = next(model.parameters()).device.type
    is_fast = device != "cpu" or torch.cpu._is_amx_tile_supported()
    return torch.autocast(device, torch.bfloat16, enabled=is_fast)
