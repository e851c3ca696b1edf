"""Measures retrieval with our build and search on queries with relevance judgements (BEIR, LitSearch).

Either a collection is indexed for the measurement, or an existing corpus is searched, whose paper ids the
judgements use.
"""

import math
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from statistics import fmean
from typing import Literal, Self, TypeVar

import pyarrow
import pyarrow.parquet
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from corpus.encoder_choice import open_encoder
from corpus.encoders.base import Encoder, Runtime
from corpus.records import Collection, Paper, Scope, paper_id
from corpus.search.hybrid import SearchMode, search
from corpus.settings import Settings, read_settings
from corpus.store.corpus import Corpus
from corpus.wording import counted
from evaluation.harness import Figures, Report, command, plain_table, say
from evaluation.homes import ListedPapers, open_home
from evaluation.input_files import EvaluationError, first_fault, read_json_lines, read_text
from evaluation.peers.peer import Moment
from indexer.build.run import build_collection

DEPTH = 100
Split = Literal["test", "dev", "train"]
Gains = Mapping[str, int]
_COLLECTION = Collection(id="retrieval", title="Retrieval", source="BEIR")
_QRELS_HEADER = ["query-id", "corpus-id", "score"]


def ndcg(ranking: Sequence[str], gains: Gains, depth: int) -> float:
    """Return nDCG with linear gains and a discount of log2(n + 1), as trec_eval's ndcg_cut."""

    def discounted(ranked_gains: Iterable[int]) -> float:
        return math.fsum(gain / math.log2(place + 2) for place, gain in enumerate(ranked_gains))

    ideal = discounted(sorted(gains.values(), reverse=True)[:depth])
    return discounted(gains.get(document, 0) for document in ranking[:depth]) / ideal


def average_precision(ranking: Sequence[str], gains: Gains, depth: int) -> float:
    """Return the average precision over all relevant documents, as trec_eval's map_cut."""
    ranks = [rank for rank, document in enumerate(ranking[:depth], start=1) if document in gains]
    return math.fsum(found / rank for found, rank in enumerate(ranks, start=1)) / len(gains)


def recall(ranking: Sequence[str], gains: Gains, depth: int) -> float:
    return len(gains.keys() & set(ranking[:depth])) / len(gains)


class Document(BaseModel):
    id: str = Field(alias="_id")
    title: str = ""
    text: str = ""


@dataclass(frozen=True, slots=True)
class JudgedQueries:
    """Queries by id with the gains of their relevant documents.

    With `leaves_out_itself` queries are documents of the collection, and a query is never its own result
    (BEIR).
    """

    name: str
    queries: Mapping[str, str]
    gains: Mapping[str, Gains]
    leaves_out_itself: bool = field(default=False, kw_only=True)

    @property
    def relevant(self) -> list[str]:
        """The ids of all relevant documents, each once."""
        return list(dict.fromkeys(document for query in self.queries for document in self.gains[query]))

    def first(self, most: int | None) -> Self:
        """Return the first `most` queries, with all documents."""
        return replace(self, queries=dict(islice(self.queries.items(), most)))


@dataclass(frozen=True, slots=True)
class JudgedCollection(JudgedQueries):
    """Judged queries with the documents to search."""

    documents: tuple[Document, ...]

    def __len__(self) -> int:
        return len(self.documents)

    def as_source(self) -> ListedPapers:
        """Return the documents as papers that the indexer can build."""
        papers = [
            Paper(
                id=paper_id(_COLLECTION.id, document.id),
                collection_id=_COLLECTION.id,
                title=document.title.strip() or document.id,
                authors=(),
                year=None,
                venue="",
                abstract=document.text,
                source=_COLLECTION.source,
            )
            for document in self.documents
        ]
        return ListedPapers(_COLLECTION, papers)


def read_judged(folder: Path, split: Split | None = None) -> JudgedCollection:
    """Read BEIR's or LitSearch's files; raises EvaluationError that names the file at fault."""
    if (folder / "corpus_clean").is_dir():
        return read_litsearch(folder)
    documents = tuple(_read_lines(folder / "corpus.jsonl"))
    judged = read_queries(folder, split)
    return JudgedCollection(judged.name, judged.queries, judged.gains, documents)


def read_queries(folder: Path, split: Split | None = None) -> JudgedQueries:
    """Read queries.jsonl and judgements; queries without relevant documents are left out.

    Without a split the judgements are those of qrels.tsv or, if it does not exist, of BEIR's test split.
    """
    judgements = folder / "qrels.tsv"
    if split or (not judgements.exists() and (folder / "qrels").is_dir()):
        judgements = folder / "qrels" / f"{split or 'test'}.tsv"
    gains = _read_gains(judgements)
    queries = {query.id: query.text for query in _read_lines(folder / "queries.jsonl") if query.id in gains}
    if not queries:
        raise EvaluationError(f"{folder} has no query with relevant documents.")
    return JudgedQueries(folder.name, queries, gains)


def _read_lines(path: Path) -> list[Document]:
    return read_json_lines(path, Document, "Each line has _id, title and text.")


def _read_gains(path: Path) -> dict[str, dict[str, int]]:
    gains: dict[str, dict[str, int]] = {}
    header, *lines = (line.rstrip("\r") for line in read_text(path).split("\n"))
    if header.split("\t") != _QRELS_HEADER:
        raise EvaluationError(
            f"{path}, line 1: the header must be {', '.join(_QRELS_HEADER)}, separated by tabs."
        )
    for number, line in enumerate(lines, start=2):
        if line.strip():
            try:
                query, document, score = line.split("\t")
                gain = int(score)
            except ValueError:
                raise EvaluationError(
                    f"{path}, line {number}: it must be query-id, corpus-id and a whole number, separated by"
                    " tabs."
                ) from None
            if gain > 0:
                gains.setdefault(query, {})[document] = gain
    return gains


class _Row(BaseModel):
    model_config = ConfigDict(frozen=True, strict=True)


class _Query(_Row):
    query: str
    corpusids: list[int]


class _Paper(_Row):
    corpusid: int
    title: str | None
    abstract: str | None


_Form = TypeVar("_Form", bound=BaseModel)


def read_litsearch(folder: Path) -> JudgedCollection:
    """Read LitSearch (arXiv 2407.18940), titles and abstracts; its queries have no ids and are numbered."""
    queries = [row for row in _rows(folder, "query/*.parquet", _Query) if row.corpusids]
    documents = tuple(
        Document(_id=str(row.corpusid), title=row.title or "", text=row.abstract or "")
        for row in _rows(folder, "corpus_clean/*.parquet", _Paper)
    )
    if not queries or not documents:
        raise EvaluationError(f"{folder} has no query with relevant documents, or no documents.")
    texts = {str(number): row.query for number, row in enumerate(queries)}
    gains = {str(number): dict.fromkeys(map(str, row.corpusids), 1) for number, row in enumerate(queries)}
    return JudgedCollection(folder.name, texts, gains, documents)


def _rows(folder: Path, pattern: str, form: type[_Form]) -> Iterator[_Form]:
    if not (files := sorted(folder.glob(pattern))):
        raise EvaluationError(f"{folder} has no file {pattern}.")
    for path in files:
        yield from read_parquet(
            path, form, [field.alias or name for name, field in form.model_fields.items()]
        )


def read_parquet(path: Path, form: type[_Form], columns: list[str], hint: str = "") -> Iterator[_Form]:
    """Yield the rows of a Parquet file with these columns; raises EvaluationError that names the file."""
    try:
        with pyarrow.parquet.ParquetFile(path) as file:
            for batch in file.iter_batches(2048, columns=columns):
                yield from map(form.model_validate, batch.to_pylist())
    except ValidationError as error:
        raise EvaluationError(f"{path}: {first_fault(error)}. {hint}".strip()) from None
    except (pyarrow.ArrowException, OSError) as error:
        raise EvaluationError(f"{path} cannot be read as Parquet: {error}") from error


@dataclass(frozen=True, slots=True)
class SearchSetup:
    """The search mode and the encoder to measure; an encoder of None is that of the settings."""

    mode: SearchMode = "hybrid"
    encoder: str | None = None
    runtime: Runtime | None = None

    def settings(self, settings: Settings) -> Settings:
        return settings.model_copy(update={"encoder": self.encoder}) if self.encoder else settings


@dataclass(frozen=True, slots=True)
class Rankings:
    """The ids of documents found for each query, best first, and the time of each search.

    `documents` is the number of documents searched.
    """

    encoder: Encoder
    documents: int
    by_query: dict[str, list[str]]
    times: tuple[Moment, ...]


def evaluate(folder: Path, setup: SearchSetup, split: Split | None = None) -> Figures:
    """Index a judged collection and measure the search on it; raises EvaluationError."""
    return evaluate_modes(read_judged(folder, split), setup, (setup.mode,))[setup.mode]


def evaluate_modes(
    judged: JudgedCollection, setup: SearchSetup, modes: Sequence[SearchMode]
) -> dict[SearchMode, Figures]:
    """Measure several search modes on a collection that is indexed once for all of them."""
    missing = missing_documents(judged, [document.id for document in judged.documents])
    searched, build_time = search_collection(judged, setup, modes)
    return {
        mode: {**_figures(rankings, judged, missing, mode), "build_seconds": build_time.clock}
        for mode, rankings in searched.items()
    }


def search_collection(
    judged: JudgedCollection, setup: SearchSetup, modes: Sequence[SearchMode]
) -> tuple[dict[SearchMode, Rankings], Moment]:
    """Index a collection once; return the rankings of each search mode and the time of indexing."""
    with tempfile.TemporaryDirectory() as home:
        settings = setup.settings(Settings(home=Path(home)))
        encoder = open_encoder(settings, setup.runtime)
        encoder.load()
        started = Moment.now()
        build_collection(settings, encoder, judged.as_source(), lambda _: None)
        build_time = started.since()
        corpus = Corpus.open(settings.corpus_path, encoder)
        searched = {mode: _search_all(corpus, encoder, judged, mode) for mode in modes}
    documents = {paper_id(_COLLECTION.id, document.id): document.id for document in judged.documents}
    for rankings in searched.values():
        for query, papers in rankings.by_query.items():
            ranked = [documents[paper] for paper in papers]
            if judged.leaves_out_itself:
                ranked = [document for document in ranked if document != query]
            rankings.by_query[query] = ranked
    return searched, build_time


def evaluate_corpus(home: Path, folder: Path, setup: SearchSetup, split: Split | None = None) -> Figures:
    """Measure the search on an existing corpus; `home` is a PAPER_TRAIL_HOME or the corpus folder in it."""
    judged = read_queries(folder, split)
    _, encoder, corpus = open_home(home, setup.settings(read_settings()), setup.runtime)
    missing = missing_documents(judged, [paper.id for paper in corpus.papers_by_id(judged.relevant)])
    return _figures(_search_all(corpus, encoder, judged, setup.mode), judged, missing, setup.mode)


def missing_documents(judged: JudgedQueries, known: Iterable[str]) -> int:
    """Count the relevant documents that are not in `known`; raises EvaluationError if all are missing."""
    relevant = judged.relevant
    present = len(set(relevant).intersection(known))
    if not present:
        raise EvaluationError(
            f"The corpus has none of the documents that {judged.name} names, such as {relevant[0]!r}."
        )
    return len(relevant) - present


def quality(rankings: Mapping[str, Sequence[str]], judged: JudgedQueries) -> dict[str, float]:
    """Return the mean of each measure over all queries; a query without a ranking scores 0."""
    measures = {"ndcg@10": ndcg, "map@10": average_precision}
    measures |= dict.fromkeys(("recall@5", "recall@20", "recall@100"), recall)
    return {
        name: fmean(
            measure(rankings.get(query, ()), judged.gains[query], int(name.partition("@")[2]))
            for query in judged.queries
        )
        for name, measure in measures.items()
    }


def _figures(rankings: Rankings, judged: JudgedQueries, missing: int, mode: SearchMode) -> Figures:
    return {
        "data": judged.name,
        "encoder": rankings.encoder.name,
        "runtime": rankings.encoder.runtime,
        "mode": mode,
        "documents": rankings.documents,
        "queries": len(rankings.by_query),
        "missing_documents": missing,
        **quality(rankings.by_query, judged),
        "ms_per_query": 1000 * fmean(moment.clock for moment in rankings.times),
    }


def _search_all(corpus: Corpus, encoder: Encoder, judged: JudgedQueries, mode: SearchMode) -> Rankings:
    """Rank `DEPTH` papers for each query, and one more if the query itself will be removed."""
    search(corpus, encoder, "warm", Scope(), mode=mode)
    papers = DEPTH + judged.leaves_out_itself
    by_query, times = {}, []
    for query, text in judged.queries.items():
        started = Moment.now()
        hits = search(corpus, encoder, text, Scope(), papers=papers, passages_per_paper=1, mode=mode)
        times.append(started.since())
        by_query[query] = [hit.paper.id for hit in hits]
    return Rankings(encoder, corpus.count_papers(), by_query, tuple(times))


@command("retrieval")
def retrieval(
    data: Path,
    *,
    corpus: Path | None = None,
    split: Split | None = None,
    encoder: str | None = None,
    mode: SearchMode = "hybrid",
    runtime: Runtime | None = None,
) -> Report:
    setup = SearchSetup(mode, encoder, runtime)
    figures = evaluate_corpus(corpus, data, setup, split) if corpus else evaluate(data, setup, split)
    if missing := figures["missing_documents"]:
        say(f"Not in the corpus, so counted as not found: {counted(missing, 'relevant document')}.")
    return Report(figures, [plain_table(figures, 4)])
