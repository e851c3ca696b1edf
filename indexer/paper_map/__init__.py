"""The map of a corpus: places, clusters and their labels."""

from indexer.paper_map.map import draw_map

__all__ = ["draw_map"]
