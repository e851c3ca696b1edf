"""Retrieval in a conversation: what is found with four kinds of history, asked for in three ways.

After TruthReader's Table 4. The right passages of a turn stand among those of all turns. The question is the
same with every history, so where it leans on its own, no or another history cannot make it whole.
"""

import random
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Self, TypedDict

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, model_validator
from rich.box import SIMPLE_HEAD
from rich.table import Column, Table

from corpus.encoders import Encoder
from evaluation.answers.query_contexts import (
    CONTEXTS,
    HISTORIES,
    HistoryKind,
    QueryContext,
    history_of,
    query_in_context,
)
from evaluation.answers.rewriting import Exchange
from evaluation.input_files import EvaluationError, read_json_lines

DEPTHS = (1, 2, 3, 4)
ANSWERED = frozenset({"ANSWERABLE", "PARTIAL"})

# By context of the query and kind of history: the share of turns of which a right passage is among the first.
Recalls = Mapping[QueryContext, Mapping[HistoryKind, Mapping[str, float]]]


class HistoryFigures(TypedDict):
    data: str
    encoder: str
    runtime: str
    turns: int
    passages: int
    recall: Recalls


class _Passage(BaseModel):
    text: str = Field(min_length=1)


class ConversationTurn(BaseModel):
    """A question of a conversation with the passages that answer it, as MTRAG has them."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    id: str
    history: tuple[tuple[str, str], ...] = ()
    question: str = Field(min_length=1)
    contexts: tuple[_Passage, ...] = ()
    answerability: tuple[str, ...] = ()
    collection: str = ""

    @model_validator(mode="after")
    def _take_turns(self) -> Self:
        speakers = [speaker for speaker, _ in self.history]
        if speakers != ["user", "agent"] * (len(speakers) // 2):
            raise ValueError("history must have what a user and an agent said, in turns")
        return self

    @property
    def exchanges(self) -> tuple[Exchange, ...]:
        said = [text for _, text in self.history]
        return tuple(zip(said[::2], said[1::2], strict=True))

    @property
    def is_measured(self) -> bool:
        return bool(self.history and self.contexts and ANSWERED.intersection(self.answerability))


def measure_histories(
    file: Path, encoder: Encoder, seed: int = 13, limit: int | None = None
) -> HistoryFigures:
    """Return how often an encoder finds the passages of turns, of the first `limit` of them.

    Raises EvaluationError and CorpusError.
    """
    turns = read_json_lines(file, ConversationTurn, "Each line has history, question and contexts (MTRAG).")
    follow_ups = [turn for turn in turns if turn.is_measured]
    if len({turn.collection for turn in follow_ups}) < 2:
        raise EvaluationError(f"{file} has no answerable follow-ups of two collections, which it takes.")
    measured = follow_ups[:limit]
    passages = list(dict.fromkeys(part.text for turn in turns for part in turn.contexts))
    vectors = encoder.encode_passages(passages)
    recall: dict[QueryContext, dict[HistoryKind, Mapping[str, float]]] = {}
    for context in CONTEXTS:
        for kind in HISTORIES:
            queries = [_query(context, kind, turn, follow_ups, seed) for turn in measured]
            asked = np.stack([encoder.encode_query(query) for query in queries])
            first = np.argsort(-(asked @ vectors.T), axis=1, kind="stable")[:, : max(DEPTHS)]
            ranked = [[passages[index] for index in row] for row in first.tolist()]
            recall.setdefault(context, {})[kind] = _recalls(ranked, measured)
    return HistoryFigures(
        data=file.stem,
        encoder=encoder.name,
        runtime=encoder.runtime,
        turns=len(measured),
        passages=len(passages),
        recall=recall,
    )


def _query(
    context: QueryContext,
    kind: HistoryKind,
    turn: ConversationTurn,
    turns: Sequence[ConversationTurn],
    seed: int,
) -> str:
    """Return what is searched for; a history that is irrelevant is of a turn of another collection."""
    others = [other for other in turns if other.collection != turn.collection]
    other = random.Random(f"{seed}:{turn.id}").choice(others)
    return query_in_context(context, turn.question, history_of(kind, turn.exchanges, other.exchanges))


def _recalls(ranked: Sequence[Sequence[str]], turns: Sequence[ConversationTurn]) -> dict[str, float]:
    right = [{part.text for part in turn.contexts} for turn in turns]
    return {
        f"recall@{depth}": sum(
            bool(wanted.intersection(found[:depth])) for found, wanted in zip(ranked, right, strict=True)
        )
        / len(turns)
        for depth in DEPTHS
    }


def histories_table(figures: HistoryFigures) -> Table:
    """Return what people read: a line for each query and history."""
    numbers = [Column(f"Recall@{depth}", justify="right") for depth in DEPTHS]
    title = f"{figures['turns']} turns, {figures['passages']} passages, {figures['encoder']}"
    table = Table("Query", "History", *numbers, box=SIMPLE_HEAD, title=title)
    for context, kinds in figures["recall"].items():
        for kind, recalls in kinds.items():
            table.add_row(
                context if kind == HISTORIES[0] else "", kind, *(f"{one:.3f}" for one in recalls.values())
            )
        table.add_section()
    return table
