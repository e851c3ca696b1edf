"""A visitor's document: its name, and the replies of the sandboxed processes that read and draw it.

The replies derive from foreign files and are checked here.
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
"""The suffixes of the files that are accepted."""

_MOST = MostText(passages=2_000, sentences=40_000, passage=50_000, references=1_000)
_BOUNDS = Bounds({**OF_CORPUS.named, "ReadDocument.remarks": REMARK})


class DocumentError(Exception):
    """A visitor's document was refused or could not be read; the message is for the reader."""


def shown_name(name: str) -> str:
    """Return a document's name on one line, without folders and invisible characters.

    Long names, as reference managers make them, are shortened before the suffix.
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
    """Return the suffix of a name if it is a known kind of file, else ""."""
    suffix = PurePosixPath(name).suffix
    return suffix if suffix.lower() in KINDS else ""


def unused_key(wanted: str, taken: Collection[str]) -> str:
    """Return a key made from the paper id `wanted`, with a number if another paper has it."""
    key = re.sub(r"[^a-z0-9.]+", "-", wanted.removeprefix(f"{UPLOADS}/").lower()).strip("-.")[:60]
    key = key or "document"
    if paper_id(UPLOADS, key) not in taken:
        return key
    return next(free for n in count(2) if paper_id(UPLOADS, free := f"{key}-{n}") not in taken)


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
    """A page's displayed size in points, and its picture, a JPEG."""

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
    """Return the document in a reply; raises DocumentError for an invalid reply."""
    with contextlib.suppress(ValidationError):
        document = _REPLY.validate_json(reply).document
        if (
            not _BOUNDS.fault_in(document)
            and is_sound(document.paper, document.passages, document.references, _MOST)
            and document.paper.pdf_sha256.isalnum() == bool(document.file)
            and "/" not in document.file
        ):
            return document
    raise DocumentError("What was read of it makes no sense, so nothing of it was taken in.")


def drawn_page(reply: bytes) -> DrawnPage:
    """Return the picture in a reply; raises DocumentError for an invalid reply."""
    with contextlib.suppress(ValidationError):
        page = _PAGE.validate_json(reply)
        if are_sane((page.width, page.height)) and page.picture.startswith(b"\xff\xd8\xff"):
            return page
    raise DocumentError("What was drawn of it makes no sense, so it is not shown.")


def read_failure(reply: bytes) -> str:
    """Return the reason in a reply why a document could not be read, "" for none."""
    try:
        reason = _FAILURE.validate_json(reply).error
    except ValidationError:
        return ""
    line = " ".join(storable(reason).split())[:400].rstrip(".")
    return f"{line[:1].upper()}{line[1:]}." if line else ""


def as_upload(document: ReadDocument, key: str, position: int) -> ReadDocument:
    """Return a document with ids of the uploads collection, under `key`."""
    paper = replace(document.paper, id=paper_id(UPLOADS, key), collection_id=UPLOADS, position=position)
    passages = tuple(
        replace(
            passage,
            id=passage_id(paper.id, number),
            paper_id=paper.id,
            collection_id=UPLOADS,
            number=number,
        )
        for number, passage in enumerate(document.passages)
    )
    return replace(document, paper=paper, passages=passages)
