"""The file format of comparisons, and of their calls."""

from typing import Any

from pydantic import TypeAdapter

from assistant.comparing.records import Comparison, Round, WorkCall
from assistant.file_format import FileFormat, document_of, record_from_json, record_to_json
from assistant.records import AssistantError, Conversation
from assistant.trail.transcript import TRANSCRIPT

FORMAT = "paper-trail/comparison"
COMPARISON_VERSION = 1

COMPARISON = FileFormat(
    name=FORMAT,
    version=COMPARISON_VERSION,
    title="comparison",
    holds="comparison",
    description="A comparison of papers with its key elements, its tree, and everything sent and received.",
    adapter=TypeAdapter(Comparison),
)
_calls = TypeAdapter(WorkCall)


def comparison_to_json(comparison: Comparison) -> str:
    """Return a comparison as JSON: everything sent and received, under a versioned header."""
    return COMPARISON.to_json(comparison)


def comparison_from_json(text: str) -> Comparison:
    """Read a comparison back, equal to what was written; raises AssistantError for anything else."""
    return _whole(COMPARISON.from_json(text))


def trail_from_json(text: str) -> Conversation | Comparison:
    """Read the file of a conversation or of a comparison, whichever it is; raises AssistantError."""
    document = document_of(text, "transcript or comparison")
    if COMPARISON.is_format_of(document):
        return _whole(COMPARISON.from_document(document))
    if not TRANSCRIPT.is_format_of(document):
        raise AssistantError("The file is not a Paper Trail transcript, and no comparison either.")
    return TRANSCRIPT.from_document(document)


def comparison_schema() -> dict[str, Any]:
    """Return the JSON Schema of files of comparisons; fields that older ones lack are not required."""
    return COMPARISON.schema()


def call_to_json(call: WorkCall) -> str:
    """Return one call as JSON without a header."""
    return record_to_json(_calls, call)


def call_from_json(text: str) -> WorkCall:
    """Read a call back, equal to what was written; raises AssistantError for anything else."""
    return record_from_json(_calls, text, COMPARISON.title)


def _whole(comparison: Comparison) -> Comparison:
    """Return a comparison with consistent references between its parts; raises AssistantError."""
    before: set[int] = set()
    for of_round in comparison.rounds:
        numbers = [candidate.number for candidate in of_round.candidates]
        parents = {candidate.parent for candidate in of_round.candidates} - {None}
        choices = {vote.choice for vote in of_round.votes} - {None}
        if len(set(numbers)) != len(numbers) or len(set(of_round.kept)) != len(of_round.kept):
            raise _damaged(of_round, "names a candidate twice")
        if not choices.union(of_round.kept) <= set(numbers):
            raise _damaged(of_round, "names a candidate that it does not have")
        if not parents <= before:
            raise _damaged(of_round, "continues a summary that the round before did not keep")
        before = set(of_round.kept)
    labels = [paper.label for paper in comparison.evidence.papers]
    if labels != list(range(1, len(labels) + 1)):
        raise AssistantError("The comparison is damaged: its papers are not labelled from 1 on.")
    return comparison


def _damaged(of_round: Round, fault: str) -> AssistantError:
    return AssistantError(f"The comparison is damaged: its round {of_round.number} {fault}.")
