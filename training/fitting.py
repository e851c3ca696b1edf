"""The loop that all recipes share: batches by length, a seed, checkpoints that a killed run goes on from."""

import json
import math
import pickle
import random
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Protocol, TypeVar

import torch

from corpus.durable import replace_durably
from training.errors import TrainingError
from training.trunk import Reader

Example_contra = TypeVar("Example_contra", contravariant=True)
Kept = TypeVar("Kept")
CHECKPOINT = "checkpoint.pt"
CURVE = "curve.jsonl"
SPREAD = 0.1  # lengths are jittered by so much, so that not the same examples always share a batch


@dataclass(frozen=True, slots=True)
class Plan:
    """How a part is fitted; `tokens` is what one step reads, without padding."""

    epochs: int = 3
    learning_rate: float = 5e-4
    tokens: int = 32768
    warm_up: float = 0.1
    weight_decay: float = 0.01
    seed: int = 13
    checkpoint_seconds: float = 60.0


class Task(Protocol[Example_contra]):
    """What a recipe asks of the loop: how long an example is, and how wrong a reader is about some."""

    def tokens(self, example: Example_contra) -> int: ...

    def loss(self, reader: Reader, batch: Sequence[Example_contra]) -> torch.Tensor: ...


@dataclass(slots=True)
class _Run:
    """A run and where it stands: so many steps are done."""

    reader: Reader
    optimizer: torch.optim.Optimizer
    schedule: torch.optim.lr_scheduler.LRScheduler
    folder: Path
    plan: Plan
    done: int = 0


def fit(
    reader: Reader,
    task: Task[Kept],
    examples: Sequence[Kept],
    plan: Plan,
    folder: Path,
    *,
    say: Callable[[str], None],
) -> None:
    """Fit a reader to examples, going on from the folder's checkpoint where there is one.

    Raises TrainingError where there is nothing to learn from or the checkpoint is of another run.
    """
    if not examples:
        raise TrainingError("There is no example to learn from.")
    batches = [batch for epoch in range(plan.epochs) for batch in batched(task, examples, plan, epoch)]
    run = _started(reader, folder, plan, len(batches))
    say(f"{len(examples)} examples, {len(batches)} steps, {run.done} done, {_device(reader)}")
    began = saved = time.monotonic()
    first = run.done
    for batch in batches[first:]:
        loss = _step(run, task, [examples[index] for index in batch])
        if run.done % 20 == 0 or run.done == len(batches):
            pace = (run.done - first) / (time.monotonic() - began)
            say(f"step {run.done}/{len(batches)}  loss {loss:.4f}  {pace:.2f} steps/s")
            _note(folder, run.done, loss)
        if time.monotonic() - saved > plan.checkpoint_seconds or run.done == len(batches):
            _save(run)
            saved = time.monotonic()


def batched(task: Task[Kept], examples: Sequence[Kept], plan: Plan, epoch: int) -> list[list[int]]:
    """Return the batches of an epoch, as indices: examples of about a length, in an order of chance."""
    chance = random.Random(f"{plan.seed}:{epoch}")
    lengths = [task.tokens(example) for example in examples]
    order = sorted(
        range(len(examples)), key=lambda index: lengths[index] * (1 + chance.uniform(-SPREAD, SPREAD))
    )
    found = list(_cut(order, lengths, plan.tokens))
    chance.shuffle(found)
    return found


def _cut(order: Sequence[int], lengths: Sequence[int], budget: int) -> Iterator[list[int]]:
    batch: list[int] = []
    for index in order:
        if batch and sum(lengths[one] for one in batch) + lengths[index] > budget:
            yield batch
            batch = []
        batch.append(index)
    yield batch


def _started(reader: Reader, folder: Path, plan: Plan, steps: int) -> _Run:
    torch.manual_seed(plan.seed)
    reader.train()
    optimizer = torch.optim.AdamW(
        list(reader.learned().values()), lr=plan.learning_rate, weight_decay=plan.weight_decay
    )
    warm = max(1, int(plan.warm_up * steps))
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: _rate(step, warm, steps))
    run = _Run(reader, optimizer, schedule, folder, plan)
    folder.mkdir(parents=True, exist_ok=True)
    if (folder / CHECKPOINT).exists():
        _resume(run)
    return run


def _rate(step: int, warm: int, steps: int) -> float:
    """Return the share of the learning rate: up in a line, down in a half cosine."""
    if step < warm:
        return (step + 1) / warm
    return 0.5 * (1 + math.cos(math.pi * (step - warm) / max(1, steps - warm)))


def _step(run: _Run, task: Task[Kept], batch: Sequence[Kept]) -> float:
    # The chance of dropping is a step's own: a run that goes on drops what it would have dropped.
    torch.manual_seed(run.plan.seed * 1_000_003 + run.done)
    with in_short_numbers(run.reader):
        loss = task.loss(run.reader, batch)
    run.optimizer.zero_grad(set_to_none=True)
    loss.backward()  # type: ignore[no-untyped-call]
    torch.nn.utils.clip_grad_norm_(list(run.reader.learned().values()), 1.0)
    run.optimizer.step()
    run.schedule.step()
    run.done += 1
    return float(loss.detach())


def _save(run: _Run) -> None:
    """Write the checkpoint beside the last one and then in its place: a kill leaves one of the two whole."""
    held = {
        "plan": asdict(run.plan),
        "done": run.done,
        "learned": {name: weight.detach().cpu() for name, weight in run.reader.learned().items()},
        "optimizer": run.optimizer.state_dict(),
        "schedule": run.schedule.state_dict(),
    }
    made = run.folder / f"{CHECKPOINT}.new"
    try:
        torch.save(held, made)
        replace_durably(made, run.folder / CHECKPOINT)
    except (OSError, RuntimeError) as error:
        raise TrainingError(f"The checkpoint in {run.folder} cannot be written: {error}") from error


def _resume(run: _Run) -> None:
    try:
        held = torch.load(run.folder / CHECKPOINT, weights_only=True)
    except (OSError, RuntimeError, EOFError, ValueError, LookupError, pickle.UnpicklingError):
        raise TrainingError(f"{run.folder / CHECKPOINT} cannot be read. Remove it to begin anew.") from None
    if held["plan"] != asdict(run.plan):
        raise TrainingError(
            f"The checkpoint in {run.folder} is of a run with other settings. Name another folder, or remove "
            "the checkpoint to begin anew."
        )
    run.reader.restore(held["learned"])
    run.optimizer.load_state_dict(held["optimizer"])
    run.schedule.load_state_dict(held["schedule"])
    run.done = held["done"]


def _note(folder: Path, step: int, loss: float) -> None:
    with (folder / CURVE).open("a", encoding="utf-8") as stream:
        stream.write(json.dumps({"step": step, "loss": round(loss, 5)}) + "\n")


def in_short_numbers(reader: Reader) -> torch.autocast:
    """Have matrices multiplied in bfloat16 where the machine does that faster: GPUs, and newer processors."""
    device = _device(reader)
    is_fast = device != "cpu" or torch.ops.mkldnn._is_mkldnn_bf16_supported()
    return torch.autocast(device, torch.bfloat16, enabled=is_fast)


def _device(reader: Reader) -> str:
    return reader.head.weight.device.type
