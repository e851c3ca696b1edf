"""Where a question leans on what was said, and on which words.

Two yes-or-no questions of each of its words, and pointers to the first and the last word that is meant. What
is meant may have been said several times: the loss is that of all of its places together.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch.nn.functional import binary_cross_entropy_with_logits, cross_entropy

from assistant.learned import (
    BEHIND,
    FROM_BEGIN,
    FROM_END,
    JOINED,
    POINTING,
    REPLACED,
    TO_BEGIN,
    TO_END,
    words_of,
)
from training.followups.aligning import Gap, Resolved
from training.trunk import Pair, PairTokenizer, Reader, Starts

LONGEST = 224
JOINED_COUNTS = 0.5  # of a wrong connector, beside a wrong place

Places = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Read:
    """A question beside what was said, in tokens.

    `asked` and `said` are the tokens with which their words begin, `places` says of each word of the question
    whether it is replaced and whether something is put behind it, (words, 2).
    """

    pair: Pair
    asked: Places
    said: Places
    places: NDArray[np.float32]
    gaps: tuple[Gap, ...]


class FollowUp:
    """The task: every gap at its place, and pointing to the words that fill it."""

    def tokens(self, example: Read) -> int:
        return len(example.pair.ids)

    def loss(self, reader: Reader, batch: Sequence[Read]) -> torch.Tensor:
        numbers = reader.read([example.pair for example in batch]).float()
        return torch.stack([_loss(found, one) for found, one in zip(numbers, batch, strict=True)]).mean()


def _loss(numbers: torch.Tensor, example: Read) -> torch.Tensor:
    asked, said = numbers[example.asked], numbers[example.said]
    places = torch.from_numpy(example.places).to(numbers.device)
    loss = binary_cross_entropy_with_logits(asked[:, : JOINED.start], places, reduction="sum")
    for gap in example.gaps:
        asking = asked[gap.first]
        for own, other, side in ((FROM_BEGIN, TO_BEGIN, 0), (FROM_END, TO_END, 1)):
            chances = (said[:, other] @ asking[own] / POINTING**0.5).log_softmax(0)
            right = torch.tensor(sorted({span[side] for span in gap.spans}), device=numbers.device)
            loss = loss - chances[right].logsumexp(0)
        wanted = torch.tensor(gap.connector, device=numbers.device)
        loss = loss + JOINED_COUNTS * cross_entropy(asking[JOINED], wanted)
    return loss


def read_examples(resolved: Sequence[Resolved], trunk: Path) -> list[Read]:
    """Return the questions in tokens, without those whose gaps lie beyond what is read."""
    placed = PairTokenizer(trunk, LONGEST).placed([(one.question, one.said.text) for one in resolved])
    read = (_read(one, pair, starts) for one, (pair, starts) in zip(resolved, placed, strict=True))
    return [one for one in read if one]


def _read(resolved: Resolved, pair: Pair, starts: Starts) -> Read | None:
    of_asked, of_said = starts
    asked = [of_asked.get(word.start) for word in words_of(resolved.question)]
    said = [at for word in resolved.said.words if (at := of_said.get(word.start)) is not None]
    gaps = [_within(gap, len(said)) for gap in resolved.gaps]
    if not said or None in asked or not all(gap.spans for gap in gaps):
        return None
    places = np.zeros((len(asked), 2), np.float32)
    for gap in gaps:
        places[gap.first : gap.last + 1, REPLACED if gap.is_replaced else BEHIND] = 1
    return Read(pair, np.array(asked, np.int64), np.array(said, np.int64), places, tuple(gaps))


def _within(gap: Gap, words: int) -> Gap:
    """Return a gap with the spans that lie within the words that are read."""
    spans = tuple(span for span in gap.spans if span[1] < words)
    return Gap(gap.first, gap.last, gap.is_replaced, gap.connector, spans)
