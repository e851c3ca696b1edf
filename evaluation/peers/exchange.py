"""The exchange with a peer, of the standard library alone: it also runs in the peers' own environment.

`python -m MODULE TEXTS RUN` reads TEXTS, JSON lines with `kind` (document or query), `id` and `text`, and
writes RUN, a JSON object with the rankings and times of a `record_run`. Peers see no judgements.
"""

import json
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from statistics import median
from typing import Any

DEPTH = 100  # as deep as `evaluation.retrieval` judges

# Returns the ids of documents for a query, best first.
Rank = Callable[[str], Sequence[str]]
# Indexes texts by id.
Build = Callable[[Mapping[str, str]], Rank]


@dataclass(frozen=True, slots=True)
class Moment:
    """Seconds by the clock, and of processor time of this process, which other processes hardly change."""

    clock: float
    processor: float

    @classmethod
    def now(cls) -> "Moment":
        return cls(time.perf_counter(), time.process_time())

    def since(self) -> "Moment":
        """Return the wall-clock and processor time that passed since this moment."""
        now = Moment.now()
        return Moment(now.clock - self.clock, now.processor - self.processor)


def run_peer(open_peer: Callable[[], Build], packages: Sequence[str]) -> None:
    """Do what the command line asks for; `open_peer` loads the encoder, `packages` are those that rank."""
    texts: dict[str, dict[str, str]] = {"document": {}, "query": {}}
    with Path(sys.argv[1]).open(encoding="utf-8") as lines:
        for record in map(json.loads, lines):
            texts[record["kind"]][record["id"]] = record["text"]
    build = open_peer()
    started = Moment.now()
    rank = build(texts["document"])
    built = started.since()
    rank("warm")
    rankings, taken = {}, []
    for query, text in texts["query"].items():
        started = Moment.now()
        rankings[query] = rank(text)
        taken.append(started.since())
    versions = {package: version(package) for package in packages}
    Path(sys.argv[2]).write_text(json.dumps(record_run(rankings, built, taken, versions)), encoding="utf-8")


def record_run(
    rankings: Mapping[str, Sequence[str]], built: Moment, taken: Sequence[Moment], versions: Mapping[str, str]
) -> dict[str, Any]:
    """Return a run with the times of the build and of the median query."""
    return {
        "build_seconds": built.clock,
        "build_processor_seconds": built.processor,
        "ms_per_query": 1000 * median(moment.clock for moment in taken),
        "processor_ms_per_query": 1000 * median(moment.processor for moment in taken),
        "versions": versions,
        "rankings": rankings,
    }
