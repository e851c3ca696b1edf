"""Our search beside its peers: each runs in its own process, and all are judged by the same functions."""

import json
import os
import random
import subprocess
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from hashlib import sha256
from itertools import groupby
from pathlib import Path
from typing import Any

from pydantic import BaseModel, Field, ValidationError

from corpus import VERSION
from corpus.encoder_choice import open_encoder
from corpus.encoders import cores
from corpus.settings import PROJECT, Settings
from corpus.wording import counted
from evaluation.harness import Figures, Report, command, say, table
from evaluation.input_files import EvaluationError, first_fault, read_text
from evaluation.peers.exchange import HEADER, OURS, PEERS, System, times, write_run
from evaluation.retrieval import (
    DEPTH,
    Document,
    HowSearched,
    JudgedCollection,
    missing_documents,
    quality,
    read_judged,
    read_queries,
    search_collection,
)

SAMPLE_SEED = 13
LONGEST_SECONDS = 3 * 3600
LAST_LINES = 12
# Figures that are given as shares of ours, and those of them that the table shows.
_QUALITY = ("ndcg@10", "map@10", "recall@100")
_TIMES = ("ms_per_query", "processor_ms_per_query", "build_seconds", "build_processor_seconds")
_SHOWN = ("ndcg@10", "processor_ms_per_query", "build_processor_seconds")


@dataclass(frozen=True, slots=True)
class Material:
    """Judged documents, of how many they were chosen, and how many relevant documents are missing."""

    judged: JudgedCollection
    of_documents: int
    missing: int

    @property
    def files(self) -> dict[str, str]:
        """What peers are given, by file names: documents and queries in BEIR's form, no judgements."""
        documents = ({"_id": one.id, "title": one.title, "text": one.text} for one in self.judged.documents)
        queries = ({"_id": query, "text": text} for query, text in self.judged.queries.items())
        return {
            "corpus.jsonl": "".join(f"{json.dumps(document)}\n" for document in documents),
            "queries.jsonl": "".join(f"{json.dumps(query)}\n" for query in queries),
        }

    @property
    def key(self) -> str:
        """The hash of all that is searched, asked and judged."""
        gains = {query: dict(self.judged.gains[query]) for query in self.judged.queries}
        return sha256("".join((*self.files.values(), json.dumps(gains))).encode()).hexdigest()


def read_material(folder: Path, anthology: Path | None = None, most: int | None = None) -> Material:
    """Read a folder, its documents or the Anthology's, all or a sample; raises EvaluationError."""
    if (folder / "corpus.jsonl").exists():
        judged = read_judged(folder)
    elif anthology is None:
        raise EvaluationError(
            f"{folder} has no corpus.jsonl. Give --anthology if its documents are the Anthology's papers."
        )
    else:
        asked = read_queries(folder)
        judged = JudgedCollection(asked.name, asked.queries, asked.gains, tuple(_anthology_papers(anthology)))
    missing = missing_documents(judged, (document.id for document in judged.documents))
    _check_ids(judged)
    sample = judged if most is None else replace(judged, documents=_sample(judged, most))
    return Material(sample, len(judged), missing)


def _anthology_papers(data: Path) -> Iterator[Document]:
    from indexer.sources.acl_anthology import all_volumes  # noqa: PLC0415 - it takes a second to import

    volumes = all_volumes(data, data)
    for volume in volumes:
        for paper in (source.paper for source in volume.papers()):
            if paper.abstract:
                yield Document.model_validate({"_id": paper.id, "title": paper.title, "text": paper.abstract})
    if volumes.problems:
        raise EvaluationError(volumes.problems[0])


def _check_ids(judged: JudgedCollection) -> None:
    """Raise EvaluationError for ids that a run file cannot hold, or has twice."""
    documents = [document.id for document in judged.documents]
    for identifier in (*documents, *judged.queries):
        if not identifier or set(identifier) & set("\t\r\n"):
            raise EvaluationError(f"{judged.name} has the id {identifier!r}, which no run file can have.")
    known: set[str] = set()
    for identifier in documents:
        if identifier in known:
            raise EvaluationError(f"{judged.name} has two documents with the id {identifier!r}.")
        known.add(identifier)


def _sample(judged: JudgedCollection, most: int) -> tuple[Document, ...]:
    """Return all relevant documents and a random sample of others, in their own order."""
    relevant = set(judged.relevant)
    others = sorted(document.id for document in judged.documents if document.id not in relevant)
    there = len(judged) - len(others)
    if most < there:
        raise EvaluationError(
            f"{judged.name} has {there} relevant documents: --most-documents must be at least as many."
        )
    taken = relevant.union(random.Random(SAMPLE_SEED).sample(others, min(most - there, len(others))))
    return tuple(document for document in judged.documents if document.id in taken)


class RunFigures(BaseModel, frozen=True):
    """A system's times of its own run; when, where and under which settings are added when it is kept."""

    build_seconds: float = Field(ge=0, allow_inf_nan=False)
    build_processor_seconds: float = Field(ge=0, allow_inf_nan=False)
    ms_per_query: float = Field(gt=0, allow_inf_nan=False)
    processor_ms_per_query: float = Field(gt=0, allow_inf_nan=False)
    versions: dict[str, str]
    measured: datetime = Field(default_factory=lambda: datetime.now(UTC))
    cores: int = Field(default_factory=cores)
    settings: dict[str, Any] = {}


@dataclass(frozen=True, slots=True)
class Run:
    """The rankings of a system; `kept`: an earlier call has measured it."""

    system: str
    rankings: Mapping[str, Sequence[str]]
    figures: RunFigures
    kept: bool


def _read_run(path: Path, judged: JudgedCollection) -> tuple[Mapping[str, Sequence[str]], RunFigures]:
    """Return the rankings and times of a run, by its .tsv; raises EvaluationError that names the fault."""

    def fault(number: int, complaint: str) -> EvaluationError:
        return EvaluationError(f"{path.name}, line {number}: {complaint}.")

    # Not splitlines: an id may hold a line separator of Unicode.
    header, *lines = read_text(path).removesuffix("\n").split("\n")
    if tuple(header.split("\t")) != HEADER:
        raise fault(1, f"the header must be {', '.join(HEADER)}, with tabs between")
    known = {document.id for document in judged.documents}
    rankings: dict[str, list[str]] = {}
    for number, line in enumerate(lines, start=2):
        try:
            query, document, rank, score = line.split("\t")
            place, _ = int(rank), float(score)
        except ValueError:
            raise fault(number, "it must be a query, a document, a rank and a score") from None
        ranking = rankings.setdefault(query, [])
        if query not in judged.queries or document not in known:
            raise fault(number, "its query or its document was never given")
        if place != len(ranking) + 1 or document in ranking:
            raise fault(number, "ranks count from 1, and a query has a document once")
        ranking.append(document)
    if not rankings:
        raise EvaluationError(f"{path.name} ranks nothing.")
    told = path.with_suffix(".json")
    try:
        return rankings, RunFigures.model_validate_json(read_text(told))
    except ValidationError as error:
        raise EvaluationError(
            f"{told.name} is not what a run says of itself: {first_fault(error, 'the file')}."
        ) from None


@dataclass(frozen=True, slots=True)
class Workplace:
    """The Python that has the peers, and the folder in which runs are kept."""

    python: Path
    out: Path

    def runs(self, systems: Sequence[System], material: Material) -> Iterator[Run]:
        """Yield our own run, then the peers'; raises EvaluationError for a peer that fails."""
        encoder = open_encoder(Settings(home=self.out))
        packages = (path for package in ("corpus", "indexer") for path in (PROJECT / package).rglob("*"))
        code = _hash(sorted(path for path in packages if path.suffix in {".py", ".toml", ".txt"}))
        ours = {"encoder": encoder.name, "runtime": encoder.runtime, "code": code}
        yield from self._together({OURS: ours}, material, lambda written: self._search(material, written))
        for _, group in groupby(systems, key=lambda one: (one.module, json.dumps(one.settings["build"]))):
            peers = list(group)
            settings = {system.name: _peer_settings(system) for system in peers}
            start = partial(self._start, peers[0].module, list(settings), material)
            yield from self._together(settings, material, start)

    def _together(
        self, settings: Mapping[str, dict[str, Any]], material: Material, make: Callable[[Path], str]
    ) -> Sequence[Run]:
        """Return the runs of systems that share an index: kept ones, or those that `make` writes."""
        places = {}
        for name, own in settings.items():
            key = sha256(json.dumps([name, own, material.key], sort_keys=True).encode()).hexdigest()[:12]
            places[name] = self.out / f"{material.judged.name}-{name}-{key}.tsv"
        # The figures are moved last, so that they say that all is there.
        if all(place.with_suffix(".json").exists() for place in places.values()):
            return [self._kept(name, place, material) for name, place in places.items()]
        say(f"{material.judged.name}: {', '.join(settings)}")
        with tempfile.TemporaryDirectory(dir=self.out) as folder:
            output = make(Path(folder))
            try:
                read = {name: _read_run(Path(folder, f"{name}.tsv"), material.judged) for name in settings}
            except EvaluationError as error:
                raise _failed(list(settings), f"wrote no run: {error}", output) from None
            runs = []
            for name, (rankings, figures) in read.items():
                kept = figures.model_copy(update={"settings": settings[name]})
                Path(folder, f"{name}.json").write_text(kept.model_dump_json(), encoding="utf-8")
                for ending in (".tsv", ".json"):
                    Path(folder, f"{name}{ending}").replace(places[name].with_suffix(ending))
                runs.append(Run(name, rankings, kept, kept=False))
        return runs

    def _kept(self, name: str, place: Path, material: Material) -> Run:
        try:
            return Run(name, *_read_run(place, material.judged), kept=True)
        except EvaluationError as error:
            told = place.with_suffix(".json")
            raise EvaluationError(f"{error} Delete {told}, and it is measured again.") from None

    def _search(self, material: Material, written: Path) -> str:
        searched, built = search_collection(material.judged, HowSearched(), ("hybrid",))
        found = searched["hybrid"]
        rankings = {
            query: [(document, 1 / rank) for rank, document in enumerate(ranking, start=1)]
            for query, ranking in found.rankings.items()
        }
        write_run(
            written, OURS, rankings, {**times(built, found.taken), "versions": {"paper-trail": VERSION}}
        )
        return ""

    def _start(self, module: str, names: list[str], material: Material, written: Path) -> str:
        """Have a peer's process write its runs; return what it printed."""
        with tempfile.TemporaryDirectory(dir=self.out) as data:
            for name, text in material.files.items():
                Path(data, name).write_text(text, encoding="utf-8")
            ours = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
            try:
                done = subprocess.run(  # noqa: S603 - a module of ours, by the Python that was named
                    [str(self.python), "-m", module, data, str(written), *names],
                    cwd=PROJECT,
                    env={**ours, "HF_HUB_OFFLINE": "1"},
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.STDOUT,
                    timeout=LONGEST_SECONDS,
                    check=False,
                )
            except OSError as error:
                raise EvaluationError(
                    f"The peer {', '.join(names)} cannot be started by {self.python}: {error.strerror}. "
                    "`make peers` makes an environment for it."
                ) from error
            except subprocess.TimeoutExpired as error:
                output = (error.output or b"").decode(errors="replace")
                raise _failed(names, f"took over {LONGEST_SECONDS // 3600} hours.", output) from None
        output = done.stdout.decode(errors="replace")
        if done.returncode:
            raise _failed(names, f"ended with status {done.returncode}.", output)
        return output


def _failed(names: Sequence[str], what: str, output: str) -> EvaluationError:
    lines = [line for line in output.splitlines() if line.strip()][-LAST_LINES:]
    printed = "\nIt said last:\n" + "\n".join(lines) if lines else "\nIt said nothing."
    return EvaluationError(f"The peer {', '.join(names)} {what}{printed}")


def _peer_settings(system: System) -> dict[str, Any]:
    """Return the settings of a peer, and a hash of its script and versions."""
    here = Path(__file__).parent
    script = here / f"{system.module.rpartition('.')[2]}.py"
    return {**system.settings, "code": _hash([script, here / "exchange.py", here / "requirements.txt"])}


def _hash(files: Iterable[Path]) -> str:
    return sha256(b"".join(file.read_bytes() for file in files)).hexdigest()[:12]


def _figures(run: Run, material: Material) -> Figures:
    measured = quality(run.rankings, material.judged)
    return {
        "system": run.system,
        "data": material.judged.name,
        "documents": len(material.judged),
        "of_documents": material.of_documents,
        "missing_documents": material.missing,
        "queries": len(material.judged.queries),
        **{name: measured[name] for name in _QUALITY},
        "most_returned": max(map(len, run.rankings.values())),
        **{name: getattr(run.figures, name) for name in _TIMES},
        "to_ours": {},
        "versions": run.figures.versions,
        "settings": run.figures.settings,
        "cores": run.figures.cores,
        "measured": run.figures.measured.isoformat(timespec="seconds"),
        "kept": run.kept,
    }


def _row(one: Figures) -> list[str]:
    few = f" ({one['most_returned']})" if one["most_returned"] < DEPTH else ""
    shares = (one["to_ours"][name] for name in _SHOWN)
    return [
        one["system"],
        f"{one['ndcg@10']:.4f}",
        f"{one['map@10']:.4f}",
        f"{one['recall@100']:.4f}{few}",
        f"{one['ms_per_query']:.1f}",
        f"{one['build_seconds']:.1f}",
        " ".join("-" if part is None else f"{part:.2f}" if part < 10 else f"{part:.0f}" for part in shares),
    ]


def _notes(compared: Sequence[Figures]) -> Iterator[str]:
    """Yield what the columns mean, what was searched, and what each peer is."""
    yield "ms: the median query. To ours: nDCG@10, the processor's time for a query, and for the build."
    yield "Recall@100 (10): no more than ten documents were returned."
    for one in compared:
        if one["system"] == OURS:
            sample = f" of {one['of_documents']:,}" if one["documents"] < one["of_documents"] else ""
            missing = one["missing_documents"]
            lacking = f" ({counted(missing, 'relevant document')} missing)" if missing else ""
            searched = f"{one['documents']:,}{sample} documents{lacking}"
            yield f"{one['data']}: {searched}, {one['queries']:,} queries"
    names = {one["system"] for one in compared}
    yield from (f"{system.name}: {system.says}" for system in PEERS if system.name in names)
    if kept := sum(one["kept"] for one in compared):
        yield f"{counted(kept, 'run')} measured by an earlier call"


@command("peers")
def peers(
    data: list[Path],
    python: Path,
    *,
    anthology: Path | None = None,
    most_documents: int | None = None,
    peer: list[str] | None = None,
    out_folder: Path = Path("build/peers"),
) -> Report:
    known = [system.name for system in PEERS]
    if unknown := [name for name in peer or () if name not in known]:
        raise EvaluationError(f"There is no peer {unknown[0]!r}. There are {', '.join(known)}.")
    systems = [system for system in PEERS if not peer or system.name in peer]
    try:
        out_folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise EvaluationError(f"The folder {out_folder} cannot be made: {error.strerror}.") from error
    # Peers run in another folder than their caller.
    workplace = Workplace(python.absolute(), out_folder.absolute())
    compared: list[Figures] = []
    rows: list[list[str] | None] = []
    for folder in data:
        material = read_material(folder, anthology, most_documents)
        found = [_figures(run, material) for run in workplace.runs(systems, material)]
        ours = found[0]
        for one in found:
            names = (*_QUALITY, *_TIMES)
            one["to_ours"] = {name: one[name] / ours[name] if ours[name] else None for name in names}
        rows += [None, [ours["data"]], *map(_row, found)]
        compared += found
    head = ("System", "nDCG@10", "MAP@10", "Recall@100", "ms", "build s", "to ours")
    shown = table(head, rows)
    shown.padding = (0, 1, 0, 0)  # so that a line fits into 80 columns
    return Report(compared, [shown, *_notes(compared)])
