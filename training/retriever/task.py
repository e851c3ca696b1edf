"""InfoNCE: a query's own text is to be nearer than those of its batch and than hard negatives.

(TruthReader, section 3.2; van den Oord et al., 2018.) Pooling and temperature are those that the bundled
encoder was made with: the mean of a text's states, of unit length, and cosines times 20.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import torch
from torch.nn.functional import cross_entropy, normalize

from training.trunk import Adapters, Pair, Reader

TEMPERATURE = 0.05


@dataclass(frozen=True, slots=True)
class Example:
    """A query beside its own text and then hard negatives, in tokens; `keys` number the texts.

    `right` are the numbers of all texts that are right for the query: none of them is a negative.
    """

    query: Pair
    texts: tuple[Pair, ...]
    keys: tuple[int, ...]
    right: frozenset[int]

    @property
    def tokens(self) -> int:
        return sum(len(one.ids) for one in (self.query, *self.texts))


class SentenceReader(Reader):
    """Reads texts into vectors of unit length: `read` returns (texts, dimension)."""

    def __init__(self, trunk: Path, adapters: Adapters) -> None:
        super().__init__(trunk, 1, adapters)
        self.head.requires_grad_(False)  # vectors have no use for it

    def forward(self, ids: torch.Tensor, mask: torch.Tensor, sides: torch.Tensor) -> torch.Tensor:
        """Return the mean states of texts, of unit length: (texts, dimension)."""
        states = self.trunk(input_ids=ids, attention_mask=mask, token_type_ids=sides).last_hidden_state
        kept = mask.unsqueeze(-1)
        return normalize((states.float() * kept).sum(1) / kept.sum(1), dim=1)


class InfoNce:
    """The task: of all texts of a batch, a query's own is the nearest; each text is read once."""

    def tokens(self, example: Example) -> int:
        return example.tokens

    def loss(self, reader: Reader, batch: Sequence[Example]) -> torch.Tensor:
        texts = {key: text for one in batch for key, text in zip(one.keys, one.texts, strict=True)}
        keys = list(texts)
        vectors = reader.read([*(one.query for one in batch), *texts.values()])
        own = torch.tensor([keys.index(one.keys[0]) for one in batch], device=vectors.device)
        also = torch.tensor([[key in one.right and key != one.keys[0] for key in keys] for one in batch])
        return info_nce(vectors[: len(batch)], vectors[len(batch) :], own, also.to(vectors.device))


def info_nce(
    queries: torch.Tensor, texts: torch.Tensor, own: torch.Tensor, also: torch.Tensor
) -> torch.Tensor:
    """Return the mean loss of queries among texts; `own` are the places of their texts.

    `also` (queries, texts) marks what is right for a query besides its own text, and counts for nothing.
    """
    numbers = (queries @ texts.T / TEMPERATURE).masked_fill(also, -torch.inf)
    return cross_entropy(numbers, own)
