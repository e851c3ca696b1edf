"""Instances in SciRIFF's form, small and in our own words, and files of them."""

import json
from pathlib import Path

import pyarrow
import pyarrow.parquet

_LINES = Path(__file__).with_name("instances.jsonl").read_text(encoding="utf-8")
# The last is of a task that is not asked.
*INSTANCES, _ = ALL = [json.loads(line) for line in _LINES.splitlines()]
TITLE, QUESTION = "Naïve ranks, 排序 and other orders", "Which encoder is used?"
OUTPUTS = {instance["input"]: instance["output"] for instance in INSTANCES}


def write_lines(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(_LINES, encoding="utf-8")
    return path


def write_parquet(path: Path) -> Path:
    pyarrow.parquet.write_table(pyarrow.Table.from_pylist(ALL), path)
    return path
