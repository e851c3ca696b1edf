"""What is found in papers: aspects, topics, fields of study."""

from indexer.enrich.aspects import choose_aspects
from indexer.enrich.fields import field_labeller
from indexer.enrich.topics import find_topics

__all__ = ["choose_aspects", "field_labeller", "find_topics"]
