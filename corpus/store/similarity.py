"""How similar passages are to a query, by the vectors that are stored of them: exactly, without an index."""

from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import cast

import numpy as np
import pyarrow as pa

from corpus.encoders import Vectors
from corpus.store import rows


@dataclass(frozen=True, slots=True)
class Similarity:
    """The cosines of a passage with a query: of the whole, and of its title or nearest sentence.

    `best_sentence` counts from 0. Without vectors of its sentences the whole stands for them, as it does
    where nothing was read, and the cosine is that of a rounded vector.
    """

    passage: float
    sentence: float
    best_sentence: int | None
    is_rounded: bool = False


def measure(query: Vectors, passages: pa.Table) -> list[Similarity]:
    """Return how similar passages are to a unit vector.

    `passages` has the columns `vector` and `sentence_vectors`, and at least one row.
    """
    wholes = passages["vector"].combine_chunks().flatten().to_numpy().reshape(-1, len(query))
    packed = passages["sentence_vectors"].to_pylist()
    cosines = _cosines(rows.unpack_vectors(b"".join(packed), len(query)), query).tolist()
    ends = list(accumulate(rows.count_packed(one, len(query)) for one in packed))
    own = (cosines[start:end] for start, end in pairwise([0, *ends]))
    return [_similarity(*one) for one in zip(_cosines(wholes, query).tolist(), own, strict=True)]


def _cosines(vectors: Vectors, query: Vectors) -> Vectors:
    # Not `@`: for a product this small its threads cost more time than they save, on a busy machine 20 times.
    return cast(Vectors, np.einsum("ij,j->i", vectors, query))


def _similarity(whole: float, cosines: list[float]) -> Similarity:
    """Return a passage's similarity from the cosines of its title and of its sentences."""
    if len(cosines) < 2:
        return Similarity(whole, whole, None)
    title, *sentences = cosines
    best = max(sentences)
    return Similarity(whole, max(title, best), sentences.index(best))
