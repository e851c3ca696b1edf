"""The loop that all trainers share, with a tiny model: it resumes, and says what is wrong."""

import resource
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

pytest.importorskip("peft", reason="peft, of the extra train, is not installed")

import torch

from training.files import CHECKPOINT, CURVE, TrainingError
from training.fitting import Plan, Task, fit

PLAN = Plan(epochs=1, learning_rate=0.1, tokens=1, checkpoint_seconds=0)


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


class Run:
    """A run of eight steps whose loss depends on dropout; it dies at a step."""

    def __init__(self, folder: Path, dies_at: int = 0) -> None:
        torch.manual_seed(1)
        self.model = torch.nn.Sequential(torch.nn.Linear(3, 3), torch.nn.Dropout(0.5), torch.nn.Linear(3, 1))
        self.folder, self._left = folder, dies_at

    def _losses(self, model: torch.nn.Module, batch: Sequence[int]) -> Iterator[torch.Tensor]:
        self._left -= 1
        if self._left == 0:
            raise KilledError
        yield (model(torch.full((4, 3), float(batch[0]))) - 1).square().mean()

    def fit(self, plan: Plan = PLAN, fingerprint: object = "a") -> list[float]:
        task: Task[int] = Task(lambda _: 1, self._losses)
        curve = fit(self.model, task, range(8), plan, self.folder, fingerprint=fingerprint)
        return [point["loss"] for point in curve]


def test_a_run_goes_on_where_it_was_killed_and_ends_alike(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    whole, again = Run(tmp_path / "whole"), Run(tmp_path / "cut")
    losses = whole.fit()
    with pytest.raises(KilledError):
        Run(tmp_path / "cut", dies_at=5).fit()
    capsys.readouterr()
    assert again.fit() == losses
    assert "4 done" in capsys.readouterr().err.splitlines()[0]
    assert all(map(torch.equal, whole.model.parameters(), again.model.parameters()))
    assert (tmp_path / "cut" / CURVE).read_text() == (tmp_path / "whole" / CURVE).read_text()


def test_a_checkpoint_of_another_run_is_not_gone_on_from(tmp_path: Path) -> None:
    Run(tmp_path).fit()
    with pytest.raises(TrainingError, match="other data or settings"):
        Run(tmp_path).fit(fingerprint="b")
    (tmp_path / CHECKPOINT).write_bytes(b"broken")
    with pytest.raises(TrainingError, match="cannot be read"):
        Run(tmp_path).fit()


def test_on_a_full_disk_it_says_so_and_goes_on_later(tmp_path: Path) -> None:
    with files_of_at_most(10), pytest.raises(TrainingError, match=r"cannot be written.*Free space"):
        Run(tmp_path).fit()
    assert len(Run(tmp_path).fit()) == 8


def test_a_loss_that_is_not_finite_ends_the_run(tmp_path: Path) -> None:
    with pytest.raises(TrainingError, match="lower learning rate"):
        Run(tmp_path).fit(replace(PLAN, learning_rate=1e30))
