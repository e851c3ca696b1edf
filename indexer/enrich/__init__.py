"""Enrichment of papers: aspects, one sentence on each, topics, fields of study."""

from indexer.enrich.aspects import choose_aspects
from indexer.enrich.fields import field_labeller, field_names
from indexer.enrich.languages import language_of
from indexer.enrich.runs import Run, term_words, word_key, word_runs
from indexer.enrich.tldr import TLDR_WEIGHTS, Tldr, TldrCandidate, choose_tldr, tldr_candidates
from indexer.enrich.topics import find_topics

__all__ = [
    "TLDR_WEIGHTS",
    "Run",
    "Tldr",
    "TldrCandidate",
    "choose_aspects",
    "choose_tldr",
    "field_labeller",
    "field_names",
    "find_topics",
    "language_of",
    "term_words",
    "tldr_candidates",
    "word_key",
    "word_runs",
]
