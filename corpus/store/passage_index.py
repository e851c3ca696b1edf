"""The passages of a snapshot in memory, as far as a search needs them before it reads any.

Of each passage these are its row, its paper, its number and its vector, rounded: to eight bits a dimension,
and to the sign alone. Real vectors have no clusters to speak of, so a search leaves none out: it counts in
how many signs each differs from the query's, those of the query's small numbers not at all. Of a large corpus
it counts two thirds of them first, and of those that differ least all, the more often the larger the query's
number is. The nearest of these it compares by eight bits (as RaBitQ does with more steps of the query: Gao
and Long, 2024, section 3.3). The note on nearest vectors in docs/measurements/notes lists the figures and
what else was tried. Nothing is built for it.

What is read of passages then, vectors of their sentences and of what is shown, is compared exactly.
"""

import math
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import cast

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from corpus.encoders.base import Vectors
from corpus.records import passage_id
from corpus.store import rows as stored

COLUMNS = ["paper_id", "number", "vector"]

# The passages with the nearest signs that are compared as int8: 40 for each wanted one, and one more for 160
# passages in all, since in a larger corpus neighbours are further down.
_COMPARED_PER_FOUND = 40
_PASSAGES_PER_COMPARED = 160
_MOST_STEPS = 127
# No passage has a longer number.
_DIGITS = 10
_BITS_PER_WORD = 64
# Passages compared in one step, by signs and by int8 vectors: they fit the processor's cache.
_SIGNS_PER_STEP, _ROUNDED_PER_STEP = 32_768, 512

_NUMBERED = pa.dictionary(pa.int32(), pa.string())
Positions = NDArray[np.intp]


@dataclass(frozen=True, slots=True)
class _Look:
    """A look at the signs of passages, of which those that differ least go on.

    `share` is how many of the signs are looked at, `counted_from` from how many times the mean of a query's
    numbers on a sign counts, and counts once more, and `kept` how many times as many go on as are wanted.
    """

    share: float
    counted_from: tuple[float, ...]
    kept: int


# Of a million passages the first takes longest; the closer the second looks, the fewer are to be compared.
_LOOKS = (_Look(2 / 3, (0.7,), kept=6), _Look(1, (1 / 3, 1, 5 / 3), kept=1))


@dataclass(frozen=True, slots=True)
class Match:
    """A passage that one side of the search found, with that side's score and its position in the index."""

    passage_id: str
    paper_id: str
    score: float
    position: int = 0


@dataclass(frozen=True, slots=True)
class Similarity:
    """The cosines of a passage with a query: of the whole, and of its title or nearest sentence.

    `best_sentence` counts from 0. Without vectors of sentences, the whole's cosine takes their place. That is
    also so if nothing was read; the whole's cosine is then of a rounded vector.
    """

    passage: float
    sentence: float
    best_sentence: int | None
    is_read: bool = True


class PassageIndex:
    """All passages of a table by position, which is their order in it."""

    def __init__(self, count: int, dimension: int, batches: Iterable[pa.RecordBatch]) -> None:
        """Take `count` passages from batches with the `COLUMNS` and `_rowid`."""
        self._rows = np.empty(count, np.uint64)
        self._numbers = np.empty(count, np.int32)
        self._rounded = np.empty((count, dimension), np.int8)
        self._steps = np.empty(count, np.float32)
        self._signs = np.zeros((-(-dimension // _BITS_PER_WORD), count), np.uint64)
        papers = []
        end = 0
        for batch in batches:
            start, end = end, end + batch.num_rows
            vectors = batch["vector"].flatten().to_numpy().reshape(-1, dimension)
            self._rows[start:end] = batch["_rowid"].to_numpy()
            self._numbers[start:end] = batch["number"].to_numpy()
            self._rounded[start:end], self._steps[start:end] = _rounded(vectors)
            self._signs[:, start:end] = _bits(vectors > 0)
            # Encoded as numbers, since the ids would keep the whole batch in memory.
            papers.append(batch["paper_id"].dictionary_encode())
        named = pa.chunked_array(papers, _NUMBERED).unify_dictionaries().combine_chunks()
        self._papers = named.dictionary
        self._paper_of = named.indices.to_numpy()
        self._by_row = np.argsort(self._rows, kind="stable")
        self._by_paper = np.argsort(self._paper_of, kind="stable")
        self._ends = np.cumsum(np.bincount(self._paper_of, minlength=len(self._papers)))
        self._number_of = {paper: number for number, paper in enumerate(self._papers.to_pylist())}

    def of_papers(self, ids: pa.ChunkedArray) -> Positions:
        """Return the positions of all passages of some papers."""
        wanted = np.zeros(len(self._papers), bool)
        wanted[pc.index_in(ids, value_set=self._papers).drop_null().to_numpy()] = True
        return np.flatnonzero(wanted[self._paper_of])

    def of_paper(self, paper_id: str) -> Positions:
        """Return the positions of a paper's passages, none for an unknown paper."""
        number = self._number_of.get(paper_id)
        if number is None:
            return self._by_paper[:0]
        return self._by_paper[self._ends[number - 1] if number else 0 : self._ends[number]]

    def of_ids(self, ids: Iterable[str]) -> Positions:
        """Return the positions of the passages with these ids."""
        found = [self._by_paper[:0]]
        for identifier in ids:
            paper, _, number = identifier.rpartition("#")
            if number.isdecimal() and len(number) < _DIGITS:
                positions = self.of_paper(paper)
                found.append(positions[self._numbers[positions] == int(number)])
        return np.unique(np.concatenate(found))

    def at_rows(self, rows: Sequence[int]) -> Positions:
        """Return the positions of passages by the rows where they are stored."""
        found = np.searchsorted(self._rows, np.asarray(rows, np.uint64), sorter=self._by_row)
        return self._by_row[found]

    def nearest(
        self, vector: Vectors, limit: int, within: Positions | None = None
    ) -> tuple[Positions, Vectors]:
        """Return the passages nearest to a unit vector, best first, and their cosines, rounded."""
        positions = self._near_in_signs(vector, limit, within)
        cosines = self.cosines(vector, positions)
        best = _largest(cosines, limit)
        return positions[best], cosines[best]

    def cosines(self, vector: Vectors, positions: Positions) -> Vectors:
        """Return the cosines of passages with a unit vector, rounded."""
        cosines = np.empty(len(positions), np.float32)
        for start in range(0, len(positions), _ROUNDED_PER_STEP):
            step = slice(start, start + _ROUNDED_PER_STEP)
            rounded = self._rounded.take(positions[step], axis=0).astype(np.float32)
            cosines[step] = _cosines(rounded, vector)
        return cosines * self._steps[positions]

    def _near_in_signs(self, vector: Vectors, limit: int, within: Positions | None) -> Positions:
        """Return the positions of passages that differ in the fewest signs, more than are wanted."""
        count = len(self._rows) if within is None else len(within)
        wanted = _COMPARED_PER_FOUND * limit + count // _PASSAGES_PER_COMPARED
        for look in _LOOKS:
            within = self._differing_least(vector, within, look, look.kept * wanted)
        return np.arange(count) if within is None else within

    def _differing_least(
        self, vector: Vectors, within: Positions | None, look: _Look, wanted: int
    ) -> Positions | None:
        """Return the `wanted` positions with the fewest differing signs, with ties; None for all."""
        if len(self._rows if within is None else within) <= wanted:
            return within
        signs = self._signs[: math.ceil(look.share * len(self._signs))]
        signs = signs if within is None else signs.take(within, axis=1)
        differing = _differing(signs, vector, look.counted_from)
        near = np.flatnonzero(differing <= _bound_of(wanted, differing))
        return near if within is None else within[near]

    def rows(self, positions: Positions | Sequence[int]) -> list[int]:
        """Return the rows where passages are stored."""
        return cast(list[int], self._rows.take(positions).tolist())

    def matches(self, positions: Positions, scores: Iterable[float]) -> list[Match]:
        """Return passages as what a search found."""
        papers = self._papers.take(pa.array(self._paper_of[positions])).to_pylist()
        found = zip(papers, self._numbers[positions].tolist(), scores, positions.tolist(), strict=True)
        return [
            Match(passage_id(paper, number), paper, score, position)
            for paper, number, score, position in found
        ]


def cosines_of_wholes(query: Vectors, passages: pa.Table) -> list[float]:
    """Return the cosines of passages, of which there is the column `vector`, with a unit vector."""
    if not len(passages):
        return []
    wholes = passages["vector"].combine_chunks().flatten().to_numpy().reshape(len(passages), -1)
    return cast(list[float], _cosines(wholes, query).tolist())


def measure(query: Vectors, wholes: Sequence[float], packed: Sequence[bytes]) -> list[Similarity]:
    """Return the similarities of passages to a unit vector, by their cosines.

    `packed` are the stored vectors of their titles and sentences, of at least one passage.
    """
    cosines = _cosines(stored.unpack_vectors(b"".join(packed), len(query)), query).tolist()
    ends = list(accumulate(stored.count_packed(vectors, len(query)) for vectors in packed))
    by_passage = (cosines[start:end] for start, end in pairwise([0, *ends]))
    return [_similarity(whole, parts) for whole, parts in zip(wholes, by_passage, strict=True)]


def _similarity(whole: float, cosines: list[float]) -> Similarity:
    """Return a passage's similarity from the cosine of its `whole` text and those of its title and sentences.

    The title's comes first in `cosines`. Without sentences only the whole counts.
    """
    if len(cosines) < 2:
        return Similarity(whole, whole, None)
    title, *sentences = cosines
    best = max(sentences)
    return Similarity(whole, max(title, best), sentences.index(best))


def _cosines(vectors: Vectors, query: Vectors) -> Vectors:
    # Not `@`: its threads cost more time than they save here, on a busy machine 20 times as much.
    return cast(Vectors, np.einsum("ij,j->i", vectors, query))


def _largest(values: Vectors, limit: int) -> Positions:
    """Return the positions of the largest values, the largest first."""
    if limit >= len(values):
        return np.argsort(-values, kind="stable")
    largest = np.argpartition(-values, limit)[:limit]
    return largest[np.argsort(-values[largest], kind="stable")]


def _rounded(vectors: Vectors) -> tuple[NDArray[np.int8], Vectors]:
    """Quantise vectors to int8, at most 127 steps, and return each vector's step size."""
    steps = np.maximum(vectors.max(axis=1), -vectors.min(axis=1)) / _MOST_STEPS
    steps = np.maximum(steps, np.finfo(np.float32).tiny)
    return np.rint(vectors / steps[:, None]).astype(np.int8), steps


def _bits(flags: NDArray[np.bool_]) -> NDArray[np.uint64]:
    """Return flags of each vector, 64 to a word: (words, vectors)."""
    short = -flags.shape[1] % _BITS_PER_WORD
    return np.packbits(np.pad(flags, ((0, 0), (0, short))), axis=1).view(np.uint64).T


def _differing(
    signs: NDArray[np.uint64], query: Vectors, counted_from: Sequence[float]
) -> NDArray[np.unsignedinteger]:
    """Return the number of signs in which each vector differs from the query, weighted by `counted_from`."""
    sizes = np.abs(query)
    query_signs = _bits(query[None] > 0)[: len(signs)]
    counted = [_bits((sizes >= times * sizes.mean())[None])[: len(signs)] for times in counted_from]
    most = sum(int(np.bitwise_count(mask).sum()) for mask in counted)
    total = np.zeros(signs.shape[1], np.min_scalar_type(most))
    # Buffers for every step: allocating new memory takes time.
    buffers = np.empty((2, min(_SIGNS_PER_STEP, len(total))), np.uint64)
    counts = np.empty(buffers.shape[1], np.uint8)
    for start in range(0, len(total), _SIGNS_PER_STEP):
        step = total[start : start + _SIGNS_PER_STEP]
        (differing, masked), number = buffers[:, : len(step)], counts[: len(step)]
        for word, bits in enumerate(query_signs):
            np.bitwise_xor(signs[word, start : start + len(step)], bits, out=differing)
            for mask in counted:
                np.bitwise_and(differing, mask[word], out=masked)
                step += np.bitwise_count(masked, out=number)
    return total


def _bound_of(wanted: int, numbers: NDArray[np.unsignedinteger]) -> int:
    """Return the smallest bound that at least `wanted` of the numbers do not exceed."""
    largest = np.iinfo(numbers.dtype).max
    return bisect_left(range(largest), wanted, key=lambda most: int(np.count_nonzero(numbers <= most)))
