"""A visitor's document: what it is called, and what reading and drawing it gave.

That was written down by a sandboxed process, and is foreign text until it is checked here.
"""

import contextlib
import re
from collections.abc import Collection
from dataclasses import dataclass, replace
from itertools import count
from pathlib import PurePosixPath

from pydantic import Base64Bytes, TypeAdapter, ValidationError

from corpus.bounds.bound import Bounds
from corpus.bounds.of_corpus import OF_CORPUS, REMARK
from corpus.records import UPLOADS, Paper, Passage, Reference, paper_id, passage_id
from corpus.text import one_line, shortened, storable
from indexer.prepare.soundness import MostText, are_sane, is_sound

LONGEST_NAME = 100

KINDS = (".pdf", ".docx", ".md", ".markdown", ".txt")
"""How the names of files end that are taken."""

_MOST = MostText(passages=2_000, sentences=40_000, passage=50_000, references=1_000)
_BOUNDS = Bounds({**OF_CORPUS.named, "ReadDocument.remarks": REMARK})


class DocumentError(Exception):
    """A document of a visitor's could not be taken in; the message says why, in a reader's words."""


def shown_name(name: str) -> str:
    """Return a document's name on one line, without folders and invisible characters.

    Reference managers name files by author, year and title: of a long name the suffix stays.
    """
    base = one_line(re.split(r"[/\\]", name.rstrip("/\\"))[-1])
    suffix = _suffix(base) if len(base) > LONGEST_NAME else ""
    return shortened(base.removesuffix(suffix), LONGEST_NAME - len(suffix)) + suffix or "Document"


def stored_name(name: str) -> str:
    """Return a document's file name in its folder: plain letters, with a known suffix."""
    shown = shown_name(name)
    stem = re.sub(r"[^A-Za-z0-9]+", "-", PurePosixPath(shown).stem).strip("-")[:60]
    return f"{stem or 'document'}{_suffix(shown).lower()}"


def _suffix(name: str) -> str:
    """Return the end of a name that tells a known kind of file, "" for another."""
    suffix = PurePosixPath(name).suffix
    return suffix if suffix.lower() in KINDS else ""


def unused_key(wanted: str, taken: Collection[str]) -> str:
    """Return a paper's key in its collection: from its id, with a number where that is taken."""
    key = re.sub(r"[^a-z0-9.]+", "-", wanted.removeprefix(f"{UPLOADS}/").lower()).strip("-.")[:60]
    key = key or "document"
    if paper_id(UPLOADS, key) not in taken:
        return key
    return next(other for n in count(2) if paper_id(UPLOADS, other := f"{key}-{n}") not in taken)


@dataclass(frozen=True, slots=True)
class ReadDocument:
    """A document as a paper with its passages; `file` names the PDF to show, "" for none."""

    paper: Paper
    passages: tuple[Passage, ...]
    references: tuple[Reference, ...] = ()
    remarks: tuple[str, ...] = ()
    file: str = ""


@dataclass(frozen=True, slots=True)
class DrawnPage:
    """A page's size in points as it is shown, and its picture, a JPEG."""

    width: float
    height: float
    picture: Base64Bytes


@dataclass(frozen=True, slots=True)
class _Reply:
    document: ReadDocument


@dataclass(frozen=True, slots=True)
class _Failure:
    error: str


_REPLY, _FAILURE, _PAGE = TypeAdapter(_Reply), TypeAdapter(_Failure), TypeAdapter(DrawnPage)


def read_reply(reply: bytes) -> ReadDocument:
    """Return the document that a reply describes; raises DocumentError for one that cannot be."""
    try:
        found = _REPLY.validate_json(reply).document
    except ValidationError as error:
        raise DocumentError("What was read of it makes no sense, so nothing of it was taken in.") from error
    if not _is_sound(found):
        raise DocumentError("What was read of it makes no sense, so nothing of it was taken in.")
    return found


def drawn_page(reply: bytes) -> DrawnPage:
    """Return the picture that a reply holds; raises DocumentError for one that cannot be."""
    with contextlib.suppress(ValidationError):
        page = _PAGE.validate_json(reply)
        if are_sane((page.width, page.height)) and page.picture.startswith(b"\xff\xd8\xff"):
            return page
    raise DocumentError("What was drawn of it makes no sense, so it is not shown.")


def read_failure(reply: bytes) -> str:
    """Return why a document could not be read as its reader says it, "" where it does not say."""
    try:
        said = _FAILURE.validate_json(reply).error
    except ValidationError:
        return ""
    line = " ".join(storable(said).split())[:400].rstrip(".")
    return f"{line[:1].upper()}{line[1:]}." if line else ""


def as_upload(found: ReadDocument, key: str, position: int) -> ReadDocument:
    """Return a document with the ids of this visit's collection, in which it is called `key`."""
    paper = replace(found.paper, id=paper_id(UPLOADS, key), collection_id=UPLOADS, position=position)
    passages = tuple(
        replace(
            passage,
            id=passage_id(paper.id, number),
            paper_id=paper.id,
            collection_id=UPLOADS,
            number=number,
        )
        for number, passage in enumerate(found.passages)
    )
    return replace(found, paper=paper, passages=passages)


def _is_sound(found: ReadDocument) -> bool:
    return (
        not _BOUNDS.fault_in(found)
        and is_sound(found.paper, found.passages, found.references, _MOST)
        and found.paper.pdf_sha256.isalnum() == bool(found.file)
        and "/" not in found.file
    )
