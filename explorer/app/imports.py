"""Files that visitors import, read and checked in a sandboxed process."""

from typing import cast

from assistant.comparing.records import Comparison
from assistant.records import AssistantError, Conversation
from assistant.trail.imports import ImportKind, read_checked
from assistant.trail.papers_named import library_named
from explorer.app.resources import Library
from explorer.app.session import Visitor, current_owner, current_owners
from indexer.uploads.document import DocumentError
from indexer.uploads.sandbox import import_sandboxed

LARGEST_IMPORT_MB = 20
_PROGRAM = "assistant.trail.read_import"
_NOT_READABLE = (
    "The file is about a library of documents that only its owner can read, or that has been deleted. It can "
    "be imported only by whoever can read that library."
)


def read_conversation_file(visitor: Visitor, data: bytes) -> Conversation:
    """Return the conversation of a visitor's file; raises AssistantError."""
    return cast(Conversation, _read(visitor, "conversation", data))


def read_comparison_file(visitor: Visitor, data: bytes) -> Comparison:
    """Return the comparison of a visitor's file; raises AssistantError."""
    return cast(Comparison, _read(visitor, "comparison", data))


def library_of_import(library: Library, visitor: Visitor, read: Conversation | Comparison) -> str:
    """Return the id of the kept library that an imported item is about, "" for the collection.

    Raises AssistantError if it is about several, or about one that the visitor may not read.
    """
    named = library_named(read)
    if named and library.libraries().store.reads(named, current_owners(visitor)) is None:
        raise AssistantError(_NOT_READABLE)
    return named


def _read(visitor: Visitor, kind: ImportKind, data: bytes) -> Conversation | Comparison:
    if len(data) > LARGEST_IMPORT_MB * 2**20:
        raise AssistantError(f"The file is larger than {LARGEST_IMPORT_MB} MB, the most that is read.")
    try:
        return read_checked(kind, import_sandboxed(_PROGRAM, kind, data, owner=current_owner(visitor)))
    except (DocumentError, OSError) as error:
        raise AssistantError(str(error)) from error
