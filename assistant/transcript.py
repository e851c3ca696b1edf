"""A conversation as a file that reads back equal: JSON under a versioned header, with a published schema."""

import json
import re
from datetime import UTC, datetime
from typing import Any, TypeVar

from pydantic import TypeAdapter, ValidationError

from assistant.records import AssistantError, Conversation, Turn
from corpus.version import VERSION

FORMAT = "paper-trail/transcript"
FORMAT_VERSION = 1

Record = TypeVar("Record")

_ID = re.compile(r"[A-Za-z0-9_-]{1,64}")
_HALF_PAIR = re.compile("[\ud800-\udfff]")

_conversations = TypeAdapter(Conversation)
_turns = TypeAdapter(Turn)


def to_json(conversation: Conversation) -> str:
    """Return a conversation as JSON: everything sent and received, under a versioned header."""
    document = {
        "format": FORMAT,
        "version": FORMAT_VERSION,
        "written_by": f"Paper Trail {VERSION}",
        "exported": datetime.now(UTC).isoformat(timespec="seconds"),
        "conversation": _conversations.dump_python(conversation, mode="json"),
    }
    return _written(document, indent=2)


def from_json(text: str) -> Conversation:
    """Read a conversation back, equal to what was written; raises AssistantError for anything else.

    What an older version of Paper Trail did not know of papers and passages is empty.
    """
    document = _document(text)
    _check_header(document)
    if "conversation" not in document:
        raise AssistantError("The transcript is damaged: it holds no conversation.")
    conversation = _validated(_conversations, document["conversation"])
    if not _ID.fullmatch(conversation.id):
        # Ids name files and stand in addresses. None of ours is like this one, so the file was changed.
        raise AssistantError("The transcript is damaged: its id is none that Paper Trail gives.")
    return conversation


def transcript_schema() -> dict[str, Any]:
    """Return the JSON Schema of transcripts; what older ones lack is not required."""
    conversation = _closed(_conversations.json_schema())
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Paper Trail transcript",
        "description": "A conversation with everything sent and received on the way.",
        "type": "object",
        "properties": {
            "format": {"const": FORMAT},
            "version": {"const": FORMAT_VERSION},
            "written_by": {"type": "string"},
            "exported": {"type": "string", "format": "date-time"},
            "conversation": {"$ref": "#/$defs/Conversation"},
        },
        "required": ["format", "version", "conversation"],
        "$defs": {**conversation.pop("$defs"), "Conversation": conversation},
    }


def _closed(schema: Any) -> Any:
    """Return a schema whose records have no fields but those named."""
    if isinstance(schema, list):
        return [_closed(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    closed = {name: _closed(part) for name, part in schema.items()}
    return {**closed, "additionalProperties": False} if "properties" in schema else closed


def turn_to_json(turn: Turn) -> str:
    """Return one turn as JSON without a header, for what keeps turns one by one."""
    return _written(_turns.dump_python(turn, mode="json"))


def turn_from_json(text: str) -> Turn:
    """Read a turn back, equal to what was written; raises AssistantError for anything else."""
    return _validated(_turns, _document(text))


def _written(document: Any, indent: int | None = None) -> str:
    text = json.dumps(document, ensure_ascii=False, indent=indent)
    # A model may send half a surrogate pair, which no file takes as it is.
    return _HALF_PAIR.sub(lambda half: f"\\u{ord(half[0]):04x}", text)


def _document(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise AssistantError(
            "The file is not JSON. Choose a transcript that Paper Trail exported."
        ) from error


def _validated(adapter: TypeAdapter[Record], document: Any) -> Record:
    """Return the record that a document holds, and nothing else does."""
    try:
        record = adapter.validate_python(document)
    except ValidationError as error:
        raise AssistantError(f"The transcript is damaged: {_first_fault(error)}.") from error
    if not _holds(adapter.dump_python(record, mode="json"), document):
        raise AssistantError(
            "The transcript is damaged: it holds values that were not written by Paper Trail."
        )
    return record


def _check_header(document: Any) -> None:
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise AssistantError("The file is not a Paper Trail transcript.")
    if document.get("version") != FORMAT_VERSION:
        raise AssistantError(
            f"The transcript has format version {document.get('version')}; this version of Paper Trail reads "
            f"version {FORMAT_VERSION}."
        )


def _holds(whole: Any, part: Any) -> bool:
    """Tell whether `whole` is `part`, but for fields that `part` does not have."""
    if isinstance(whole, dict) and isinstance(part, dict):
        return all(key in whole and _holds(whole[key], value) for key, value in part.items())
    if isinstance(whole, list) and isinstance(part, list):
        return len(whole) == len(part) and all(map(_holds, whole, part))
    return type(whole) is type(part) and bool(whole == part)


def _first_fault(error: ValidationError) -> str:
    first = error.errors()[0]
    return f"{'.'.join(str(part) for part in first['loc'])}: {first['msg']}"
