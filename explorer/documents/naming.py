"""Names of documents: as they are shown, as files are called, and as they stand in ids."""

import re
from collections.abc import Collection
from itertools import count
from pathlib import PurePosixPath

from corpus.records import paper_id
from explorer.parts.own import OWN_COLLECTION
from explorer.parts.safe_text import shortened

LONGEST_NAME = 100

KINDS = (".pdf", ".docx", ".md", ".markdown", ".txt")
"""How the names of files end that are taken."""


def shown_name(name: str) -> str:
    """Return what a document is called on one line: no folders, no signs that are not seen."""
    base = re.split(r"[/\\]", name.rstrip("/\\"))[-1]
    return shortened(base, LONGEST_NAME) or "Document"


def stored_name(name: str) -> str:
    """Return what the file of a document is called in its folder: plain letters, with an end that we know."""
    path = PurePosixPath(shown_name(name))
    suffix = path.suffix.lower() if path.suffix.lower() in KINDS else ""
    stem = re.sub(r"[^A-Za-z0-9]+", "-", path.stem).strip("-")[:60]
    return f"{stem or 'document'}{suffix}"


def unused_key(wanted: str, taken: Collection[str]) -> str:
    """Return what a paper is called in its collection: as its id wants, with a number where that is taken."""
    key = re.sub(r"[^a-z0-9.]+", "-", wanted.removeprefix(f"{OWN_COLLECTION}/").lower()).strip("-.")[:60]
    key = key or "document"
    if paper_id(OWN_COLLECTION, key) not in taken:
        return key
    return next(other for n in count(2) if paper_id(OWN_COLLECTION, other := f"{key}-{n}") not in taken)
