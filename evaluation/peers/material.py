"""What all systems are given: the documents and the judged queries of a folder, the same for each."""

import json
import random
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path

from evaluation.input_files import EvaluationError
from evaluation.retrieval import (
    Document,
    JudgedCollection,
    missing_documents,
    read_judged,
    read_queries,
)

SEED = 13


@dataclass(frozen=True, slots=True)
class Wanted:
    """The documents to search: those of the folder, or the Anthology's papers; `most` takes a sample."""

    anthology: Path | None = None
    most: int | None = None


@dataclass(frozen=True, slots=True)
class Material:
    """Judged documents with how many there were to choose from, and how many relevant ones there are not."""

    judged: JudgedCollection
    of_documents: int
    missing: int

    @property
    def key(self) -> str:
        """The hash of all that is searched, asked and judged."""
        gains = {query: dict(self.judged.gains[query]) for query in self.judged.queries}
        return sha256("".join((*self.documents(), *self.queries(), json.dumps(gains))).encode()).hexdigest()

    def documents(self) -> Iterator[str]:
        for one in self.judged.documents:
            yield _line(_id=one.id, title=one.title, text=one.text)

    def queries(self) -> Iterator[str]:
        for query, text in self.judged.queries.items():
            yield _line(_id=query, text=text)

    def write(self, folder: Path) -> None:
        """Write documents and queries as BEIR has them; judgements are for nobody but us."""
        (folder / "corpus.jsonl").write_text("".join(self.documents()), encoding="utf-8")
        (folder / "queries.jsonl").write_text("".join(self.queries()), encoding="utf-8")


def _line(**record: str) -> str:
    return json.dumps(record) + "\n"


def read_material(folder: Path, wanted: Wanted) -> Material:
    """Read a folder; raises EvaluationError for one that cannot be measured on."""
    judged = _judged(folder, wanted.anthology)
    missing = missing_documents(judged, (document.id for document in judged.documents))
    _check_ids(judged)
    sample = judged if wanted.most is None else replace(judged, documents=_sample(judged, wanted.most))
    return Material(sample, len(judged), missing)


def _judged(folder: Path, anthology: Path | None) -> JudgedCollection:
    if (folder / "corpus.jsonl").exists():
        return read_judged(folder)
    if anthology is None:
        raise EvaluationError(
            f"{folder} has no corpus.jsonl. Give --anthology if its documents are the Anthology's papers."
        )
    asked = read_queries(folder)
    return JudgedCollection(asked.name, asked.queries, asked.gains, tuple(_anthology_papers(anthology)))


def _anthology_papers(data: Path) -> Iterator[Document]:
    """Yield the papers that have an abstract; raises EvaluationError where volumes cannot be read."""
    from indexer.sources.acl_anthology import all_volumes  # noqa: PLC0415 - it takes a second to import

    volumes = all_volumes(data, data)
    for volume in volumes:
        for paper in (source.paper for source in volume.papers()):
            if paper.abstract:
                yield Document.model_validate({"_id": paper.id, "title": paper.title, "text": paper.abstract})
    if volumes.problems:
        raise EvaluationError(volumes.problems[0])


def _check_ids(judged: JudgedCollection) -> None:
    """Raise EvaluationError for ids that a run file cannot have, or has twice."""
    known: set[str] = set()
    for identifier in (*(document.id for document in judged.documents), *judged.queries):
        if not identifier or set(identifier) & set("\t\r\n"):
            raise EvaluationError(f"{judged.name} has the id {identifier!r}, which no run file can have.")
    for document in judged.documents:
        if document.id in known:
            raise EvaluationError(f"{judged.name} has two documents with the id {document.id!r}.")
        known.add(document.id)


def _sample(judged: JudgedCollection, most: int) -> tuple[Document, ...]:
    """Return all relevant documents and others by chance, in their own order."""
    relevant = set(judged.relevant)
    others = [document.id for document in judged.documents if document.id not in relevant]
    there = len(judged) - len(others)
    if most < there:
        raise EvaluationError(
            f"{judged.name} has {there} relevant documents: --most-documents must be at least as many."
        )
    taken = relevant | set(_by_chance(others, most - there))
    return tuple(document for document in judged.documents if document.id in taken)


def _by_chance(documents: Iterable[str], count: int) -> list[str]:
    listed = sorted(documents)
    return random.Random(SEED).sample(listed, min(count, len(listed)))
