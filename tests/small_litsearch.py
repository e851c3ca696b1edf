"""A LitSearch of six papers and two queries, in the files in which its authors publish it."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow
import pyarrow.parquet

PAPERS: Sequence[Mapping[str, Any]] = (
    {"corpusid": 11, "title": "Cats", "abstract": "Kittens sleep longer than cats."},
    {"corpusid": 12, "title": "Bonds", "abstract": "Government bonds fell as interest rates rose."},
    {"corpusid": 13, "title": "Rain", "abstract": None},
    {"corpusid": 14, "title": "Tides", "abstract": "The moon raises tides."},
    {"corpusid": 15, "title": "Bread", "abstract": "Dough rises with yeast."},
    {"corpusid": 16, "title": None, "abstract": "Nobody named this one."},
)
QUERIES: Sequence[Mapping[str, Any]] = (
    {"query": "how long do kittens sleep", "corpusids": [11]},
    {"query": "what did government bonds do", "corpusids": [12, 99]},
)
FILES = (
    "query/full-00000-of-00001.parquet",
    *(f"corpus_clean/full-{number:05}-of-00006.parquet" for number in range(6)),
)


def save_litsearch(
    folder: Path,
    papers: Sequence[Mapping[str, Any]] = PAPERS,
    queries: Sequence[Mapping[str, Any]] = QUERIES,
) -> Path:
    """Save queries, and six papers a file each, with the columns beside them that are not read."""
    asked = [{"query_set": "inline_acl", "specificity": 1, "quality": 2, **query} for query in queries]
    beside = {"citations": [1, 2], "full_paper": "Not read."}
    for name, rows in zip(FILES, [asked, *([{**paper, **beside}] for paper in papers)], strict=True):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        pyarrow.parquet.write_table(pyarrow.Table.from_pylist(rows), folder / name)
    return folder
