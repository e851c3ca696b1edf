"""A library taken away: its files as they were brought, and lists of what was read."""

import io
import json
import re
import zipfile
from dataclasses import asdict
from pathlib import Path
from typing import Any

from assistant.exports import papers_as_bibtex
from corpus.kept import LibraryFolder, brought_files
from corpus.records import Paper
from corpus.store import Corpus

# What is compressed by itself.
_STORED = (".pdf", ".docx")
_LONGEST_NAME = 60


def exported(folder: LibraryFolder, title: str, corpus: Corpus) -> bytes:
    """Return a zip of a library: the files, `library.json`, and `papers.bib`."""
    papers = corpus.papers()
    files = brought_files(folder, papers)
    written = io.BytesIO()
    names = {paper.id: _name(number, paper, files.get(paper.id)) for number, paper in enumerate(papers, 1)}
    with zipfile.ZipFile(written, "w", zipfile.ZIP_DEFLATED) as archive:
        described = [_described(paper, corpus, names[paper.id]) for paper in papers]
        document = {"title": title, "documents": described}
        archive.writestr("library.json", json.dumps(document, ensure_ascii=False, indent=2))
        archive.writestr("papers.bib", papers_as_bibtex(papers))
        for identifier, path in files.items():
            how = zipfile.ZIP_STORED if path.suffix in _STORED else zipfile.ZIP_DEFLATED
            archive.write(path, names[identifier], compress_type=how)
    return written.getvalue()


def _described(paper: Paper, corpus: Corpus, name: str) -> dict[str, Any]:
    """Return what was read of a document, and what it refers to."""
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


def _name(number: int, paper: Paper, file: Path | None) -> str:
    """Return what a file is called in the zip, in plain letters and no folder of its own; "" for no file."""
    if file is None:
        return ""
    stem = re.sub(r"\.[A-Za-z]{1,8}$", "", re.split(r"[/\\]", paper.source.rstrip("/\\"))[-1])
    plain = re.sub(r"[^A-Za-z0-9]+", "-", stem)[:_LONGEST_NAME].strip("-") or "document"
    return f"documents/{number:03}-{plain}{file.suffix}"
