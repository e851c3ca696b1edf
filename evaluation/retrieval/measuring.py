"""Retrieval: queries with relevance judgements, in BEIR's form, through our own search.

The collection is built for it, or a corpus that exists is searched, whose papers the judgements name.
"""

import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from statistics import fmean
from typing import NotRequired, TypedDict

from corpus.encoder_choice import open_encoder
from corpus.encoders import Encoder, Runtime
from corpus.records import Scope
from corpus.search import SearchMode, search
from corpus.settings import Settings, read_settings
from corpus.store import Corpus
from evaluation.input_files import EvaluationError, home_of
from evaluation.moments import Moment
from evaluation.retrieval.judged_sets import (
    JudgedCollection,
    JudgedQueries,
    Split,
    document_paper_id,
    read_judged,
    read_queries,
)
from evaluation.retrieval.litsearch import is_litsearch, read_litsearch
from evaluation.retrieval.measures import Gains, average_precision, ndcg, recall
from indexer.build import build_collection

DEPTH = 100

# What is measured: quality is averaged over the queries, `ms_per_query` over rankings of 100. Relevant
# documents that are missing count as not found.
RetrievalFigures = TypedDict(
    "RetrievalFigures",
    {
        "data": str,
        "encoder": str,
        "runtime": str,
        "mode": str,
        "documents": int,
        "queries": int,
        "missing_documents": int,
        "build_seconds": NotRequired[float],
        "ndcg@10": float,
        "map@10": float,
        "recall@5": float,
        "recall@20": float,
        "recall@100": float,
        "ms_per_query": float,
    },
)


# Functional, because of the names, which the JSON lines have.
Quality = TypedDict(
    "Quality",
    {"ndcg@10": float, "map@10": float, "recall@5": float, "recall@20": float, "recall@100": float},
)


@dataclass(frozen=True, slots=True)
class HowSearched:
    """What is measured: one side of the search or both, and the encoder, by default the setting's."""

    mode: SearchMode = "hybrid"
    encoder: str | None = None
    runtime: Runtime | None = None

    def settings(self, settings: Settings) -> Settings:
        return settings.model_copy(update={"encoder": self.encoder}) if self.encoder else settings


@dataclass(frozen=True, slots=True)
class Searched:
    """What the search found: each query's documents, best first, and how long each search took."""

    encoder: Encoder
    documents: int
    rankings: Mapping[str, list[str]]
    taken: tuple[Moment, ...]


def evaluate(folder: Path, how: HowSearched, split: Split | None = None) -> RetrievalFigures:
    """Return how well the search ranks a judged collection, indexed for this; raises EvaluationError."""
    judged = read_litsearch(folder) if is_litsearch(folder) else read_judged(folder, split)
    return evaluate_modes(judged, how, (how.mode,))[how.mode]


def evaluate_modes(
    judged: JudgedCollection, how: HowSearched, modes: Sequence[SearchMode]
) -> dict[SearchMode, RetrievalFigures]:
    """Return how well sides of the search rank a collection, which is indexed once for all of them.

    Raises EvaluationError and CorpusError.
    """
    missing = missing_documents(judged, [document.id for document in judged.documents])
    searched, built = search_modes(judged, how, modes)
    return {
        mode: {**_figures(found, judged, missing, mode), "build_seconds": built.clock}
        for mode, found in searched.items()
    }


def search_collection(judged: JudgedCollection, how: HowSearched) -> tuple[Searched, Moment]:
    """Return what the search finds in a judged collection, and how long indexing it took."""
    searched, built = search_modes(judged, how, (how.mode,))
    return searched[how.mode], built


def search_modes(
    judged: JudgedCollection, how: HowSearched, modes: Sequence[SearchMode]
) -> tuple[dict[SearchMode, Searched], Moment]:
    """Return what sides of the search find in a collection indexed once, and how long indexing it took."""
    with tempfile.TemporaryDirectory() as home:
        settings = how.settings(Settings(home=Path(home)))
        encoder = open_encoder(settings, how.runtime)
        encoder.load()
        started = Moment.now()
        build_collection(settings, encoder, judged, lambda _: None)
        built = started.since()
        corpus = Corpus.open(settings.corpus_path, encoder)
        searched = {mode: _search_all(corpus, encoder, judged, mode) for mode in modes}
    documents = {document_paper_id(document.id): document.id for document in judged.documents}
    return {mode: _by_document(found, documents, judged) for mode, found in searched.items()}, built


def evaluate_corpus(
    home: Path, folder: Path, how: HowSearched, split: Split | None = None
) -> RetrievalFigures:
    """Return how well the search ranks the papers of a corpus that exists.

    `home` is a PAPER_TRAIL_HOME or the corpus folder in it. Raises EvaluationError and CorpusError.
    """
    judged = read_queries(folder, split)
    settings = how.settings(read_settings().model_copy(update={"home": home_of(home)}))
    encoder = open_encoder(settings, how.runtime)
    corpus = Corpus.open(settings.corpus_path, encoder)
    missing = missing_documents(judged, [paper.id for paper in corpus.papers_by_id(judged.relevant)])
    return _figures(_search_all(corpus, encoder, judged, how.mode), judged, missing, how.mode)


def missing_documents(judged: JudgedQueries, known: Iterable[str]) -> int:
    """Return how many relevant documents are not among some; raises EvaluationError where none is."""
    relevant = judged.relevant
    found = len(set(relevant).intersection(known))
    if not found:
        raise EvaluationError(
            f"The corpus has none of the documents that {judged.name} names, such as {relevant[0]!r}."
        )
    return len(relevant) - found


def quality(rankings: Mapping[str, Sequence[str]], judged: JudgedQueries) -> Quality:
    """Return how good rankings are, in the mean over all queries; one that is not there found nothing."""
    return {
        "ndcg@10": _mean(rankings, judged, partial(ndcg, depth=10)),
        "map@10": _mean(rankings, judged, partial(average_precision, depth=10)),
        "recall@5": _mean(rankings, judged, partial(recall, depth=5)),
        "recall@20": _mean(rankings, judged, partial(recall, depth=20)),
        "recall@100": _mean(rankings, judged, partial(recall, depth=DEPTH)),
    }


def _figures(found: Searched, judged: JudgedQueries, missing: int, mode: SearchMode) -> RetrievalFigures:
    measured = quality(found.rankings, judged)
    return {
        "data": judged.name,
        "encoder": found.encoder.name,
        "runtime": found.encoder.runtime,
        "mode": mode,
        "documents": found.documents,
        "queries": len(found.rankings),
        "missing_documents": missing,
        "ndcg@10": measured["ndcg@10"],
        "map@10": measured["map@10"],
        "recall@5": measured["recall@5"],
        "recall@20": measured["recall@20"],
        "recall@100": measured["recall@100"],
        "ms_per_query": 1000 * fmean(one.clock for one in found.taken),
    }


def _search_all(corpus: Corpus, encoder: Encoder, judged: JudgedQueries, mode: SearchMode) -> Searched:
    """Return the ids of each query's papers, best first; one more where a query's own is left out."""
    search(corpus, encoder, "warm", Scope(), mode=mode)
    papers = DEPTH + judged.leaves_out_itself
    rankings, taken = {}, []
    for query, text in judged.queries.items():
        started = Moment.now()
        hits = search(corpus, encoder, text, Scope(), papers=papers, passages_per_paper=1, mode=mode)
        taken.append(started.since())
        rankings[query] = [hit.paper.id for hit in hits]
    return Searched(encoder, corpus.count_papers(), rankings, tuple(taken))


def _by_document(found: Searched, documents: Mapping[str, str], judged: JudgedQueries) -> Searched:
    """Return rankings of documents for those of papers, without the query's own where that is left out."""
    rankings = {query: [documents[paper] for paper in ranking] for query, ranking in found.rankings.items()}
    if judged.leaves_out_itself:
        rankings = {
            query: [document for document in ranking if document != query]
            for query, ranking in rankings.items()
        }
    return replace(found, rankings=rankings)


def _mean(
    rankings: Mapping[str, Sequence[str]],
    judged: JudgedQueries,
    measure: Callable[[Sequence[str], Gains], float],
) -> float:
    return fmean(measure(rankings.get(query, ()), judged.gains[query]) for query in judged.queries)
