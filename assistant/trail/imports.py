"""Files that somebody brings: checked by a process of their own, and read again from what that one prints.

A file of 20 MB can make half a gigabyte of lists before anything of it is looked at.
"""

from typing import Any, Literal

from pydantic import ValidationError

from assistant.comparing.records import Comparison
from assistant.file_format import FileFormat, document_of, record_to_json, validated
from assistant.records import AssistantError, Conversation
from assistant.trail.comparison_file import COMPARISON
from assistant.trail.papers_named import library_named
from assistant.trail.transcript import TRANSCRIPT

ImportKind = Literal["conversation", "comparison"]
_FORMATS: dict[ImportKind, FileFormat[Any]] = {"conversation": TRANSCRIPT, "comparison": COMPARISON}

# A value takes 20 bytes or more as it is exported, on a line of its own.
MOST_VALUES = 1_000_000


def check_import(kind: ImportKind, data: bytes) -> bytes:
    """Validate an imported file and return it as we write it, without a header; raises AssistantError."""
    _check_values(data)
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise AssistantError("The file is not text. Choose one that was downloaded as JSON.") from error
    held = _FORMATS[kind]
    record = held.from_json(text)
    library_named(record)
    written = record_to_json(held.adapter, record).encode()
    # Values that a file leaves out are written out.
    _check_values(written)
    return written


def read_checked(kind: ImportKind, written: bytes) -> Conversation | Comparison:
    """Return the record that `check_import` has written; raises AssistantError for anything else."""
    held = _FORMATS[kind]
    try:
        record: Conversation | Comparison = held.adapter.validate_json(written)
    except ValidationError:
        # Half a surrogate pair is no JSON for pydantic.
        record = validated(held.adapter, document_of(written.decode(), held.title), held.title)
    return record


def _check_values(data: bytes) -> None:
    """Raise AssistantError for more values than a trail has, by the marks before them."""
    if sum(map(data.count, (b",", b"[", b"{"))) > MOST_VALUES:
        raise AssistantError(
            f"The file holds more than {MOST_VALUES:,} values, the most that is read of a file."
        )
