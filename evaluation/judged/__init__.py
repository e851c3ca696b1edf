"""Questions to whole collections, judged sentence by sentence by a language model for what answers them."""

from evaluation.judged.measure import JudgedCounts, counts_of, judged_table, measure_judged
from evaluation.judged.rows import FULL, JUDGED, PART, Found, JudgedQuestion, Place, find, places, read_judged

__all__ = [
    "FULL", "JUDGED", "PART", "Found", "JudgedCounts", "JudgedQuestion", "Place", "counts_of", "find",
    "judged_table", "measure_judged", "places", "read_judged"
]  # fmt: skip
