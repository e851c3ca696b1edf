"""How close passages are to a query, by the vectors that are stored of them: exactly, without an index."""

from dataclasses import dataclass
from typing import cast

import numpy as np
import pyarrow as pa

from corpus import rows
from corpus.encoder import Vectors


@dataclass(frozen=True, slots=True)
class Closeness:
    """How close a passage is to a query, by cosine: as a whole, and its title or nearest sentence.

    `best_sentence` counts from 0. Without vectors of its sentences a passage is as close as it is as a whole.
    """

    passage: float
    sentence: float
    best_sentence: int | None


def measure(query: Vectors, passages: pa.Table) -> dict[str, Closeness]:
    """Return how close passages are to a unit vector, by id.

    `passages` has the columns `id`, `vector` and `sentence_vectors`, and at least one row.
    """
    wholes = passages["vector"].combine_chunks().flatten().to_numpy().reshape(-1, len(query))
    packed = passages["sentence_vectors"].to_pylist()
    counts = [rows.count_packed(one, len(query)) for one in packed]
    similarities = _similarities(rows.unpack_vectors(b"".join(packed), len(query)), query)
    return {
        identifier: _close(whole, own)
        for identifier, whole, own in zip(
            passages["id"].to_pylist(),
            _similarities(wholes, query).tolist(),
            np.split(similarities, np.cumsum(counts)[:-1]),
            strict=True,
        )
    }


def _similarities(vectors: Vectors, query: Vectors) -> Vectors:
    # Not `@`: for a product this small its threads cost more time than they save, on a busy machine 20 times.
    return cast(Vectors, np.einsum("ij,j->i", vectors, query))


def _close(whole: float, similarities: Vectors) -> Closeness:
    """Say how close a passage is from the similarities of its title and of its sentences."""
    if len(similarities) < 2:
        return Closeness(whole, whole, None)
    return Closeness(whole, float(similarities.max()), int(similarities[1:].argmax()))
