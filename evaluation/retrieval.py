"""Retrieval: a collection with relevance judgements, in BEIR's form, through our own build and search."""

import csv
import math
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import fmean
from typing import TypedDict

from pydantic import BaseModel, Field

from corpus.encoder_choice import open_encoder
from corpus.encoders import Encoder, Runtime
from corpus.records import Collection, Paper, Scope, paper_id
from corpus.search import SearchMode, search
from corpus.settings import Settings
from corpus.store import Corpus
from evaluation.input_files import EvaluationError, read_json_lines
from indexer.build import build_collection
from indexer.sources import SourcePaper

DEPTH = 100
_COLLECTION = Collection(id="retrieval", title="Retrieval", source="BEIR")

Gains = Mapping[str, int]


# What `evaluate` measures: quality is averaged over the queries, `ms_per_query` over rankings of 100.
RetrievalFigures = TypedDict(
    "RetrievalFigures",
    {
        "data": str,
        "encoder": str,
        "runtime": str,
        "mode": str,
        "documents": int,
        "queries": int,
        "build_seconds": float,
        "ndcg@10": float,
        "map@10": float,
        "recall@100": float,
        "ms_per_query": float,
    },
)


class _Document(BaseModel):
    id: str = Field(alias="_id")
    title: str = ""
    text: str = ""


@dataclass(frozen=True, slots=True)
class JudgedCollection:
    """Documents, queries by id, and for each query what is relevant, with its gain."""

    name: str
    documents: tuple[_Document, ...]
    queries: Mapping[str, str]
    gains: Mapping[str, Gains]

    @property
    def collection(self) -> Collection:
        return _COLLECTION

    def __len__(self) -> int:
        return len(self.documents)

    def papers(self) -> Iterator[SourcePaper]:
        for position, document in enumerate(self.documents):
            yield SourcePaper(document.id, _paper(document, position))


def _paper(document: _Document, position: int) -> Paper:
    return Paper(
        id=paper_id(_COLLECTION.id, document.id),
        collection_id=_COLLECTION.id,
        title=document.title.strip() or document.id,
        authors=(),
        year=None,
        venue="",
        abstract=document.text,
        source=_COLLECTION.source,
        position=position,
    )


def read_judged(folder: Path) -> JudgedCollection:
    """Read corpus.jsonl, queries.jsonl and qrels.tsv; queries without anything relevant are left out."""
    gains = _read_gains(folder / "qrels.tsv")
    queries = {query.id: query.text for query in _read_lines(folder / "queries.jsonl") if query.id in gains}
    if not queries:
        raise EvaluationError(f"{folder} has no query with relevant documents.")
    return JudgedCollection(folder.name, tuple(_read_lines(folder / "corpus.jsonl")), queries, gains)


def _read_lines(path: Path) -> list[_Document]:
    return read_json_lines(path, _Document, "Each line has _id, title and text.")


def _read_gains(path: Path) -> dict[str, dict[str, int]]:
    gains: dict[str, dict[str, int]] = {}
    try:
        with path.open(encoding="utf-8", newline="") as lines:
            for row in csv.DictReader(lines, delimiter="\t"):
                if (gain := int(row["score"])) > 0:
                    gains.setdefault(row["query-id"], {})[row["corpus-id"]] = gain
    except (OSError, UnicodeDecodeError, KeyError, TypeError, ValueError) as error:
        raise EvaluationError(
            f"{path} cannot be read as tab-separated query-id, corpus-id and score: {error}"
        ) from error
    return gains


def evaluate(
    folder: Path, encoder_name: str | None, runtime: Runtime | None, mode: SearchMode
) -> RetrievalFigures:
    """Return how well the search ranks a judged collection, indexed for this; raises EvaluationError."""
    judged = read_judged(folder)
    with tempfile.TemporaryDirectory() as home:
        settings = Settings(home=Path(home))
        if encoder_name:
            settings = settings.model_copy(update={"encoder": encoder_name})
        encoder = open_encoder(settings, runtime)
        encoder.load()
        clock = time.perf_counter()
        build_collection(settings, encoder, judged, lambda _: None)
        built = time.perf_counter() - clock
        corpus = Corpus.open(settings.corpus_path, encoder)
        rankings, seconds = _rankings(corpus, encoder, judged, mode)
        return {
            "data": judged.name,
            "encoder": encoder.name,
            "runtime": encoder.runtime,
            "mode": mode,
            "documents": len(judged),
            "queries": len(rankings),
            "build_seconds": built,
            "ndcg@10": _mean(rankings, judged, partial(ndcg, depth=10)),
            "map@10": _mean(rankings, judged, partial(average_precision, depth=10)),
            "recall@100": _mean(rankings, judged, partial(recall, depth=100)),
            "ms_per_query": 1000 * seconds / len(rankings),
        }


def _rankings(
    corpus: Corpus, encoder: Encoder, judged: JudgedCollection, mode: SearchMode
) -> tuple[dict[str, list[str]], float]:
    """Return the ids of each query's documents, best first, and the seconds that all searches took."""
    documents = {paper_id(_COLLECTION.id, document.id): document.id for document in judged.documents}
    search(corpus, encoder, "warm", Scope(), mode=mode)
    clock = time.perf_counter()
    found = {
        query: search(corpus, encoder, text, Scope(), papers=DEPTH, passages_per_paper=1, mode=mode)
        for query, text in judged.queries.items()
    }
    seconds = time.perf_counter() - clock
    return {query: [documents[hit.paper.id] for hit in hits] for query, hits in found.items()}, seconds


def _mean(
    rankings: Mapping[str, Sequence[str]],
    judged: JudgedCollection,
    measure: Callable[[Sequence[str], Gains], float],
) -> float:
    return fmean(measure(ranking, judged.gains[query]) for query, ranking in rankings.items())


def ndcg(ranking: Sequence[str], gains: Gains, depth: int) -> float:
    """Return the discounted gain of a ranking, as a share of the best possible one's.

    Gains count as they are and position n is discounted by log2(n + 1), as in trec_eval (Järvelin and
    Kekäläinen 2002).
    """
    ideal = _discounted(sorted(gains.values(), reverse=True)[:depth])
    return _discounted([gains.get(document, 0) for document in ranking[:depth]]) / ideal


def _discounted(gains: Sequence[int]) -> float:
    return math.fsum(gain / math.log2(position + 2) for position, gain in enumerate(gains))


def average_precision(ranking: Sequence[str], gains: Gains, depth: int) -> float:
    """Return the mean over all relevant documents of the precision where each was found, 0 if it was not."""
    found = [position for position, document in enumerate(ranking[:depth], start=1) if document in gains]
    return math.fsum(rank / position for rank, position in enumerate(found, start=1)) / len(gains)


def recall(ranking: Sequence[str], gains: Gains, depth: int) -> float:
    return len(gains.keys() & set(ranking[:depth])) / len(gains)
