"""A folder of files, one paper each."""

import os
import re
from collections.abc import Iterator
from itertools import chain, count
from pathlib import Path

from corpus.records import Collection, Paper, paper_id
from corpus.text import storable
from indexer.sources.protocol import SourceError, SourcePaper

PDF_SUFFIXES = (".pdf",)
TEI_SUFFIXES = (".tei.xml", ".tei", ".xml")


class Folder:
    """The files below a folder whose names end in one of `suffixes`, in the order of their names."""

    def __init__(self, directory: Path, collection: Collection, suffixes: tuple[str, ...]) -> None:
        """List the files; raises SourceError when there is no such folder or nothing to read in it."""
        if not directory.is_dir():
            raise SourceError(f"There is no folder {directory}.")
        self.collection = collection
        self._files = sorted(_files(directory, suffixes))
        if not self._files:
            raise SourceError(f"The folder {directory} holds no file that ends in {' or '.join(suffixes)}.")
        self._directory = directory
        self._suffixes = suffixes

    def __len__(self) -> int:
        return len(self._files)

    def papers(self) -> Iterator[SourcePaper]:
        taken: set[str] = set()
        for position, file in enumerate(self._files):
            name = _readable(file.relative_to(self._directory))
            key = _unused(_key(name, self._suffixes), taken)
            taken.add(key)
            paper = Paper(
                id=paper_id(self.collection.id, key),
                collection_id=self.collection.id,
                title="",
                authors=(),
                year=None,
                venue="",
                abstract="",
                source=name,
                position=position,
            )
            yield SourcePaper(name, paper, file)


def _files(directory: Path, suffixes: tuple[str, ...]) -> Iterator[Path]:
    # os.walk does not follow links to folders, so that a loop of links ends.
    for root, _, names in os.walk(directory, onerror=_refuse):
        yield from (Path(root) / name for name in names if name.lower().endswith(suffixes))


def _refuse(error: OSError) -> None:
    """Stop at a folder that cannot be listed: left out in silence, its papers would count as removed."""
    raise SourceError(f"The folder {error.filename} cannot be read: {error.strerror}.") from error


def _readable(path: Path) -> str:
    """Return a path as text that can be stored and shown, whatever bytes are in it."""
    return storable(os.fsencode(path).decode("utf-8", "replace"))


def _key(name: str, suffixes: tuple[str, ...]) -> str:
    """Return the part of a file name that a paper is called by: its letters, digits, dots and dashes."""
    stem = next(name[: -len(suffix)] for suffix in suffixes if name.lower().endswith(suffix))
    return re.sub(r"[^\w.]+", "-", stem).strip("-.") or "paper"


def _unused(key: str, taken: set[str]) -> str:
    return next(name for name in chain([key], (f"{key}-{n}" for n in count(2))) if name not in taken)
