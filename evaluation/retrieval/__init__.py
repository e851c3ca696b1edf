"""Retrieval: judged collections, through our own build and search."""

from evaluation.retrieval.judged_sets import (
    Document,
    JudgedCollection,
    JudgedQueries,
    Split,
    read_judged,
    read_queries,
)
from evaluation.retrieval.litsearch import is_litsearch, read_litsearch
from evaluation.retrieval.measures import Gains, average_precision, ndcg, recall
from evaluation.retrieval.measuring import (
    HowSearched,
    RetrievalFigures,
    evaluate,
    evaluate_corpus,
    evaluate_modes,
)

__all__ = [
    "Document", "Gains", "HowSearched", "JudgedCollection", "JudgedQueries", "RetrievalFigures", "Split",
    "average_precision", "evaluate", "evaluate_corpus", "evaluate_modes", "is_litsearch", "ndcg",
    "read_judged", "read_litsearch", "read_queries", "recall"
]  # fmt: skip
