"""The rows of the table: ChatCite's method, its ablations, its baselines, and what needs no model."""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from assistant.comparing import (
    Ablation,
    ComparativeGenerator,
    ComparisonError,
    ComparisonOptions,
    ExtractiveComparer,
    ReflectiveGenerator,
    check_applicable,
    open_comparative_generator,
)
from corpus.encoders import Encoder
from corpus.settings import Settings
from evaluation.summaries.experiment.baselines import LeadComparer, few_shot_messages, zero_shot_messages

# Of the incremental method nothing is left where all is written at once.
_AT_ONCE: tuple[Ablation, ...] = ("elements", "increments", "reflection")
_NO_WRITER = "Without a model there is nothing to prompt. Name one by --writer."
# Without reflection is ChatCite's incremental baseline too.
_ABLATIONS: tuple[tuple[Ablation, str], ...] = (
    ("elements", "No key elements"),
    ("increments", "No increments"),
    ("reflection", "No reflection"),
)


@dataclass(frozen=True, slots=True)
class TableRow:
    """A system by the name that its files have and the one readers see.

    `not_applicable` says why there is nothing to be run; a row with it has no generator.
    """

    name: str
    title: str
    generator: ComparativeGenerator | None = None
    options: ComparisonOptions = field(default_factory=ComparisonOptions)
    not_applicable: str = ""


def table_rows(writer: str, samples: int, settings: Settings, encoder: Encoder) -> tuple[TableRow, ...]:
    """Return all rows, the method before its ablations, which take its calls; raises AssistantError."""
    without_a_model = (
        TableRow("lead", "Lead sentences", LeadComparer(encoder)),
        TableRow("extractive", "Extractive", ExtractiveComparer(encoder)),
    )
    options = ComparisonOptions(samples=samples)
    method = open_comparative_generator(writer, settings, encoder)
    if not isinstance(method, ReflectiveGenerator):
        missing = {"zero-shot": "Zero-shot", "few-shot": "Few-shot", "chatcite": "ChatCite"}
        absent = (TableRow(name, title, not_applicable=_NO_WRITER) for name, title in missing.items())
        return (*without_a_model, *absent, *_ablations(method, options))
    at_once = ComparisonOptions(without=_AT_ONCE)
    zero = open_comparative_generator(writer, settings, encoder, messages=zero_shot_messages)
    few = open_comparative_generator(writer, settings, encoder, messages=few_shot_messages)
    return (
        *without_a_model,
        TableRow("zero-shot", "Zero-shot", zero, at_once),
        TableRow("few-shot", "Few-shot", few, at_once),
        TableRow("chatcite", "ChatCite", method, options),
        *_ablations(method, options),
    )


def _ablations(method: ComparativeGenerator, options: ComparisonOptions) -> Iterator[TableRow]:
    reflects = isinstance(method, ReflectiveGenerator)
    for part, title in _ABLATIONS:
        name = f"without-{part}"
        try:
            check_applicable(part, options, reflects=reflects)
        except ComparisonError as error:
            yield TableRow(name, title, not_applicable=str(error))
        else:
            yield TableRow(name, title, method, replace(options, without=(part,)))
