"""How far evidence carries a claim: a cross-encoder with one number for each pair, above 0 for support.

The loss is that of a logistic regression; what is supported in part counts as half.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import torch
from torch.nn.functional import binary_cross_entropy_with_logits

from assistant.checking import close_text, said
from training.sets import Claim
from training.trunk import Pair, PairTokenizer, Reader

LONGEST = 256


@dataclass(frozen=True, slots=True)
class Weighed:
    """A claim beside its evidence, in tokens, and how far this carries it, 0..1."""

    pair: Pair
    level: float


class Support:
    """The task: a number for each claim and evidence that tells supported claims from others."""

    def tokens(self, example: Weighed) -> int:
        return len(example.pair.ids)

    def loss(self, reader: Reader, batch: Sequence[Weighed]) -> torch.Tensor:
        found = reader.read([example.pair for example in batch])[:, 0].float()
        levels = found.new_tensor([example.level for example in batch])
        return binary_cross_entropy_with_logits(found, levels)


def weighed(claims: Sequence[Claim], trunk: Path) -> list[Weighed]:
    """Return claims and evidence in tokens, the evidence as the product shows it: a few close sentences."""
    texts = [(said(claim.claim), close_text(claim.claim, claim.sentences)) for claim in claims]
    pairs = PairTokenizer(trunk, LONGEST).pairs(texts)
    return [Weighed(pair, claim.level) for pair, claim in zip(pairs, claims, strict=True)]
