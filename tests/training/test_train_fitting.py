"""The loop that all trainers share, with a tiny model: it resumes, and says what is wrong."""

import resource
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("peft", reason="peft, of the extra train, is not installed")

import torch

from training.files import TrainingError
from training.fitting import CHECKPOINT, CURVE, Loop, Plan

PLAN = Plan(learning_rate=0.1, checkpoint_seconds=0)


class KilledError(Exception):
    """Stands for the end of the process."""


@contextmanager
def files_of_at_most(size: int) -> Iterator[None]:
    """Let no file grow beyond a size, as on a full disk."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def loop(folder: Path, dies_at: int = 0, **changes: Any) -> Loop[int]:
    """Return a run of eight steps whose loss depends on dropout."""
    torch.manual_seed(1)
    model = torch.nn.Sequential(torch.nn.Linear(3, 3), torch.nn.Dropout(0.5), torch.nn.Linear(3, 1))

    def losses(batch: int) -> Iterator[torch.Tensor]:
        if batch == dies_at > 0:
            raise KilledError
        yield (model(torch.full((4, 3), float(batch))) - 1).square().mean()

    options: dict[str, Any] = {"plan": PLAN, "fingerprint": "a", "say": lambda _: None} | changes
    return Loop(model, range(8), losses, folder=folder, **options)


def weights(run: Loop[int]) -> list[torch.Tensor]:
    return [weight.detach() for weight in run.model.parameters()]


@pytest.mark.parametrize("checkpoint_steps", [0, 2])
def test_a_run_goes_on_where_it_was_killed_and_ends_alike(tmp_path: Path, checkpoint_steps: int) -> None:
    whole, again, told = loop(tmp_path / "whole"), loop(tmp_path / "cut"), list[str]()
    curve = whole.run()
    with pytest.raises(KilledError):
        loop(tmp_path / "cut", dies_at=4, checkpoint_steps=checkpoint_steps).run()
    again = loop(tmp_path / "cut", say=told.append)
    losses = [point["loss"] for point in again.run()]
    assert "4 done" in told[0]
    assert losses == [point["loss"] for point in curve]
    assert all(map(torch.equal, weights(whole), weights(again)))
    assert (tmp_path / "cut" / CURVE).read_text() == (tmp_path / "whole" / CURVE).read_text()


def test_a_checkpoint_of_another_run_is_not_gone_on_from(tmp_path: Path) -> None:
    loop(tmp_path).run()
    with pytest.raises(TrainingError, match="other data or with other numbers"):
        loop(tmp_path, fingerprint="b").run()
    (tmp_path / CHECKPOINT).write_bytes(b"broken")
    with pytest.raises(TrainingError, match="cannot be read"):
        loop(tmp_path).run()


def test_on_a_full_disk_it_says_so_and_goes_on_later(tmp_path: Path) -> None:
    with files_of_at_most(10), pytest.raises(TrainingError, match=r"cannot be written.*Free space"):
        loop(tmp_path).run()
    assert len(loop(tmp_path).run()) == 8


def test_a_loss_that_is_not_finite_ends_the_run(tmp_path: Path) -> None:
    with pytest.raises(TrainingError, match="lower learning rate"):
        loop(tmp_path, plan=Plan(learning_rate=1e30, checkpoint_seconds=0)).run()
