"""Ours beside its peers: all judged by the same functions, and set against ours of the same data."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypedDict

from rich.box import SIMPLE_HEAD
from rich.markup import escape
from rich.table import Column, Table

from corpus.wording import counted
from evaluation.input_files import EvaluationError
from evaluation.peers.material import Material, Wanted, read_material
from evaluation.peers.runs import Run, Workplace
from evaluation.peers.systems import OURS, PEERS, System
from evaluation.retrieval import DEPTH, quality

# What is set against ours.
_COMPARED = (
    *("ndcg@10", "map@10", "recall@100", "ms_per_query", "processor_ms_per_query"),
    *("build_seconds", "build_processor_seconds"),
)
_SHOWN = ("ndcg@10", "processor_ms_per_query", "build_processor_seconds")

# What is measured of a system on a collection. `most_returned` is the most that it gave for a query, of which
# at most 100 count; `to_ours` has its figures as shares of ours.
PeerFigures = TypedDict(
    "PeerFigures",
    {
        "system": str,
        "data": str,
        "documents": int,
        "of_documents": int,
        "missing_documents": int,
        "queries": int,
        "ndcg@10": float,
        "map@10": float,
        "recall@100": float,
        "most_returned": int,
        "ms_per_query": float,
        "processor_ms_per_query": float,
        "build_seconds": float,
        "build_processor_seconds": float,
        "to_ours": dict[str, float | None],
        "versions": dict[str, str],
        "settings": dict[str, Any],
        "cores": int,
        "measured": str,
        "kept": bool,
    },
)


@dataclass(frozen=True, slots=True)
class Comparison:
    """What is compared: folders of judged queries, and which peers, by default all."""

    folders: Sequence[Path]
    wanted: Wanted
    peers: Sequence[str] = ()

    def systems(self) -> list[System]:
        known = [system.name for system in PEERS]
        if unknown := [name for name in self.peers if name not in known]:
            raise EvaluationError(f"There is no peer {unknown[0]!r}. There are {', '.join(known)}.")
        return [system for system in PEERS if not self.peers or system.name in self.peers]


def compare(
    comparison: Comparison, python: Path, out: Path, say: Callable[[str], None]
) -> Iterator[PeerFigures]:
    """Yield the figures of ours and of each peer on each folder; raises EvaluationError.

    Runs that `out` has already are not made again.
    """
    systems = comparison.systems()
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise EvaluationError(f"The folder {out} cannot be made: {error.strerror}.") from error
    # Peers run in another folder than their caller.
    workplace = Workplace(python.absolute(), out.absolute(), say)
    for folder in comparison.folders:
        material = read_material(folder, comparison.wanted)
        ours: PeerFigures | None = None
        for run in workplace.runs(systems, material):
            figures = _figures(run, material)
            ours = ours or figures
            yield {**figures, "to_ours": _shares(figures, ours)}


def _figures(run: Run, material: Material) -> PeerFigures:
    measured = quality(run.rankings, material.judged)
    return {
        "system": run.system,
        "data": material.judged.name,
        "documents": len(material.judged),
        "of_documents": material.of_documents,
        "missing_documents": material.missing,
        "queries": len(material.judged.queries),
        "ndcg@10": measured["ndcg@10"],
        "map@10": measured["map@10"],
        "recall@100": measured["recall@100"],
        "most_returned": max(map(len, run.rankings.values())),
        "ms_per_query": run.figures.ms_per_query,
        "processor_ms_per_query": run.figures.processor_ms_per_query,
        "build_seconds": run.figures.build_seconds,
        "build_processor_seconds": run.figures.build_processor_seconds,
        "to_ours": {},
        "versions": run.figures.versions,
        "settings": run.figures.settings,
        "cores": run.figures.cores,
        "measured": run.figures.measured.isoformat(timespec="seconds"),
        "kept": run.kept,
    }


def _shares(figures: Mapping[str, Any], ours: Mapping[str, Any]) -> dict[str, float | None]:
    """Return figures as shares of ours, None where ours is 0."""
    return {name: figures[name] / ours[name] if ours[name] else None for name in _COMPARED}


def peers_table(compared: Sequence[PeerFigures]) -> Table:
    """Draw all figures, each collection with ours first."""
    names = ("nDCG@10", "MAP@10", "Recall@100", "ms", "build s", "to ours")
    table = Table("System", *(Column(name, justify="right") for name in names), box=SIMPLE_HEAD)
    table.padding = (0, 1, 0, 0)  # so that a line fits into 80 columns
    for one in compared:
        if one["system"] == OURS:
            table.add_section()
            table.add_row(f"[bold]{escape(one['data'])}")
        few = f" ({one['most_returned']})" if one["most_returned"] < DEPTH else ""
        shares = (one["to_ours"][name] for name in _SHOWN)
        table.add_row(
            one["system"],
            f"{one['ndcg@10']:.4f}",
            f"{one['map@10']:.4f}",
            f"{one['recall@100']:.4f}{few}",
            f"{one['ms_per_query']:.1f}",
            f"{one['build_seconds']:.1f}",
            " ".join("-" if share is None else _short(share) for share in shares),
        )
    return table


def _short(share: float) -> str:
    return f"{share:.2f}" if share < 10 else f"{share:.0f}"


def said_beside(compared: Sequence[PeerFigures]) -> Iterator[str]:
    """Yield what a reader has to know of the table: its columns, what was searched, what each peer is."""
    yield "ms: the median query. To ours: nDCG@10, the processor's time for a query, and for the build."
    yield "Recall@100 (10): no more than ten documents were returned."
    for one in compared:
        if one["system"] == OURS:
            yield f"{one['data']}: {_searched(one)}"
    asked = {one["system"] for one in compared}
    yield from (f"{system.name}: {system.says}" for system in PEERS if system.name in asked)
    if kept := sum(one["kept"] for one in compared):
        yield f"{counted(kept, 'run')} measured by an earlier call"


def _searched(one: PeerFigures) -> str:
    sample = f" of {one['of_documents']:,}" if one["documents"] < one["of_documents"] else ""
    missing = one["missing_documents"]
    lacking = f" ({counted(missing, 'relevant document')} missing)" if missing else ""
    return f"{one['documents']:,}{sample} documents{lacking}, {one['queries']:,} queries"
