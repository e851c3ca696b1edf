"""Measures retrieval in conversations, with four kinds of history and three kinds of query.

After TruthReader's Figures 4 and 5. The passages of all turns are searched for those that answer a turn. Only
the history changes; the question of a turn stays the same.
"""

import random
from collections.abc import Mapping
from pathlib import Path
from typing import Self

import numpy as np
from pydantic import BaseModel, Field, model_validator

from corpus.encoder_choice import open_encoder
from corpus.encoders.base import Encoder, Runtime
from corpus.settings import read_settings
from evaluation.answers.rewriting import CONTEXTS, HISTORIES, Exchange, history_of, query_in_context
from evaluation.harness import Figures, Report, command, decimals, grouped_table
from evaluation.input_files import EvaluationError, read_json_lines
from evaluation.retrieval import SearchSetup

DEPTHS = (1, 2, 3, 4)
ANSWERED = frozenset({"ANSWERABLE", "PARTIAL"})


class _Passage(BaseModel):
    text: str = Field(min_length=1)


class ConversationTurn(BaseModel, frozen=True, extra="ignore"):
    """A question of a conversation with the passages that answer it, in MTRAG's format."""

    id: str
    history: tuple[tuple[str, str], ...] = ()
    question: str = Field(min_length=1)
    contexts: tuple[_Passage, ...] = ()
    answerability: tuple[str, ...] = ()
    collection: str = ""

    @model_validator(mode="after")
    def _check_speakers(self) -> Self:
        speakers = [speaker for speaker, _ in self.history]
        if speakers != ["user", "agent"] * (len(speakers) // 2):
            raise ValueError("history must alternate between user and agent")
        return self

    @property
    def exchanges(self) -> tuple[Exchange, ...]:
        texts = [text for _, text in self.history]
        return tuple(zip(texts[::2], texts[1::2], strict=True))

    @property
    def is_measured(self) -> bool:
        return bool(self.history and self.contexts and ANSWERED.intersection(self.answerability))


def measure_histories(file: Path, encoder: Encoder, seed: int = 13, limit: int | None = None) -> Figures:
    """Measure the recall of an encoder by query and kind of history, on the first `limit` turns.

    An irrelevant history comes from a turn of another collection. Raises EvaluationError and CorpusError.
    """
    turns = read_json_lines(file, ConversationTurn, "Each line has history, question and contexts (MTRAG).")
    follow_ups = [turn for turn in turns if turn.is_measured]
    if len({turn.collection for turn in follow_ups}) < 2:
        raise EvaluationError(f"{file} needs answerable follow-ups from two collections or more.")
    measured = follow_ups[:limit]
    others = [
        random.Random(f"{seed}:{turn.id}").choice(
            [other for other in follow_ups if other.collection != turn.collection]
        )
        for turn in measured
    ]
    passages = list(dict.fromkeys(part.text for turn in turns for part in turn.contexts))
    vectors = encoder.encode_passages(passages)
    relevant = [{part.text for part in turn.contexts} for turn in measured]
    recall: dict[str, dict[str, Mapping[str, float]]] = {}
    for context in CONTEXTS:
        for kind in HISTORIES:
            queries = [
                query_in_context(context, turn.question, history_of(kind, turn.exchanges, other.exchanges))
                for turn, other in zip(measured, others, strict=True)
            ]
            query_vectors = np.stack([encoder.encode_query(query) for query in queries])
            ranked = np.argsort(-(query_vectors @ vectors.T), axis=1, kind="stable")[
                :, : max(DEPTHS)
            ].tolist()
            is_relevant = [
                [passages[index] in turn_passages for index in row]
                for row, turn_passages in zip(ranked, relevant, strict=True)
            ]
            recall.setdefault(context, {})[kind] = {
                f"recall@{depth}": sum(any(row[:depth]) for row in is_relevant) / len(measured)
                for depth in DEPTHS
            }
    return {
        "data": file.stem,
        "encoder": encoder.name,
        "runtime": encoder.runtime,
        "turns": len(measured),
        "passages": len(passages),
        "recall": recall,
    }


@command("histories")
def histories(turns: Path, encoder: str | None = None, runtime: Runtime | None = None) -> Report:
    settings = SearchSetup(encoder=encoder).settings(read_settings())
    figures = measure_histories(turns, open_encoder(settings, runtime))
    groups = {
        context: [(kind, *map(decimals, recalls.values())) for kind, recalls in kinds.items()]
        for context, kinds in figures["recall"].items()
    }
    title = f"{figures['turns']} turns, {figures['passages']} passages, {figures['encoder']}"
    head = ("Query", "History", *(f"Recall@{depth}" for depth in DEPTHS))
    return Report(figures, [grouped_table(head, groups, title)])
