"""Fields of study, told by how near a paper's vector is to sentences that describe them."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from typing import cast

import numpy as np
from numpy.typing import NDArray

from corpus.encoders import Encoder, Vectors
from corpus.records import Topic
from indexer.enrich.data_file import Table, read_data


class _Choice(Table):
    first: float
    further: float
    behind: float
    most: int
    full: float


class _File(Table):
    choice: _Choice
    fields: dict[str, str]
    elsewhere: dict[str, str]


@dataclass(frozen=True, slots=True)
class _Descriptions:
    """The vectors of all sentences of the descriptions, and where each description's sentences begin.

    `mean` and `deviation` say how near the sentences of other fields come to each description.
    """

    vectors: Vectors
    starts: NDArray[np.intp]
    mean: Vectors
    deviation: Vectors


class FieldLabeller:
    """Labels papers with fields of study by the vectors of their abstracts, with the encoder that made them.

    A paper is as near to a field as to the nearest sentence of its description. That counts in standard
    deviations above what sentences about other fields reach: so it means the same for encoders whose
    similarities lie high or low, and a field that everything is near to wins nothing by it.
    """

    def __init__(self, encoder: Encoder) -> None:
        self._encoder = encoder

    def label(self, vectors: NDArray[np.float32]) -> list[tuple[Topic, ...]]:
        """Return the fields of each paper, the nearest first; none for a paper about something else.

        `vectors` are unit vectors of title and abstract: (papers, dimension).
        """
        if not len(vectors):
            return []
        described = self._descriptions
        nearness = _nearness(np.asarray(vectors, dtype=np.float32), described.vectors, described.starts)
        return [tuple(_fields(row)) for row in (nearness - described.mean) / described.deviation]

    @cached_property
    def _descriptions(self) -> _Descriptions:
        texts = [
            text.strip().splitlines() for text in (*_file().fields.values(), *_file().elsewhere.values())
        ]
        vectors = self._encoder.encode_passages([line for lines in texts for line in lines])
        sizes = [len(lines) for lines in texts]
        starts = np.cumsum([0, *sizes[:-1]])
        owners = np.repeat(np.arange(len(sizes)), sizes)
        nearness = _nearness(vectors, vectors, starts)
        other = (owners[:, None] != np.arange(len(sizes))) & (owners < len(_file().fields))[:, None]
        mean, deviation = _mean_and_deviation(nearness, other)
        return _Descriptions(vectors, starts, mean, deviation)


@lru_cache(maxsize=2)
def field_labeller(encoder: Encoder) -> FieldLabeller:
    """Return the labeller of an encoder, whose descriptions are encoded once for all builds of a process."""
    return FieldLabeller(encoder)


def _nearness(vectors: Vectors, sentences: Vectors, starts: NDArray[np.intp]) -> Vectors:
    """Return the highest similarity of each vector to a sentence of each description."""
    return cast(Vectors, np.maximum.reduceat(vectors @ sentences.T, starts, axis=1))


def _mean_and_deviation(values: Vectors, counted: NDArray[np.bool_]) -> tuple[Vectors, Vectors]:
    """Return mean and standard deviation of each column over the rows that count for it."""
    masked = np.ma.masked_array(values, ~counted)
    return np.asarray(masked.mean(axis=0)), np.maximum(np.asarray(masked.std(axis=0)), 1e-6)


def _fields(standings: Vectors) -> Iterator[Topic]:
    """Yield a paper's fields from how far each description stands out."""
    names, choice = list(_file().fields), _file().choice
    order = [int(index) for index in np.argsort(-standings, kind="stable")]
    top = float(standings[order[0]])
    if order[0] >= len(names) or top < choice.first:
        return
    for rank, index in enumerate([index for index in order if index < len(names)][: choice.most]):
        standing = float(standings[index])
        if rank and (standing < choice.further or standing < top - choice.behind):
            return
        yield Topic("field", names[index], round(min(1.0, standing / choice.full), 3))


@cache
def _file() -> _File:
    return read_data("fields", _File)
