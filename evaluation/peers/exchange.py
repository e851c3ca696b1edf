"""The systems that are compared, and what a peer reads and writes.

Of the standard library alone: it also runs in the peers' own environment. A peer is started as
`python -m MODULE DATA OUT NAME...`. It reads documents and queries of the folder DATA in BEIR's form, without
judgements, builds one index, and writes for each system NAME its rankings (`NAME.tsv`) and times
(`NAME.json`) into the folder OUT.
"""

import json
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from statistics import median
from typing import Any, Protocol

OURS = "ours"
HEADER = ("query-id", "doc-id", "rank", "score")
DEPTH = 100  # as deep as `evaluation.retrieval` judges

# Ids of documents with their scores, best first.
Ranking = Sequence[tuple[str, float]]
Rank = Callable[[str], Ranking]


@dataclass(frozen=True, slots=True)
class System:
    """A peer under one setting; those of the same module and `build` share an index.

    Settings that `build` and `search` do not name are the peer's defaults.
    """

    name: str
    module: str
    says: str
    build: Mapping[str, Any] = field(default_factory=dict)
    search: Mapping[str, Any] = field(default_factory=dict)

    @property
    def settings(self) -> dict[str, Any]:
        return {"build": dict(self.build), "search": dict(self.search)}


_LANCEDB = "evaluation.peers.lancedb_hybrid"
_PAPER_QA = "evaluation.peers.paper_qa"
_STORE = {"through": "store", "k": DEPTH}
PEERS = (
    System("lancedb", _LANCEDB, "hybrid search with RRFReranker, ten results, its default"),
    System("lancedb-100", _LANCEDB, "the same, asked for a hundred", search={"limit": DEPTH}),
    System("paper-qa", _PAPER_QA, "Docs.retrieve_texts, its defaults: ten texts, MMR off (lambda 1)"),
    System("paper-qa-store", _PAPER_QA, "its NumpyVectorStore asked directly for a hundred", search=_STORE),
    System(
        "paper-qa-mmr", _PAPER_QA, "the same with its MMR, lambda 0.9", search={**_STORE, "mmr_lambda": 0.9}
    ),
    System(
        "paper-qa-hybrid",
        _PAPER_QA,
        "its hybrid embedding (vector and token counts), the store asked for a hundred",
        {"embedding": "hybrid"},
        _STORE,
    ),
)


@dataclass(frozen=True, slots=True)
class Moment:
    """Seconds by the clock, and of processor time of this process, which other processes hardly change."""

    clock: float
    processor: float

    @classmethod
    def now(cls) -> "Moment":
        return cls(time.perf_counter(), time.process_time())

    def since(self) -> "Moment":
        """Return how long ago this was."""
        now = Moment.now()
        return Moment(now.clock - self.clock, now.processor - self.processor)


class Peer(Protocol):
    """A peer for one kind of index: made with its encoder loaded, as ours is when it begins to build."""

    def build(self, documents: Mapping[str, str]) -> None:
        """Index texts by id."""
        ...

    def ranker(self, system: System) -> Rank:
        """Return how the index is asked under the setting of a system."""
        ...


def run_peer(open_peer: Callable[[System], Peer], packages: Sequence[str]) -> None:
    """Do what the command line asks for; `packages` are those that rank."""
    data, out, *names = sys.argv[1:]
    systems = [system for system in PEERS if system.name in names]
    documents, queries = (dict(_texts(Path(data, f"{name}.jsonl"))) for name in ("corpus", "queries"))
    peer = open_peer(systems[0])
    started = Moment.now()
    peer.build(documents)
    built = started.since()
    versions = {package: version(package) for package in packages}
    for system in systems:
        rank = peer.ranker(system)
        rank("warm")
        rankings, taken = {}, []
        for query, text in queries.items():
            started = Moment.now()
            rankings[query] = rank(text)
            taken.append(started.since())
        write_run(Path(out), system.name, rankings, {**times(built, taken), "versions": versions})


def _texts(path: Path) -> Iterator[tuple[str, str]]:
    """Yield title and text as one text, as our own index has them."""
    with path.open(encoding="utf-8") as lines:
        for line in lines:
            record = json.loads(line)
            parts = (record.get("title", ""), record.get("text", ""))
            yield record["_id"], "\n".join(part.strip() for part in parts if part.strip())


def times(built: Moment, taken: Sequence[Moment]) -> dict[str, float]:
    """Return how long the index and the median query took, by clock and processor."""
    return {
        "build_seconds": built.clock,
        "build_processor_seconds": built.processor,
        "ms_per_query": 1000 * median(moment.clock for moment in taken),
        "processor_ms_per_query": 1000 * median(moment.processor for moment in taken),
    }


def write_run(
    folder: Path, name: str, rankings: Mapping[str, Ranking], figures: Mapping[str, object]
) -> None:
    lines = ["\t".join(HEADER)]
    for query, ranking in rankings.items():
        lines += (
            f"{query}\t{document}\t{at}\t{score:.6f}" for at, (document, score) in enumerate(ranking, 1)
        )
    (folder / f"{name}.tsv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    (folder / f"{name}.json").write_text(json.dumps(figures), encoding="utf-8")
