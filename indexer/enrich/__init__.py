"""Enrichment of papers: aspects, one sentence on each, topics, fields of study."""

from indexer.enrich.aspects import choose_aspects
from indexer.enrich.fields import field_labeller
from indexer.enrich.languages import language_of
from indexer.enrich.tldr import TLDR_WEIGHTS, Tldr, TldrCandidate, choose_tldr, tldr_candidates
from indexer.enrich.topics import find_topics

__all__ = [
    "TLDR_WEIGHTS",
    "Tldr",
    "TldrCandidate",
    "choose_aspects",
    "choose_tldr",
    "field_labeller",
    "find_topics",
    "language_of",
    "tldr_candidates",
]
