"""What ChatCite's method is compared with: one prompt with all references, and first sentences."""

from collections.abc import Mapping
from pathlib import Path

from assistant.comparing import (
    ComparisonStep,
    ExtractiveComparer,
    SourceText,
    Task,
    render_description,
    summary_words,
)
from assistant.prompts import SummaryForm, as_data, as_line, form, load_prompt, mark
from assistant.records import Draft, ElementName, Message
from corpus.sentences import sentence_spans

PROMPTS = Path(__file__).parents[1] / "prompts"


class LeadComparer(ExtractiveComparer):
    """The floor: the first sentence of each abstract, in the order of the papers."""

    name = "lead"
    label = "Lead"
    note = ""

    def extract_key_elements(self, source: SourceText, task: Task) -> Mapping[ElementName, str]:  # noqa: ARG002
        return {}

    def compose(self, step: ComparisonStep) -> Draft:
        return Draft(" ".join(_first_sentence(step.sources[label]) for label in step.labels))


def zero_shot_messages(step: ComparisonStep, summary: str, returned: SummaryForm) -> tuple[Message, ...]:  # noqa: ARG001
    """Return what asks for the whole summary at once."""
    return _at_once(step, returned, "")


def few_shot_messages(step: ComparisonStep, summary: str, returned: SummaryForm) -> tuple[Message, ...]:  # noqa: ARG001
    """Return what asks for the whole summary at once, with two worked examples."""
    return _at_once(step, returned, (PROMPTS / "examples.md").read_text(encoding="utf-8"))


def _at_once(step: ComparisonStep, returned: SummaryForm, examples: str) -> tuple[Message, ...]:
    listed = "\n\n".join(_reference(step.sources[label]) for label in step.labels)
    return load_prompt("one_prompt", PROMPTS).render(
        words=str(summary_words(len(step.labels))),
        examples=examples,
        description=render_description(step),
        references=f"{mark('references')}\n{listed}\n{mark('end of references')}",
        form=form(returned),
    )


def _reference(source: SourceText) -> str:
    paper = source.paper.paper
    head = f"[{source.label}] {as_line(paper.title)} ({paper.year or 'year unknown'})"
    return f"{head}\n{as_line(paper.abstract)}"


def _first_sentence(source: SourceText) -> str:
    abstract = as_data(source.paper.paper.abstract)
    start, end = sentence_spans(abstract)[0]
    return f"{abstract[start:end].strip().rstrip('.!?')} [{source.label}]."
