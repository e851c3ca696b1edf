"""Retrieval: queries with relevance judgements, in BEIR's form, through our own search.

The collection is built for it, or a corpus that exists is searched, whose papers the judgements name.
"""

import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
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


@dataclass(frozen=True, slots=True)
class HowSearched:
    """What is measured: one side of the search or both, and the encoder, by default the setting's."""

    mode: SearchMode = "hybrid"
    encoder: str | None = None
    runtime: Runtime | None = None

    def settings(self, settings: Settings) -> Settings:
        return settings.model_copy(update={"encoder": self.encoder}) if self.encoder else settings


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
    with tempfile.TemporaryDirectory() as home:
        settings = how.settings(Settings(home=Path(home)))
        encoder = open_encoder(settings, how.runtime)
        encoder.load()
        clock = time.perf_counter()
        build_collection(settings, encoder, judged, lambda _: None)
        built = time.perf_counter() - clock
        corpus = Corpus.open(settings.corpus_path, encoder)
        asked = _under_paper_ids(judged)
        return {mode: {**_measure(corpus, encoder, asked, mode), "build_seconds": built} for mode in modes}


def evaluate_corpus(
    home: Path, folder: Path, how: HowSearched, split: Split | None = None
) -> RetrievalFigures:
    """Return how well the search ranks the papers of a corpus that exists.

    `home` is a PAPER_TRAIL_HOME or the corpus folder in it. Raises EvaluationError and CorpusError.
    """
    judged = read_queries(folder, split)
    settings = how.settings(read_settings().model_copy(update={"home": home_of(home)}))
    encoder = open_encoder(settings, how.runtime)
    return _measure(Corpus.open(settings.corpus_path, encoder), encoder, judged, how.mode)


def _under_paper_ids(judged: JudgedQueries) -> JudgedQueries:
    """Return the judgements with the ids that the build gives the documents."""
    gains = {
        query: {document_paper_id(document): gain for document, gain in found.items()}
        for query, found in judged.gains.items()
    }
    return JudgedQueries(judged.name, judged.queries, gains, leaves_out_itself=judged.leaves_out_itself)


def _measure(corpus: Corpus, encoder: Encoder, judged: JudgedQueries, mode: SearchMode) -> RetrievalFigures:
    missing = _missing_documents(corpus, judged)
    rankings, seconds = _rankings(corpus, encoder, judged, mode)
    return {
        "data": judged.name,
        "encoder": encoder.name,
        "runtime": encoder.runtime,
        "mode": mode,
        "documents": corpus.count_papers(),
        "queries": len(rankings),
        "missing_documents": missing,
        "ndcg@10": _mean(rankings, judged, partial(ndcg, depth=10)),
        "map@10": _mean(rankings, judged, partial(average_precision, depth=10)),
        "recall@5": _mean(rankings, judged, partial(recall, depth=5)),
        "recall@20": _mean(rankings, judged, partial(recall, depth=20)),
        "recall@100": _mean(rankings, judged, partial(recall, depth=100)),
        "ms_per_query": 1000 * seconds / len(rankings),
    }


def _missing_documents(corpus: Corpus, judged: JudgedQueries) -> int:
    """Return how many relevant documents the corpus lacks; raises EvaluationError where it has none."""
    found = len(corpus.papers_by_id(judged.relevant))
    if not found:
        raise EvaluationError(
            f"The corpus has none of the documents that {judged.name} names, such as {judged.relevant[0]!r}."
        )
    return len(judged.relevant) - found


def _rankings(
    corpus: Corpus, encoder: Encoder, judged: JudgedQueries, mode: SearchMode
) -> tuple[dict[str, list[str]], float]:
    """Return the ids of each query's papers, best first, and the seconds that all searches took."""
    search(corpus, encoder, "warm", Scope(), mode=mode)
    papers = DEPTH + judged.leaves_out_itself
    clock = time.perf_counter()
    found = {
        query: search(corpus, encoder, text, Scope(), papers=papers, passages_per_paper=1, mode=mode)
        for query, text in judged.queries.items()
    }
    seconds = time.perf_counter() - clock
    rankings = {query: [hit.paper.id for hit in hits] for query, hits in found.items()}
    if judged.leaves_out_itself:
        rankings = {
            query: [paper for paper in ranking if paper != document_paper_id(query)]
            for query, ranking in rankings.items()
        }
    return rankings, seconds


def _mean(
    rankings: Mapping[str, Sequence[str]],
    judged: JudgedQueries,
    measure: Callable[[Sequence[str], Gains], float],
) -> float:
    return fmean(measure(ranking, judged.gains[query]) for query, ranking in rankings.items())
