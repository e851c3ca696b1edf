"""Retrieval: queries with relevance judgements, in BEIR's form, through our own search.

The collection is built for it, or a corpus that exists is searched, whose papers the judgements name.
"""

import math
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from statistics import fmean
from typing import Literal, NotRequired, TypedDict

from pydantic import BaseModel, Field

from corpus.encoder_choice import open_encoder
from corpus.encoders import Encoder, Runtime
from corpus.records import Collection, Paper, Scope, paper_id
from corpus.search import SearchMode, search
from corpus.settings import Settings, read_settings
from corpus.store import Corpus
from evaluation.input_files import EvaluationError, home_of, read_json_lines, read_text
from evaluation.moments import Moment
from indexer.build import build_collection
from indexer.sources import SourcePaper

DEPTH = 100
_COLLECTION = Collection(id="retrieval", title="Retrieval", source="BEIR")

Gains = Mapping[str, int]
Split = Literal["test", "dev", "train"]


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
        "recall@100": float,
        "ms_per_query": float,
    },
)


# Functional, because of the names, which the JSON lines have.
Quality = TypedDict("Quality", {"ndcg@10": float, "map@10": float, "recall@100": float})


class JudgedDocument(BaseModel):
    """A text that is searched, or a query."""

    id: str = Field(alias="_id")
    title: str = ""
    text: str = ""


@dataclass(frozen=True, slots=True)
class JudgedQueries:
    """Queries by id, and for each what is relevant, with its gain."""

    name: str
    queries: Mapping[str, str]
    gains: Mapping[str, Gains]

    @property
    def relevant(self) -> list[str]:
        """The ids of all that is relevant to a query, each once."""
        return list(dict.fromkeys(document for query in self.queries for document in self.gains[query]))


@dataclass(frozen=True, slots=True)
class JudgedCollection(JudgedQueries):
    """Judged queries with the documents to search."""

    documents: tuple[JudgedDocument, ...]

    @property
    def collection(self) -> Collection:
        return _COLLECTION

    def __len__(self) -> int:
        return len(self.documents)

    def papers(self) -> Iterator[SourcePaper]:
        for position, document in enumerate(self.documents):
            yield SourcePaper(document.id, _paper(document, position))


def _paper(document: JudgedDocument, position: int) -> Paper:
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


def read_judged(folder: Path, split: Split | None = None) -> JudgedCollection:
    """Read a folder with its documents; queries without anything relevant are left out."""
    asked = read_queries(folder, split)
    return JudgedCollection(
        asked.name, asked.queries, asked.gains, tuple(_read_lines(folder / "corpus.jsonl"))
    )


def read_queries(folder: Path, split: Split | None = None) -> JudgedQueries:
    """Read queries.jsonl and the judgements of a folder; queries without anything relevant are left out."""
    gains = _read_gains(_judgements(folder, split))
    queries = {query.id: query.text for query in _read_lines(folder / "queries.jsonl") if query.id in gains}
    if not queries:
        raise EvaluationError(f"{folder} has no query with relevant documents.")
    return JudgedQueries(folder.name, queries, gains)


def _judgements(folder: Path, split: Split | None) -> Path:
    """Return the file of a split, without one qrels.tsv, or the test split where there is only BEIR's own."""
    if split is None and ((alone := folder / "qrels.tsv").exists() or not (folder / "qrels").is_dir()):
        return alone
    return folder / "qrels" / f"{split or 'test'}.tsv"


def _read_lines(path: Path) -> list[JudgedDocument]:
    return read_json_lines(path, JudgedDocument, "Each line has _id, title and text.")


def _read_gains(path: Path) -> dict[str, dict[str, int]]:
    gains: dict[str, dict[str, int]] = {}
    header, *lines = (line.rstrip("\r") for line in read_text(path).split("\n"))
    if header.split("\t") != _HEADER:
        raise EvaluationError(f"{path}, line 1: the header must be {', '.join(_HEADER)}, with tabs between.")
    for number, line in enumerate(lines, start=2):
        if line.strip():
            query, document, gain = _judgement(path, number, line)
            if gain > 0:
                gains.setdefault(query, {})[document] = gain
    return gains


_HEADER = ["query-id", "corpus-id", "score"]


def _judgement(path: Path, number: int, line: str) -> tuple[str, str, int]:
    try:
        query, document, score = line.split("\t")
        return query, document, int(score)
    except ValueError:
        raise EvaluationError(
            f"{path}, line {number}: it must be query-id, corpus-id and a whole number, with tabs between."
        ) from None


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
    judged = read_judged(folder, split)
    missing = missing_documents(judged, [document.id for document in judged.documents])
    found, built = search_collection(judged, how)
    return {**_figures(found, judged, missing, how.mode), "build_seconds": built.clock}


def search_collection(judged: JudgedCollection, how: HowSearched) -> tuple[Searched, Moment]:
    """Return what the search finds in a judged collection, and how long indexing it took."""
    with tempfile.TemporaryDirectory() as home:
        settings = how.settings(Settings(home=Path(home)))
        encoder = open_encoder(settings, how.runtime)
        encoder.load()
        started = Moment.now()
        build_collection(settings, encoder, judged, lambda _: None)
        built = started.since()
        corpus = Corpus.open(settings.corpus_path, encoder)
        found = _search_all(corpus, encoder, judged, how.mode)
    documents = {paper_id(_COLLECTION.id, document.id): document.id for document in judged.documents}
    rankings = {query: [documents[paper] for paper in ranking] for query, ranking in found.rankings.items()}
    return replace(found, rankings=rankings), built


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
        "recall@100": measured["recall@100"],
        "ms_per_query": 1000 * fmean(one.clock for one in found.taken),
    }


def missing_documents(judged: JudgedQueries, known: Iterable[str]) -> int:
    """Return how many relevant documents are not among some; raises EvaluationError where none is."""
    relevant = judged.relevant
    found = len(set(relevant).intersection(known))
    if not found:
        raise EvaluationError(
            f"The corpus has none of the documents that {judged.name} names, such as {relevant[0]!r}."
        )
    return len(relevant) - found


def _search_all(corpus: Corpus, encoder: Encoder, judged: JudgedQueries, mode: SearchMode) -> Searched:
    search(corpus, encoder, "warm", Scope(), mode=mode)
    rankings, taken = {}, []
    for query, text in judged.queries.items():
        started = Moment.now()
        hits = search(corpus, encoder, text, Scope(), papers=DEPTH, passages_per_paper=1, mode=mode)
        taken.append(started.since())
        rankings[query] = [hit.paper.id for hit in hits]
    return Searched(encoder, corpus.count_papers(), rankings, tuple(taken))


def quality(rankings: Mapping[str, Sequence[str]], judged: JudgedQueries) -> Quality:
    """Return how good rankings are, in the mean over all queries; one that is not there found nothing."""
    return {
        "ndcg@10": _mean(rankings, judged, partial(ndcg, depth=10)),
        "map@10": _mean(rankings, judged, partial(average_precision, depth=10)),
        "recall@100": _mean(rankings, judged, partial(recall, depth=DEPTH)),
    }


def _mean(
    rankings: Mapping[str, Sequence[str]],
    judged: JudgedQueries,
    measure: Callable[[Sequence[str], Gains], float],
) -> float:
    return fmean(measure(rankings.get(query, ()), judged.gains[query]) for query in judged.queries)


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
