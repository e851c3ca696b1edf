"""What a peer reads and writes; of the standard library alone, for it runs in the peer's environment too.

A peer is started as `python -m MODULE DATA OUT NAME...`. It reads documents and queries of the folder DATA in
BEIR's form, which has no judgements, makes one index, and writes for each system NAME what it ranked
(`NAME.tsv`) and how long that took (`NAME.json`) into the folder OUT.
"""

import json
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from statistics import median
from typing import Protocol

from evaluation.moments import Moment
from evaluation.peers.systems import PEERS, System

HEADER = ("query-id", "doc-id", "rank", "score")

Ranking = Sequence[tuple[str, float]]
"""Ids of documents with their scores, best first."""
Rank = Callable[[str], Ranking]


class Peer(Protocol):
    """A peer for one kind of index: made with its encoder loaded, as ours is when it begins to build."""

    def build(self, documents: Mapping[str, str]) -> None:
        """Index texts by id."""
        ...

    def ranker(self, system: System) -> Rank:
        """Return how the index is asked under the setting of a system."""
        ...


def run_peer(open_peer: Callable[[System], Peer], packages: Sequence[str]) -> None:
    """Do what the command line asks for; what ranks are these packages."""
    data, out, *names = sys.argv[1:]
    systems = [system for system in PEERS if system.name in names]
    documents = read_documents(Path(data))
    queries = dict(_texts(Path(data) / "queries.jsonl"))
    peer = open_peer(systems[0])
    started = Moment.now()
    peer.build(documents)
    built = started.since()
    versions = {package: version(package) for package in packages}
    for system in systems:
        rankings, taken = ask_all(peer.ranker(system), queries)
        write_run(Path(out), system.name, rankings, {**figures_of(built, taken), "versions": versions})


def read_documents(folder: Path) -> dict[str, str]:
    """Return each document's title and text as one text, as our own index has them."""
    return dict(_texts(folder / "corpus.jsonl"))


def _texts(path: Path) -> Iterator[tuple[str, str]]:
    with path.open(encoding="utf-8") as lines:
        for line in lines:
            record = json.loads(line)
            parts = (record.get("title", ""), record.get("text", ""))
            yield record["_id"], "\n".join(part.strip() for part in parts if part.strip())


def ask_all(rank: Rank, queries: Mapping[str, str]) -> tuple[dict[str, Ranking], list[Moment]]:
    """Return what is ranked for each query, and how long each took."""
    rank("warm")
    rankings: dict[str, Ranking] = {}
    taken = []
    for query, text in queries.items():
        started = Moment.now()
        rankings[query] = rank(text)
        taken.append(started.since())
    return rankings, taken


def figures_of(built: Moment, taken: Sequence[Moment]) -> dict[str, float]:
    """Return how long an index and the median query took, by clock and processor."""
    return {
        "build_seconds": built.clock,
        "build_processor_seconds": built.processor,
        "ms_per_query": 1000 * median(one.clock for one in taken),
        "processor_ms_per_query": 1000 * median(one.processor for one in taken),
    }


def write_run(
    folder: Path, name: str, rankings: Mapping[str, Ranking], figures: Mapping[str, object]
) -> None:
    lines = ["\t".join(HEADER)]
    for query, ranking in rankings.items():
        lines += [
            f"{query}\t{document}\t{rank}\t{score:.6f}"
            for rank, (document, score) in enumerate(ranking, start=1)
        ]
    (folder / f"{name}.tsv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    (folder / f"{name}.json").write_text(json.dumps(figures), encoding="utf-8")
