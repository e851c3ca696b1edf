"""Corpora of any size: words as frequent as in texts, clustered vectors, papers that cite each other."""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import pyarrow as pa

from corpus.encoders import Vectors
from corpus.records import (
    Author,
    Collection,
    Paper,
    Passage,
    Reference,
    Sentence,
    Topic,
    passage_id,
)
from corpus.store import CorpusWriter, rows

COLLECTIONS, PASSAGES_PER_PAPER, PAPERS_PER_BATCH = 20, 10, 1000
TOPICS, SPREAD = 1000, 1.2
VOCABULARY, WORDS, SENTENCES = 50_000, 60, 2
TITLE_WORDS, AUTHORS_PER_PAPER, AUTHORS, SUBJECTS = 9, 3, 20_000, 200
# Of the entries of a bibliography one in so many is a paper of the corpus.
REFERENCES, HELD = 20, 5


class SyntheticText:
    """Texts of words as frequent as Zipf says, and vectors near one of many topics."""

    def __init__(self, dimension: int, seed: int) -> None:
        self._random = np.random.default_rng(seed)
        self._topics = np.random.default_rng(0).normal(size=(TOPICS, dimension))
        self._topics /= np.linalg.norm(self._topics, axis=1, keepdims=True)
        self._deviation = SPREAD / dimension**0.5
        frequency = 1 / np.arange(1, VOCABULARY + 1)
        self._cumulated = np.cumsum(frequency / frequency.sum())

    def text(self, words: int) -> str:
        drawn = np.searchsorted(self._cumulated, self._random.random(words))
        return " ".join(f"word{number}" for number in drawn)

    def vectors(self, count: int) -> Vectors:
        near = self._topics[self._random.integers(TOPICS, size=count)]
        vectors = near + self._random.normal(size=near.shape, scale=self._deviation)
        return np.asarray(vectors / np.linalg.norm(vectors, axis=1, keepdims=True), np.float32)


def collection_id(number: int) -> str:
    return f"synthetic-{number % COLLECTIONS}"


class SyntheticPapers:
    """Papers by their numbers, with so many passages in all that the last one may have fewer than others."""

    def __init__(self, dimension: int, passages: int) -> None:
        self.count = -(-passages // PASSAGES_PER_PAPER)
        self._passages = passages
        self._texts = SyntheticText(dimension, seed=1)
        self._titles = [self._texts.text(TITLE_WORDS) for _ in range(self.count)]
        self._random = np.random.default_rng(4)

    def write(self, writer: CorpusWriter, count: int) -> None:
        """Write and publish the first papers."""
        collections = [
            Collection(collection_id(number), f"Synthetic {number}") for number in range(COLLECTIONS)
        ]
        writer.put_collections(collections)
        for start in range(0, count, PAPERS_PER_BATCH):
            self.add(writer, range(start, min(start + PAPERS_PER_BATCH, count)))
        writer.publish()

    def add(self, writer: CorpusWriter, numbers: Sequence[int]) -> None:
        """Write the papers of these numbers, without publishing."""
        papers = [self._paper(number) for number in numbers]
        entries = [rows.PaperEntry(paper, self._references()) for paper in papers]
        room = self._passages - numbers[0] * PASSAGES_PER_PAPER
        writer.add_papers(
            rows.paper_rows(entries).to_batches(), self._passage_rows(papers, room).to_batches()
        )

    def _paper(self, number: int) -> Paper:
        home = collection_id(number)
        return Paper(
            id=f"{home}/{number}",
            collection_id=home,
            title=self._titles[number],
            authors=tuple(self._author() for _ in range(AUTHORS_PER_PAPER)),
            year=2000 + number % 25,
            venue=f"Venue {number % COLLECTIONS}",
            abstract="",
            position=number,
            topics=(Topic("task", f"task {self._random.integers(SUBJECTS)}", 1.0),),
        )

    def _author(self) -> Author:
        number = int(self._random.integers(AUTHORS))
        return Author(f"Given{number % 100}", f"Family{number}")

    def _references(self) -> tuple[Reference, ...]:
        held = self._random.integers(self.count, size=REFERENCES // HELD)
        titles = [self._titles[number] for number in held]
        titles += [self._texts.text(TITLE_WORDS) for _ in range(REFERENCES - len(titles))]
        return tuple(
            Reference(f"Given Family and Given Other. {title}. In Proceedings, pages 1–12.")
            for title in titles
        )

    def _passage_rows(self, papers: Sequence[Paper], room: int) -> pa.Table:
        passages = [
            _passage(paper, number, self._texts.text(WORDS))
            for paper in papers
            for number in range(PASSAGES_PER_PAPER)
        ][:room]
        texts = [passage.text for passage in passages]
        vectors = self._texts.vectors(len(passages))
        # A title and sentences of their own would measure no different.
        alone = np.repeat(vectors[:, None], 1 + SENTENCES, axis=1)
        by_id = {paper.id: paper for paper in papers}
        return rows.passage_rows(passages, by_id, texts, vectors, list(alone))


def _passage(paper: Paper, number: int, text: str) -> Passage:
    edges = [len(text) * part // SENTENCES for part in range(SENTENCES + 1)]
    sentences = tuple(Sentence(start, end) for start, end in pairwise(edges))
    identifier = passage_id(paper.id, number)
    return Passage(identifier, paper.id, paper.collection_id, number, "body", (), text, sentences)
