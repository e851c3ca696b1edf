"""Fields of study, by the words of title and abstract and their similarity to descriptions."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from typing import cast

import numpy as np
from numpy.typing import NDArray

from corpus.encoders.base import Encoder, Vectors
from corpus.records import Paper, Topic
from indexer.enrich.data_file import Table, listed, read_data
from indexer.enrich.phrases import Phrases, tokens


class _Choice(Table):
    """The thresholds of fields, and the scores that words add."""

    first: float
    first_elsewhere: float
    further: float
    share: float
    most: int
    full: float
    title: float
    title_most: int
    abstract: float
    abstract_most: int


class _Field(Table):
    about: str
    words: str


class _File(Table):
    choice: _Choice
    fields: dict[str, _Field]
    elsewhere: dict[str, str]
    neighbours: dict[str, str]

    @property
    def descriptions(self) -> list[list[str]]:
        """The sentences of the descriptions: of fields, of other subjects, of neighbouring subjects."""
        fields = (field.about for field in self.fields.values())
        texts = (*fields, *self.elsewhere.values(), *self.neighbours.values())
        return [text.strip().splitlines() for text in texts]


@dataclass(frozen=True, slots=True)
class _Descriptions:
    """The vectors of all description sentences, and the index where each description begins.

    `mean` and `deviation` are those of the similarity of other fields' sentences to each description.
    """

    vectors: Vectors
    starts: NDArray[np.intp]
    mean: Vectors
    deviation: Vectors


class FieldLabeller:
    """Labels papers with fields of study by title and abstract: their words, and their vectors.

    A paper's similarity to a field is that to the nearest sentence of its description, in standard deviations
    above the similarity of other fields' sentences. This makes encoders comparable and corrects for fields
    that are similar to everything. Words that name a field count for more, because most papers are also
    similar to the methods that they use.
    """

    def __init__(self, encoder: Encoder) -> None:
        self._encoder = encoder

    def label(self, papers: Sequence[Paper], vectors: NDArray[np.float32]) -> list[tuple[Topic, ...]]:
        """Return the fields of each paper, best first; none for a paper on another subject.

        `vectors` are unit vectors of title and abstract: (papers, dimension).
        """
        if not papers:
            return []
        standings = self._standings(vectors)
        return [tuple(_fields(paper, row)) for paper, row in zip(papers, standings, strict=True)]

    def outside(self, vectors: NDArray[np.float32]) -> NDArray[np.bool_]:
        """Return for each paper whether another subject is more similar than any field."""
        nearest: NDArray[np.intp] = self._standings(vectors).argmax(axis=1)
        return nearest >= len(_file().fields)

    def _standings(self, vectors: NDArray[np.float32]) -> Vectors:
        """Return each paper's similarity to each description, as a z-score over other fields' sentences."""
        described = self._descriptions
        nearness = _nearness(np.asarray(vectors, dtype=np.float32), described.vectors, described.starts)
        return cast(Vectors, (nearness - described.mean) / described.deviation)

    @cached_property
    def _descriptions(self) -> _Descriptions:
        texts = _file().descriptions
        vectors = self._encoder.encode_passages([line for lines in texts for line in lines])
        sizes = [len(lines) for lines in texts]
        starts = np.cumsum([0, *sizes[:-1]])
        owners = np.repeat(np.arange(len(sizes)), sizes)
        nearness = _nearness(vectors, vectors, starts)
        of_others = (owners[:, None] != np.arange(len(sizes))) & (owners < len(_file().fields))[:, None]
        masked = np.ma.masked_array(nearness, ~of_others)
        deviation = np.maximum(np.asarray(masked.std(axis=0)), 1e-6)
        return _Descriptions(vectors, starts, np.asarray(masked.mean(axis=0)), deviation)


@lru_cache(maxsize=2)
def field_labeller(encoder: Encoder) -> FieldLabeller:
    """Return the labeller of an encoder; its descriptions are encoded once per process."""
    return FieldLabeller(encoder)


def field_names() -> frozenset[str]:
    """Return the names of all fields that papers are labelled with."""
    return frozenset(_file().fields)


def _nearness(vectors: Vectors, sentences: Vectors, starts: NDArray[np.intp]) -> Vectors:
    """Return the highest similarity of each vector to a sentence of each description."""
    return cast(Vectors, np.maximum.reduceat(vectors @ sentences.T, starts, axis=1))


def _fields(paper: Paper, standings: Vectors) -> Iterator[Topic]:
    """Yield a paper's fields by the z-scores of the descriptions and the words of the paper."""
    names, choice = list(_file().fields), _file().choice
    evidence = standings[: len(names)] + _word_scores(paper)
    order = [int(index) for index in np.argsort(-evidence, kind="stable")][: choice.most]
    top = float(evidence[order[0]])
    is_elsewhere = int(np.argmax(standings[: len(names) + len(_file().elsewhere)])) >= len(names)
    if top < (choice.first_elsewhere if is_elsewhere else choice.first):
        return
    for index in order:
        score = float(evidence[index])
        if index != order[0] and score < max(choice.further, choice.share * top):
            return
        yield Topic("field", names[index], round(min(1.0, score / choice.full), 3))


def _word_scores(paper: Paper) -> Vectors:
    """Return the score that the words of title and abstract add to each field."""
    choice = _file().choice
    abstract = "" if paper.abstract == paper.title else paper.abstract
    title, body = (Counter(_words().found(tokens(text))) for text in (paper.title, abstract))
    added = (
        choice.title * min(title[name], choice.title_most)
        + choice.abstract * min(body[name], choice.abstract_most)
        for name in _file().fields
    )
    return np.fromiter(added, dtype=np.float32)


@cache
def _words() -> Phrases[str]:
    return Phrases((word, name) for name, field in _file().fields.items() for word in listed(field.words))


@cache
def _file() -> _File:
    return read_data("fields", _File)
