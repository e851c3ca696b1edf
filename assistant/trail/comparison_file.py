"""The file format of comparisons, and of their calls."""

from typing import Any

from pydantic import TypeAdapter

from assistant.comparing.records import Comparison, Round, WorkCall
from assistant.file_format import FileFormat, document_of, record_from_json, record_to_json
from assistant.records import AssistantError, Conversation
from assistant.trail.transcript import TRANSCRIPT

FORMAT = "paper-trail/comparison"
COMPARISON_VERSION = 1


def _fault_of(comparison: Comparison) -> str:
    """Return a fault in the references between the parts of a comparison, "" for none."""
    before: set[int] = set()
    for of_round in comparison.rounds:
        if fault := _fault_in_round(of_round, before):
            return f"its round {of_round.number} {fault}"
        before = set(of_round.kept)
    labels = [paper.label for paper in comparison.evidence.papers]
    return "" if labels == list(range(1, len(labels) + 1)) else "its papers are not labelled from 1 on"


def _fault_in_round(of_round: Round, before: set[int]) -> str:
    """Return a fault of a round after one that kept the candidates `before`, "" for none."""
    numbers = [candidate.number for candidate in of_round.candidates]
    parents = {candidate.parent for candidate in of_round.candidates} - {None}
    choices = {vote.choice for vote in of_round.votes} - {None}
    if len(set(numbers)) != len(numbers) or len(set(of_round.kept)) != len(of_round.kept):
        return "names a candidate twice"
    if not choices.union(of_round.kept) <= set(numbers):
        return "names a candidate that it does not have"
    return "" if parents <= before else "continues a summary that the round before did not keep"


COMPARISON = FileFormat(
    name=FORMAT,
    version=COMPARISON_VERSION,
    title="comparison",
    holds="comparison",
    description="A comparison of papers with its key elements, its tree, and everything sent and received.",
    adapter=TypeAdapter(Comparison),
    fault_of=_fault_of,
)
_calls = TypeAdapter(WorkCall)


def comparison_to_json(comparison: Comparison) -> str:
    """Return a comparison as JSON: everything sent and received, under a versioned header."""
    return COMPARISON.to_json(comparison)


def comparison_from_json(text: str) -> Comparison:
    """Read a comparison back, equal to what was written; raises AssistantError for anything else."""
    return COMPARISON.from_json(text)


def trail_from_json(text: str) -> Conversation | Comparison:
    """Read the file of a conversation or of a comparison, whichever it is; raises AssistantError."""
    document = document_of(text, "transcript or comparison")
    for known in (COMPARISON, TRANSCRIPT):
        if known.is_format_of(document):
            record: Conversation | Comparison = known.from_document(document)
            return record
    raise AssistantError("The file is not a Paper Trail transcript, and no comparison either.")


def comparison_schema() -> dict[str, Any]:
    """Return the JSON Schema of files of comparisons; fields that older ones lack are not required."""
    return COMPARISON.schema()


def call_to_json(call: WorkCall) -> str:
    """Return one call as JSON without a header."""
    return record_to_json(_calls, call)


def call_from_json(text: str) -> WorkCall:
    """Read a call back, equal to what was written; raises AssistantError for anything else."""
    return record_from_json(_calls, text, COMPARISON.title)
