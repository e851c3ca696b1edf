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
    DEPTH,
    HowSearched,
    Quality,
    RetrievalFigures,
    Searched,
    evaluate,
    evaluate_corpus,
    evaluate_modes,
    missing_documents,
    quality,
    search_collection,
)

__all__ = [
    "DEPTH", "Document", "Gains", "HowSearched", "JudgedCollection", "JudgedQueries", "Quality",
    "RetrievalFigures", "Searched", "Split", "average_precision", "evaluate", "evaluate_corpus",
    "evaluate_modes", "is_litsearch", "missing_documents", "ndcg", "quality", "read_judged", "read_litsearch",
    "read_queries", "recall", "search_collection"
]  # fmt: skip
