"""A folder of files, one paper each; a PDF and GROBID's TEI of it count as one paper."""

import os
import re
import unicodedata
from collections.abc import Iterator, Sequence
from itertools import chain, count
from pathlib import Path

from corpus.records import Collection, Paper, paper_id
from corpus.text import storable
from corpus.wording import counted
from indexer.errors import SourceError
from indexer.parsers.registry import SUFFIXES, is_pdf
from indexer.sources.containment import file_within, is_link
from indexer.sources.protocol import SourcePaper

PDF_SUFFIXES = (".pdf",)
TEI_SUFFIXES = (".tei.xml", ".tei", ".xml")
FOLDER_SUFFIXES = SUFFIXES

# Temporary files of Word and macOS.
_SHADOWS = ("~$", "._")


class Folder:
    """The files below a folder whose names end in one of `suffixes`, in the order of their names.

    If a TEI file and a PDF of one folder have the same name, the TEI is parsed and the PDF shown.
    Links that lead out of the folder are not followed; `remarks` names them.
    """

    def __init__(self, directory: Path, collection: Collection, suffixes: tuple[str, ...]) -> None:
        """List the files; raises SourceError when there is no such folder or nothing to read in it."""
        if directory.is_file():
            raise SourceError(f"There is no folder {directory}, which is a file: name the one that it is in.")
        if not directory.is_dir():
            raise SourceError(f"There is no folder {directory}.")
        self.collection = collection
        listed = sorted(_files(directory, suffixes))
        outside = [path for path in listed if _leads_out(directory, path)]
        left_out = {*outside, *filter(_is_linked_folder, listed)}
        self.remarks = tuple(
            f"{_readable(path.relative_to(directory))} is a link out of the folder, and is not read"
            for path in outside
        )
        files = [path for path in listed if path not in left_out]
        if not files:
            kinds = f"{', '.join(suffixes[:-1])} or {suffixes[-1]}" if len(suffixes) > 1 else suffixes[0]
            links = f" but {counted(len(outside), 'link')} out of it, which are not read" if outside else ""
            raise SourceError(f"The folder {directory} holds no file that ends in {kinds}{links}.")
        self._directory = directory
        self._files = _with_pdfs(directory, files)

    def __len__(self) -> int:
        return len(self._files)

    def papers(self) -> Iterator[SourcePaper]:
        keys: set[str] = set()
        for position, (file, pdf) in enumerate(self._files):
            name = _readable(file.relative_to(self._directory))
            key = unused_key(_key(name), keys)
            keys.add(key)
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
            yield SourcePaper(name, paper, file, pdf=pdf)


def _files(directory: Path, suffixes: tuple[str, ...]) -> Iterator[Path]:
    """Yield the files below a folder, and the links to other folders, which are not walked into."""
    for root, folders, names in os.walk(directory, onerror=_refuse):
        yield from (path for folder in folders if _is_linked_folder(path := Path(root) / folder))
        for name in names:
            if name.lower().endswith(suffixes) and not name.startswith(_SHADOWS):
                yield Path(root) / name


def _is_linked_folder(path: Path) -> bool:
    return is_link(path) and path.is_dir()


def _leads_out(directory: Path, path: Path) -> bool:
    return is_link(path) and file_within(directory, path.relative_to(directory)) is None


def _with_pdfs(directory: Path, files: Sequence[Path]) -> list[tuple[Path, Path | None]]:
    """Pair each TEI with the PDF of the same name, which is then not parsed itself."""
    pairs = [
        (file, _pdf_beside(directory, file) if file.name.lower().endswith(TEI_SUFFIXES) else None)
        for file in files
    ]
    shown = {pdf for _, pdf in pairs}
    return [(file, pdf) for file, pdf in pairs if file not in shown]


def _pdf_beside(directory: Path, tei: Path) -> Path | None:
    stem = _stem(tei.name)
    candidates = (tei.with_name(stem + suffix) for suffix in (".pdf", ".PDF") if stem)
    return next(
        (pdf for pdf in candidates if pdf.is_file() and is_pdf(pdf) and not _leads_out(directory, pdf)), None
    )


def _stem(name: str) -> str:
    """Return a file name without its suffix; GROBID's client writes a.grobid.tei.xml."""
    suffix = max((suffix for suffix in SUFFIXES if name.lower().endswith(suffix)), key=len)
    stem = name[: -len(suffix)]
    return stem.removesuffix(".grobid") if suffix in TEI_SUFFIXES else stem


def _refuse(error: OSError) -> None:
    """Raise SourceError for a folder that cannot be listed: its papers would count as removed."""
    raise SourceError(f"The folder {error.filename} cannot be read: {error.strerror}.") from error


def _readable(path: Path) -> str:
    """Return a path as storable text; undecodable bytes are replaced."""
    return storable(os.fsencode(path).decode("utf-8", "replace"))


def _key(name: str) -> str:
    """Return a paper's key from its file name: letters, digits and dots, dashes between."""
    # Some file systems store accents apart from their letters.
    stem = unicodedata.normalize("NFC", _stem(name))
    return re.sub(r"[^\w.]+", "-", stem).strip("-.") or "paper"


def unused_key(key: str, taken: set[str]) -> str:
    """Return the key, with a number if it is taken."""
    return next(name for name in chain([key], (f"{key}-{n}" for n in count(2))) if name not in taken)
