"""The map of a corpus: places, clusters and their labels; and fields of study made of clusters."""

from indexer.paper_map.map import draw_map
from indexer.paper_map.subject_fields import assign_fields

__all__ = ["assign_fields", "draw_map"]
