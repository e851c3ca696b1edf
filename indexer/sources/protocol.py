"""The protocol of sources, which list the papers of a collection."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from corpus.records import Collection, Paper, Reference


@dataclass(frozen=True, slots=True)
class SourcePaper:
    """A paper as its source lists it: `name` for the report, known metadata, and the file to parse, if any.

    The source's metadata take precedence over the parser's; the build sets `paper.fingerprint`. `pdf` is the
    PDF whose pages are shown, if it is not `file`. With a `problem` the paper is reported and left out;
    `notes` are remarks on a paper that is indexed.
    """

    name: str
    paper: Paper
    file: Path | None = None
    references: tuple[Reference, ...] = ()
    pdf: Path | None = None
    problem: str = ""
    notes: tuple[str, ...] = ()


class Source(Protocol):
    """A collection to be indexed."""

    @property
    def collection(self) -> Collection: ...

    def __len__(self) -> int:
        """Return the number of papers that the source lists."""
        ...

    def papers(self) -> Iterator[SourcePaper]:
        """Yield the papers in the collection's own order; raises SourceError."""
        ...
