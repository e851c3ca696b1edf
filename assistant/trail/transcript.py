"""The file format of conversations, and of their turns."""

from typing import Any

from pydantic import TypeAdapter

from assistant.file_format import FileFormat, record_from_json, record_to_json
from assistant.records import Conversation, Turn

FORMAT = "paper-trail/transcript"
TRANSCRIPT_VERSION = 1

TRANSCRIPT = FileFormat(
    name=FORMAT,
    version=TRANSCRIPT_VERSION,
    title="transcript",
    holds="conversation",
    description="A conversation with everything sent and received on the way.",
    adapter=TypeAdapter(Conversation),
)
_turns = TypeAdapter(Turn)


def to_json(conversation: Conversation) -> str:
    """Return a conversation as JSON: everything sent and received, under a versioned header."""
    return TRANSCRIPT.to_json(conversation)


def from_json(text: str) -> Conversation:
    """Read a conversation back, equal to what was written; raises AssistantError for anything else.

    Fields that older versions lack are empty.
    """
    return TRANSCRIPT.from_json(text)


def transcript_schema() -> dict[str, Any]:
    """Return the JSON Schema of transcripts; fields that older ones lack are not required."""
    return TRANSCRIPT.schema()


def turn_to_json(turn: Turn) -> str:
    """Return one turn as JSON without a header, as databases keep it."""
    return record_to_json(_turns, turn)


def turn_from_json(text: str) -> Turn:
    """Read a turn back, equal to what was written; raises AssistantError for anything else."""
    return record_from_json(_turns, text, TRANSCRIPT.title)
