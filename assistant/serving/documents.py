"""Documents that describe papers to programs, with schemas published by HTTP API and tools."""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, urlencode

from pydantic import TypeAdapter

from corpus.records import CollectionSummary, Hit, Paper, PaperHits, Passage, PassageKind

DIGITS = 4
_ADAPTERS: dict[type[Any], TypeAdapter[Any]] = {}


@dataclass(frozen=True, slots=True)
class CollectionDocument:
    """A collection; `built` is when its last build began, ISO 8601 in UTC."""

    id: str
    title: str
    description: str
    licence: str
    papers: int
    passages: int
    full_texts: int
    first_year: int | None
    last_year: int | None
    built: str


@dataclass(frozen=True, slots=True)
class CollectionsDocument:
    """Every collection of the corpus."""

    collections: tuple[CollectionDocument, ...]


@dataclass(frozen=True, slots=True)
class AspectDocument:
    """One sentence on a paper's challenge, approach or outcome, and the passage that carries it."""

    name: str
    text: str
    passage: int


@dataclass(frozen=True, slots=True)
class PaperDocument:
    """A paper; `link` is its page in the app, below the app's own address."""

    id: str
    collection: str
    title: str
    authors: tuple[str, ...]
    year: int | None
    venue: str
    abstract: str
    url: str
    pdf_url: str
    doi: str
    arxiv_id: str
    language: str
    full_text: bool
    pages: int
    labels: tuple[str, ...]
    topics: tuple[str, ...]
    aspects: tuple[AspectDocument, ...]
    link: str


@dataclass(frozen=True, slots=True)
class PassageDocument:
    """A passage of one section; `rows` are the cells where it is a table, the first `header` name columns."""

    id: str
    paper: str
    number: int
    kind: PassageKind
    section: str
    page: int | None
    text: str
    sentences: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    header: int
    link: str


@dataclass(frozen=True, slots=True)
class ReadPaperDocument:
    """A paper with a page of its passages; `next` is where the following page begins, null at the end."""

    paper: PaperDocument
    first: int
    total: int
    next: int | None
    passages: tuple[PassageDocument, ...]


@dataclass(frozen=True, slots=True)
class HitDocument:
    """A passage that was found; `score` is the fused one, 0..1, the others are as in `corpus.records.Hit`."""

    passage: PassageDocument
    score: float
    dense: float | None
    lexical: float | None
    sentence_score: float | None
    best_sentence: str | None


@dataclass(frozen=True, slots=True)
class FoundPaperDocument:
    """A paper that was found with its best passages; `is_named`: the query names it or its author."""

    paper: PaperDocument
    score: float
    is_named: bool
    hits: tuple[HitDocument, ...]


@dataclass(frozen=True, slots=True)
class SearchDocument:
    """The papers found by a search, best first; `read_as` is the query with corrected spelling."""

    query: str
    read_as: str
    papers: tuple[FoundPaperDocument, ...]


@dataclass(frozen=True, slots=True)
class CitationsDocument:
    """References to papers in one format."""

    format: str
    text: str


@dataclass(frozen=True, slots=True)
class WriterDocument:
    """Who can write answers: the name it is chosen by, and what readers call it."""

    name: str
    label: str


@dataclass(frozen=True, slots=True)
class WritersDocument:
    """Everyone who can write answers, the default first."""

    writers: tuple[WriterDocument, ...]


def collection_document(summary: CollectionSummary) -> CollectionDocument:
    collection = summary.collection
    return CollectionDocument(
        collection.id,
        collection.title,
        collection.description,
        collection.licence,
        summary.papers,
        summary.passages,
        summary.full_texts,
        summary.first_year,
        summary.last_year,
        summary.built,
    )


def paper_document(paper: Paper) -> PaperDocument:
    return PaperDocument(
        id=paper.id,
        collection=paper.collection_id,
        title=paper.title,
        authors=tuple(author.name for author in paper.authors),
        year=paper.year,
        venue=paper.venue,
        abstract=paper.abstract,
        url=paper.url,
        pdf_url=paper.pdf_url,
        doi=paper.doi,
        arxiv_id=paper.arxiv_id,
        language=paper.language,
        full_text=paper.full_text,
        pages=paper.page_count,
        labels=paper.labels,
        topics=tuple(topic.key for topic in paper.topics),
        aspects=tuple(AspectDocument(aspect.name, aspect.text, aspect.passage) for aspect in paper.aspects),
        link=link_to(paper.id),
    )


def passage_document(passage: Passage) -> PassageDocument:
    return PassageDocument(
        id=passage.id,
        paper=passage.paper_id,
        number=passage.number,
        kind=passage.kind,
        section=passage.section_path,
        page=passage.page,
        text=passage.text,
        sentences=tuple(map(passage.sentence_text, range(len(passage.sentences)))),
        rows=passage.table.rows if passage.table else (),
        header=passage.table.header if passage.table else 0,
        link=link_to(passage.paper_id, passage.number),
    )


def found_document(found: PaperHits) -> FoundPaperDocument:
    hits = tuple(map(_hit, found.hits))
    return FoundPaperDocument(paper_document(found.paper), rounded(found.score), found.is_named, hits)


def _hit(hit: Hit) -> HitDocument:
    best = hit.best_sentence
    is_there = best is not None and best < len(hit.passage.sentences)
    return HitDocument(
        passage_document(hit.passage),
        rounded(hit.score),
        maybe_rounded(hit.dense),
        maybe_rounded(hit.lexical),
        maybe_rounded(hit.sentence_score),
        hit.passage.sentence_text(best) if best is not None and is_there else None,
    )


def link_to(paper: str, passage: int | None = None, sentence: int | None = None) -> str:
    """Return the app's link to a paper, to a passage of it, or to a sentence of that."""
    query: dict[str, str | int] = {"id": paper}
    if passage is not None:
        query["passage"] = passage
    if sentence is not None:
        query["sentence"] = sentence
    return f"/paper?{urlencode(query, quote_via=quote, safe='/')}"


def rounded(score: float) -> float:
    return round(score, DIGITS)


def maybe_rounded(score: float | None) -> float | None:
    """Return a score rounded for documents, None for no score."""
    return None if score is None else rounded(score)


def rounded_scores(record: object, names: Iterable[str]) -> dict[str, float | None]:
    """Return the named scores of a record, rounded for documents."""
    return {name: maybe_rounded(getattr(record, name)) for name in names}


def _adapter(kind: type[Any]) -> TypeAdapter[Any]:
    """Return the cached type adapter of a kind of document."""
    if kind not in _ADAPTERS:
        _ADAPTERS[kind] = TypeAdapter(kind)
    return _ADAPTERS[kind]


def to_python(document: Any) -> Any:
    """Return a document as JSON values."""
    return _adapter(type(document)).dump_python(document, mode="json")


def to_json(document: Any) -> str:
    """Return a document as JSON on one line, in ASCII: a model may send half a surrogate pair."""
    return json.dumps(to_python(document), allow_nan=False, separators=(",", ":"))


def schema_of(kind: type) -> dict[str, Any]:
    """Return the JSON Schema of a kind of document."""
    return _adapter(kind).json_schema(mode="serialization")
