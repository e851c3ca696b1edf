"""The export of a library as a zip: its original files, and lists of its documents."""

import json
import re
import shutil
import zipfile
from dataclasses import asdict
from pathlib import Path
from typing import IO, Any

from assistant.exports.references import papers_as_bibtex
from corpus.kept.documents import brought_files
from corpus.kept.folder import LibraryFolder
from corpus.records import Paper
from corpus.store.corpus import Corpus

# Formats that are already compressed.
_STORED = (".pdf", ".docx")
_LONGEST_NAME = 60
_CHUNK_BYTES = 2**20
# The rights of a file in a zip, as Unix writes them.
_RIGHTS = 0o100644 << 16


def write_export(folder: LibraryFolder, title: str, corpus: Corpus, target: IO[bytes]) -> None:
    """Write a zip of a library: the files, `library.json`, and `papers.bib`.

    The same library gives the same bytes. Files are streamed. Raises OSError.
    """
    papers = corpus.papers()
    files = brought_files(folder, papers)
    names = {
        paper.id: file_name(number, paper, files.get(paper.id)) for number, paper in enumerate(papers, 1)
    }
    with zipfile.ZipFile(target, "w") as archive:
        described = [_described(paper, corpus, names[paper.id]) for paper in papers]
        document = {"title": title, "documents": described}
        text = json.dumps(document, ensure_ascii=False, indent=2)
        archive.writestr(_entry("library.json"), text)
        archive.writestr(_entry("papers.bib"), papers_as_bibtex(papers))
        for identifier, path in files.items():
            entry = _entry(names[identifier])
            with path.open("rb") as source:
                entry.file_size = path.stat().st_size
                with archive.open(entry, "w") as copy:
                    shutil.copyfileobj(source, copy, _CHUNK_BYTES)


def _entry(name: str) -> zipfile.ZipInfo:
    """Return a zip entry with fixed date and permissions."""
    entry = zipfile.ZipInfo(name)
    entry.create_system, entry.external_attr = 3, _RIGHTS
    entry.compress_type = zipfile.ZIP_STORED if name.endswith(_STORED) else zipfile.ZIP_DEFLATED
    return entry


def _described(paper: Paper, corpus: Corpus, name: str) -> dict[str, Any]:
    """Return a document's metadata and references."""
    return {
        "file": name,
        "brought_as": paper.source,
        "web_address": paper.url,
        "title": paper.title,
        "authors": [author.name for author in paper.authors],
        "year": paper.year,
        "venue": paper.venue,
        "doi": paper.doi,
        "arxiv_id": paper.arxiv_id,
        "abstract": paper.abstract,
        "pages": paper.page_count,
        "passages": len(corpus.passages(paper.id)),
        "language": paper.language,
        "references": [asdict(reference) for reference in corpus.references(paper.id)],
    }


def file_name(number: int, paper: Paper, file: Path | None) -> str:
    """Return a document's file name in the zip, in plain letters without a folder; "" for no file."""
    if file is None:
        return ""
    stem = re.sub(r"\.[A-Za-z]{1,8}$", "", re.split(r"[/\\]", paper.source.rstrip("/\\"))[-1])
    plain = re.sub(r"[^A-Za-z0-9]+", "-", stem)[:_LONGEST_NAME].strip("-") or "document"
    return f"documents/{number:03}-{plain}{file.suffix}"
