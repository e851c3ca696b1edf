"""A folder of PDFs named by the ACL Anthology's ids."""

import re
from pathlib import Path

from corpus.records import Collection
from indexer.sources.folder import PDF_SUFFIXES, Folder

_PAPER_ID = re.compile(r"\d{4}\.[a-z0-9]+-[a-z0-9]+\.[a-z0-9]+|[A-Z]\d{2}-\d{4}", re.ASCII)


class PdfFolder:
    """PDFs named by the Anthology ids of their papers, in any case, also in subfolders.

    Of several PDFs of one paper the first by name is used.
    """

    def __init__(self, directory: Path) -> None:
        """List the files; raises SourceError when there is no such folder or no PDF in it."""
        folder = Folder(directory, Collection("pdfs", "PDFs"), PDF_SUFFIXES)
        listed = list(folder.papers())
        self.directory = directory
        self.remarks = folder.remarks
        self._names = [entry.name for entry in listed]
        self._files: dict[str, tuple[str, Path]] = {}
        for entry in listed:
            if entry.file:
                self._files.setdefault(entry.file.stem.lower(), (entry.name, entry.file))
        self._joined: set[str] = set()

    @property
    def paper_ids(self) -> list[str]:
        """The ids in file names that no paper has joined yet, in the order of the names."""
        free = (stem for stem, (name, _) in self._files.items() if name not in self._joined)
        ids = (stem if stem[:1].isdigit() else stem[:1].upper() + stem[1:] for stem in free)
        return [identifier for identifier in ids if _PAPER_ID.fullmatch(identifier)]

    @property
    def unmatched(self) -> list[str]:
        """The names of files that no paper has joined so far."""
        return [name for name in self._names if name not in self._joined]

    def join(self, identifier: str) -> Path | None:
        """Return the PDF of a paper and mark it as matched."""
        name, file = self._files.get(identifier.lower(), ("", None))
        self._joined.add(name)
        return file
