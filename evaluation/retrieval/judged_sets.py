"""Judged collections: queries, what is relevant to each, and the documents to search, in BEIR's form."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import Literal, Self

from pydantic import BaseModel, Field

from corpus.records import Collection, Paper, paper_id
from evaluation.input_files import EvaluationError, read_json_lines, read_text
from evaluation.retrieval.measures import Gains
from indexer.sources import SourcePaper

_COLLECTION = Collection(id="retrieval", title="Retrieval", source="BEIR")

Split = Literal["test", "dev", "train"]


class Document(BaseModel):
    id: str = Field(alias="_id")
    title: str = ""
    text: str = ""


@dataclass(frozen=True, slots=True)
class JudgedQueries:
    """Queries by id, and for each what is relevant, with its gain.

    `leaves_out_itself` where queries are papers of the collection, under their ids: then none finds itself,
    as BEIR's own evaluation has it.
    """

    name: str
    queries: Mapping[str, str]
    gains: Mapping[str, Gains]
    leaves_out_itself: bool = field(default=False, kw_only=True)

    @property
    def relevant(self) -> list[str]:
        """The ids of all that is relevant to a query, each once."""
        return list(dict.fromkeys(document for query in self.queries for document in self.gains[query]))

    def first(self, most: int | None) -> Self:
        """Return the first so many queries, all of none; documents stay as they are."""
        return replace(self, queries=dict(islice(self.queries.items(), most)))


@dataclass(frozen=True, slots=True)
class JudgedCollection(JudgedQueries):
    """Judged queries with the documents to search."""

    documents: tuple[Document, ...]

    @property
    def collection(self) -> Collection:
        return _COLLECTION

    def __len__(self) -> int:
        return len(self.documents)

    def papers(self) -> Iterator[SourcePaper]:
        for position, document in enumerate(self.documents):
            yield SourcePaper(document.id, _paper(document, position))


def document_paper_id(document: str) -> str:
    """Return the id that a document gets as a paper."""
    return paper_id(_COLLECTION.id, document)


def _paper(document: Document, position: int) -> Paper:
    return Paper(
        id=document_paper_id(document.id),
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
    documents = tuple(_read_lines(folder / "corpus.jsonl"))
    return JudgedCollection(asked.name, asked.queries, asked.gains, documents)


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


def _read_lines(path: Path) -> list[Document]:
    return read_json_lines(path, Document, "Each line has _id, title and text.")


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
