"""TruthReader, Table 4: what an encoder finds of a conversation, with four kinds of history before it."""

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

from corpus.encoder_choice import open_encoder
from corpus.wording import counted
from evaluation.answers.query_contexts import CONTEXTS, HISTORIES, HistoryKind, QueryContext
from evaluation.histories import DEPTHS, measure_histories
from evaluation.retrieval import HowSearched
from evaluation.tables.records import Asked, Column, Planned, Row, RowPlan, Say, SeedTable
from evaluation.tables.sources import Found, find
from evaluation.tables.systems.answering import once

QUERIES: Mapping[QueryContext, str] = {
    "none": "the question alone",
    "concatenated": "its history behind it",
    "ours": "as we rewrite it",
}
HISTORIES_NAMED: Mapping[HistoryKind, str] = {
    "none": "no history",
    "relevant": "relevant history",
    "irrelevant": "irrelevant history",
    "both": "both histories",
}


def _plan(asked: Asked, say: Say) -> Planned:  # noqa: ARG001
    found = find("mtrag", asked.data)
    for encoder in dict.fromkeys((asked.settings.encoder, *asked.encoders)):
        # All rows of an encoder are measured at once.
        figures = once(partial(_figures, asked, found, encoder))
        for context, kind in _told_apart():
            inputs = {
                "encoder": encoder,
                "runtime": asked.settings.encoder_runtime,
                "turns": found.path,
                "limit": asked.limit,
                "query": context,
                "history": kind,
            }
            system = f"{encoder}, {_row_name(context, kind)}"
            yield RowPlan(system, inputs, partial(_row, system, figures, context, kind))


def _told_apart() -> Iterator[tuple[QueryContext, HistoryKind]]:
    """Yield the rows that can differ: without a history, or not looking at it, a question is itself."""
    for context in CONTEXTS:
        for kind in HISTORIES:
            if context == "ours" or (context == "none") == (kind == "none"):
                yield context, kind


def _row_name(context: QueryContext, kind: HistoryKind) -> str:
    return QUERIES[context] if context == "none" else f"{QUERIES[context]}, {HISTORIES_NAMED[kind]}"


def _figures(asked: Asked, found: Found, encoder: str) -> dict[str, Any]:
    settings = HowSearched(encoder=encoder).settings(asked.settings)
    return measure_histories(found.path, open_encoder(settings), limit=asked.limit)


def _row(system: str, figures: Callable[[], dict[str, Any]], context: QueryContext, kind: HistoryKind) -> Row:
    measured = figures()
    recall = measured["recall"][context][kind]
    note = _note(measured) if context == "none" else ""
    return Row(system, {f"Recall@{depth}": 100 * recall[f"recall@{depth}"] for depth in DEPTHS}, note=note)


def _note(measured: dict[str, Any]) -> str:
    return f"{counted(measured['turns'], 'turn')} among {counted(measured['passages'], 'passage')}"


TABLE = SeedTable(
    name="truthreader-histories",
    seed="TruthReader",
    number="Table 4",
    title="what is found with four kinds of history",
    columns=tuple(Column(f"Recall@{depth}") for depth in DEPTHS),
    sets=("mtrag",),
    plan=_plan,
    remarks=(
        "Recall@k is the share of turns of which a passage that answers is among the first k of the passages"
        " of all turns, by the encoder alone; the questions are the same in all rows, and all follow up"
        " on a conversation. An irrelevant history is of a turn of another collection.",
        "The question alone does not look at its history, so its row stands for all four kinds; with its"
        " history behind it (the newest first, 128 words an utterance and 500 in all, as TruthReader sends"
        " it) it is the same where there is none.",
        "Which of the printed rows had which kind of history is not known here; the fine-tuned retriever is"
        " TruthReader's own.",
    ),
)
