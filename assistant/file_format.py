"""Records as files that read back equal: JSON under a versioned header, with a published schema."""

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Generic, TypeVar

from pydantic import TypeAdapter, ValidationError

from assistant.bounds import OF_TRAILS
from assistant.records import AssistantError
from corpus import VERSION

Record = TypeVar("Record")

_ID = re.compile(r"[A-Za-z0-9_-]{1,64}")
_HALF_PAIR = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class FileFormat(Generic[Record]):
    """A kind of file: the name and version in its header, what readers call it, and the record it holds.

    The record has an `id`, and stands in the document under the name `holds`. `fault_of` returns a fault in
    the references between its parts, "" if they are consistent.
    """

    name: str
    version: int
    title: str
    holds: str
    description: str
    adapter: TypeAdapter[Record]
    fault_of: Callable[[Record], str] = lambda _: ""

    def to_json(self, record: Record) -> str:
        """Return a record as the JSON of a whole file."""
        document = {
            "format": self.name,
            "version": self.version,
            "written_by": f"Paper Trail {VERSION}",
            "exported": datetime.now(UTC).isoformat(timespec="seconds"),
            self.holds: self.adapter.dump_python(record, mode="json"),
        }
        return _text(document, indent=2)

    def from_json(self, text: str) -> Record:
        """Read a record back, equal to what was written; raises AssistantError for anything else."""
        return self.from_document(document_of(text, self.title))

    def from_document(self, document: Any) -> Record:
        """Return the record of a file that `document_of` has read; raises AssistantError."""
        if not self.is_format_of(document):
            raise AssistantError(f"The file is not a Paper Trail {self.title}.")
        if document.get("version") != self.version:
            raise AssistantError(
                f"The {self.title} has format version {document.get('version')}; this version of Paper Trail "
                f"reads version {self.version}."
            )
        if self.holds not in document:
            raise AssistantError(f"The {self.title} is damaged: it holds no {self.holds}.")
        record = validated(self.adapter, document[self.holds], self.title)
        if fault := OF_TRAILS.fault_in(record):
            raise AssistantError(f"The {self.title} is damaged: {fault}.")
        if not _ID.fullmatch(getattr(record, "id", "")):
            # Ids are used in file names and URLs.
            raise AssistantError(f"The {self.title} is damaged: its id is none that Paper Trail gives.")
        if fault := self.fault_of(record):
            raise AssistantError(f"The {self.title} is damaged: {fault}.")
        return record

    def is_format_of(self, document: Any) -> bool:
        return isinstance(document, dict) and document.get("format") == self.name

    def schema(self) -> dict[str, Any]:
        """Return the JSON Schema of such files; fields that older files lack are not required."""
        record = _closed(self.adapter.json_schema())
        name = self.holds.capitalize()
        return {
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "title": f"Paper Trail {self.title}",
            "description": self.description,
            "type": "object",
            "properties": {
                "format": {"const": self.name},
                "version": {"const": self.version},
                "written_by": {"type": "string"},
                "exported": {"type": "string", "format": "date-time"},
                self.holds: {"$ref": f"#/$defs/{name}"},
            },
            "required": ["format", "version", self.holds],
            "$defs": {**record.pop("$defs"), name: record},
        }


def document_of(text: str, title: str) -> Any:
    """Parse JSON; raises AssistantError."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise AssistantError(f"The file is not JSON. Choose a {title} that Paper Trail exported.") from error


def record_to_json(adapter: TypeAdapter[Record], record: Record) -> str:
    """Return a record as JSON without a header, as databases keep it."""
    return _text(adapter.dump_python(record, mode="json"))


def record_from_json(adapter: TypeAdapter[Record], text: str, title: str) -> Record:
    """Read a record back, equal to what was written; raises AssistantError for anything else."""
    return validated(adapter, document_of(text, title), title)


def validated(adapter: TypeAdapter[Record], document: Any, title: str) -> Record:
    """Return the record of a document that holds nothing else; raises AssistantError."""
    try:
        record = adapter.validate_python(document)
    except ValidationError as error:
        fault = error.errors()[0]
        where = ".".join(map(str, fault["loc"]))
        raise AssistantError(f"The {title} is damaged: {where}: {fault['msg']}.") from error
    if not _holds(adapter.dump_python(record, mode="json"), document):
        raise AssistantError(f"The {title} is damaged: it holds values that were not written by Paper Trail.")
    return record


def _text(document: Any, indent: int | None = None) -> str:
    text = json.dumps(document, ensure_ascii=False, indent=indent)
    # A model may send half a surrogate pair, which no file takes as it is.
    return _HALF_PAIR.sub(lambda half: f"\\u{ord(half[0]):04x}", text)


def _closed(schema: Any) -> Any:
    """Return a schema in which records allow no additional fields."""
    if isinstance(schema, list):
        return [_closed(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    closed = {name: _closed(part) for name, part in schema.items()}
    return {**closed, "additionalProperties": False} if "properties" in schema else closed


def _holds(whole: Any, part: Any) -> bool:
    """Return True if `whole` is `part`, but for fields that `part` does not have."""
    if isinstance(whole, dict) and isinstance(part, dict):
        return all(key in whole and _holds(whole[key], value) for key, value in part.items())
    if isinstance(whole, list) and isinstance(part, list):
        return len(whole) == len(part) and all(map(_holds, whole, part))
    return type(whole) is type(part) and bool(whole == part)
