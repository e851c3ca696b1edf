"""A finished comparison for the terminal: as one JSON document, and in print."""

from dataclasses import asdict
from typing import Any

from assistant import wording
from assistant.checking.scores.registry import CITING_SCORES
from assistant.commands.asking import print_references, sentence_json
from assistant.commands.printing import say, show, warn
from assistant.comparing import wording as said
from assistant.comparing.differences import differences
from assistant.comparing.grid import element_grid
from assistant.comparing.records import (
    DESCRIPTION,
    ELEMENT_NAMES,
    Comparison,
    KeyElement,
    QuestionColumn,
    Round,
)
from assistant.serving.documents import maybe_rounded


def comparison_json(comparison: Comparison, loading: float = 0.0) -> dict[str, Any]:
    """Return a comparison as the terminal's JSON; `loading` is the seconds spent on loading."""
    answer = comparison.answer
    labels = [DESCRIPTION, *(item.label for item in comparison.evidence.papers)]
    found = differences(comparison)
    return {
        "id": comparison.id,
        "about": comparison.about,
        "papers": [
            {"id": item.paper.id, "label": item.label, "title": item.paper.title}
            for item in comparison.evidence.papers
        ],
        "summary": answer.text,
        "sentences": [sentence_json(answer, item) for item in answer.sentences],
        **{name: getattr(answer, name) for name in CITING_SCORES},
        "problems": list(answer.problems),
        "remarks": list(comparison.remarks),
        "elements": {str(label): _elements_json(comparison, label) for label in labels},
        "columns": [_column_json(column) for column in comparison.columns],
        "differences": {
            "common": [asdict(thing) for thing in found.common],
            "alone": {str(label): [asdict(thing) for thing in things] for label, things in found.alone},
            "elements": [asdict(item) for item in found.elements],
        },
        "rounds": [_round_json(item) for item in comparison.rounds],
        "calls": said.calls_made(comparison),
        "usage": asdict(comparison.usage),
        "seconds": {"load": round(loading, 4)}
        | {step.step: round(step.seconds, 4) for step in comparison.seconds},
    }


def _elements_json(comparison: Comparison, label: int) -> dict[str, Any]:
    """Return the seven elements of a text by name; the text is "" if not stated."""
    elements = comparison.elements_of(label)
    return {name: _element_json(elements.element(name)) for name in ELEMENT_NAMES}


def _element_json(element: KeyElement) -> dict[str, Any]:
    return {
        "text": element.text,
        "evidence": [
            {
                "passage": source.passage_id,
                "sentence": source.sentence,
                "text": source.text,
                "support": maybe_rounded(source.support),
            }
            for source in element.evidence
        ],
        "score": maybe_rounded(element.support),
    }


def _column_json(column: QuestionColumn) -> dict[str, Any]:
    cells = [
        {
            "label": cell.label,
            "quotes": [
                {"passage": quote.passage_id, "sentence": quote.sentence, "text": quote.text}
                for quote in cell.quotes
            ],
        }
        for cell in column.cells
    ]
    return {"question": column.question, "cells": cells}


def _round_json(finished: Round) -> dict[str, Any]:
    return {
        "number": finished.number,
        "labels": list(finished.labels),
        "candidates": [
            {
                "number": candidate.number,
                "parent": candidate.parent,
                "text": candidate.text,
                "lost": list(candidate.lost),
                "votes": candidate.votes,
                "citation_precision": maybe_rounded(candidate.citation_precision),
                "citation_recall": maybe_rounded(candidate.citation_recall),
                "problems": list(candidate.problems),
            }
            for candidate in finished.candidates
        ],
        "votes": [asdict(vote) for vote in finished.votes],
        "kept": list(finished.kept),
        "failed": list(finished.failed),
    }


def print_comparison(comparison: Comparison) -> None:
    """Print the summary with its references, then similarities and differences, and the cost."""
    answer = comparison.answer
    show(f"\n{answer.text}\n")
    print_references(answer, comparison.evidence)
    _, others = said.cited_and_not(comparison)
    for labelled in others:
        show(f"[{labelled.label}] {labelled.paper.title} {labelled.paper.id}, not cited")
    compared = differences(comparison)
    if compared.has_any:
        lines = (
            *said.describe_common(compared),
            *said.describe_distinct(compared),
            *said.describe_stated(compared),
        )
        show("\nIn common and apart", "bold")
        for line in lines:
            show(f"- {line}")
        show(said.DIFFERENCES_NOTE, "dim")
    _print_columns(comparison)
    _print_checks(comparison)


def _print_columns(comparison: Comparison) -> None:
    """Print the reader's own questions with each paper's answer and its place."""
    grid = element_grid(comparison)
    for name, question in list(grid.titles.items())[len(ELEMENT_NAMES) :]:
        show(f"\n{question}", "bold")
        for row in grid.papers:
            cell = row.cell(name)
            show(f"- [{row.label}] {cell.shown}")
            for quote in cell.quotes:
                show(f"  {said.describe_place(comparison, quote)} {quote.passage_id}", "dim")


def _print_checks(comparison: Comparison) -> None:
    for problem in comparison.answer.problems:
        warn(wording.PROBLEMS[problem])
    for sentence in comparison.answer.sentences:
        if sentence.not_said:
            warn(wording.describe_unsaid(sentence.not_said))
    for remark in comparison.remarks:
        warn(remark)
    grid = element_grid(comparison)
    if not grid.is_empty:
        say(" ".join(filter(None, (said.describe_grid(grid), said.describe_answers(grid)))))
    seconds = f"{sum(step.seconds for step in comparison.seconds):.1f} s"
    usage = comparison.usage
    spent = wording.spent(usage.prompt_tokens, usage.completion_tokens, usage.price)
    calls = said.describe_calls(comparison)
    facts = [comparison.provenance.generator, seconds, *calls, *spent, wording.checked(comparison.answer)]
    say(", ".join(fact for fact in facts if fact))
