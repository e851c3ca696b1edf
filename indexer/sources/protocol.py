"""The seam for kinds of collections."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from corpus.records import Collection, Paper, Reference


@dataclass(frozen=True, slots=True)
class SourcePaper:
    """A paper as its source lists it: `name` for the report, what is known, and the file to parse, if any.

    Metadata given here wins over what a parser finds; `paper.fingerprint` is left to the build. `pdf` is
    the PDF whose pages are shown, where it is not `file` itself. A `problem` is reported and the paper left
    out; `notes` are remarks about one that comes in.
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
