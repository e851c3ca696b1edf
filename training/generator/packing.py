"""Several dialogues in one row, none of which sees another."""

import random
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain

import torch

from training.generator.dialogues import Dialogue

IGNORED = -100
"""The label of a token on which no loss is taken."""

Row = tuple[Dialogue, ...]


@dataclass(frozen=True, slots=True)
class Batch:
    """A row as tensors of the shape (1, tokens); positions begin at 0 again with every dialogue.

    From positions that begin again, transformers makes a mask in which each token sees its own dialogue
    alone; `keeps_apart` in `base.py` makes sure of it.
    """

    tokens: torch.Tensor
    positions: torch.Tensor
    labels: torch.Tensor


def epoch_rows(
    dialogues: Sequence[Dialogue], length: int, seed: int, epoch: int, *, packed: bool
) -> list[Row]:
    """Return the rows of an epoch: dialogues in a drawn order, as many in a row as have room."""
    order = random.Random(f"{seed} {epoch}").sample(range(len(dialogues)), len(dialogues))
    rows: list[list[Dialogue]] = []
    room = 0
    for index in order:
        one = dialogues[index]
        if not packed or len(one.tokens) > room:
            rows.append([])
            room = length
        rows[-1].append(one)
        room -= len(one.tokens)
    return [tuple(row) for row in rows]


def steps_of(
    dialogues: Sequence[Dialogue], length: int, seed: int, epochs: int, rows_per_step: int, *, packed: bool
) -> list[tuple[int, tuple[Row, ...]]]:
    """Return every step of a run: its epoch, from 1, and its rows."""
    steps: list[tuple[int, tuple[Row, ...]]] = []
    for epoch in range(1, epochs + 1):
        rows = epoch_rows(dialogues, length, seed, epoch, packed=packed)
        starts = range(0, len(rows), rows_per_step)
        steps += [(epoch, tuple(rows[start : start + rows_per_step])) for start in starts]
    return steps


def as_batch(row: Row, device: torch.device | str = "cpu") -> Batch:
    """Return a row as the tensors that a model takes."""

    def tensor(values: Sequence[int]) -> torch.Tensor:
        return torch.tensor([values], dtype=torch.long, device=device)

    return Batch(
        tensor(list(chain.from_iterable(one.tokens for one in row))),
        tensor(list(chain.from_iterable(range(len(one.tokens)) for one in row))),
        tensor(list(chain.from_iterable(map(_labels, row)))),
    )


def _labels(one: Dialogue) -> list[int]:
    return [IGNORED] * one.answer + list(one.tokens[one.answer :])


def answer_tokens(rows: Sequence[Row]) -> int:
    return sum(len(one.tokens) - one.answer for row in rows for one in row)


def all_tokens(rows: Sequence[Row]) -> int:
    return sum(len(one.tokens) for row in rows for one in row)
