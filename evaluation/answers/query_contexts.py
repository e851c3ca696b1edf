"""Queries of a conversation: three ways to ask, and four kinds of history."""

from collections.abc import Sequence
from typing import Literal, get_args

from evaluation.answers.rewriting import Exchange, concatenated, rewritten

QueryContext = Literal["none", "concatenated", "ours"]
HistoryKind = Literal["none", "relevant", "irrelevant", "both"]
CONTEXTS: tuple[QueryContext, ...] = get_args(QueryContext)
HISTORIES: tuple[HistoryKind, ...] = get_args(HistoryKind)


def query_in_context(context: QueryContext, question: str, exchanges: Sequence[Exchange]) -> str:
    """Return a question alone, with its history behind it (TruthReader, section 3.2), or as we rewrite it."""
    if context == "concatenated":
        return concatenated(question, [said for exchange in exchanges for said in exchange if said])
    return rewritten(question, exchanges) if context == "ours" else question


def history_of(kind: HistoryKind, own: Sequence[Exchange], other: Sequence[Exchange]) -> tuple[Exchange, ...]:
    """Return a history of a kind (TruthReader, section 3.1): in "both" the subject changed."""
    relevant = tuple(own) if kind in ("relevant", "both") else ()
    return (*other, *relevant) if kind in ("irrelevant", "both") else relevant
