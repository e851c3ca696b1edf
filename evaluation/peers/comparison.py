"""Compares our search with other systems (peers): each runs in its own process, all are scored alike."""

import json
import os
import random
import subprocess
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path

from pydantic import BaseModel, Field, ValidationError

from corpus import VERSION
from corpus.encoder_choice import open_encoder
from corpus.encoders.batching import cores
from corpus.settings import PROJECT, Settings
from corpus.wording import counted
from evaluation.harness import Figures, Report, command, say, table
from evaluation.input_files import EvaluationError, first_fault, make_folder, read_text
from evaluation.peers.peer import PEERS, record_run
from evaluation.retrieval import (
    Document,
    JudgedCollection,
    SearchSetup,
    missing_documents,
    quality,
    read_judged,
    read_queries,
    search_collection,
)

SAMPLE_SEED = 13
LONGEST_SECONDS = 3 * 3600
LAST_LINES = 12
OURS = "ours"
# Figures of a peer that are also reported as ratios to ours.
_COMPARED = (
    *("ndcg@10", "map@10", "recall@100", "ms_per_query", "processor_ms_per_query"),
    *("build_seconds", "build_processor_seconds"),
)


@dataclass(frozen=True, slots=True)
class Material:
    """A judged collection, or a sample of it.

    `of_documents` is the number of documents before sampling, `missing` the number of relevant documents that
    the collection lacks.
    """

    judged: JudgedCollection
    of_documents: int
    missing: int

    @property
    def texts(self) -> str:
        """The documents (title, then text, as we index them) and the queries as JSON lines."""
        records = [
            {"kind": "document", "id": document.id, "text": f"{document.title}\n{document.text}".strip()}
            for document in self.judged.documents
        ]
        queries = self.judged.queries.items()
        records += [{"kind": "query", "id": query, "text": text} for query, text in queries]
        return "".join(f"{json.dumps(record)}\n" for record in records)


def read_material(folder: Path, anthology: Path | None = None, most: int | None = None) -> Material:
    """Read the queries of a folder with its documents or, if it has none, the Anthology's papers.

    `most` limits the documents to a sample. Raises EvaluationError.
    """
    if (folder / "corpus.jsonl").exists():
        judged = read_judged(folder)
    elif anthology is None:
        raise EvaluationError(
            f"{folder} has no corpus.jsonl. Use --anthology if its documents are the Anthology's papers."
        )
    else:
        queries = read_queries(folder)
        papers = tuple(_anthology_papers(anthology))
        judged = JudgedCollection(queries.name, queries.queries, queries.gains, papers)
    known = [document.id for document in judged.documents]
    if len(set(known)) < len(known):
        raise EvaluationError(f"{judged.name} has two documents with the same id.")
    missing = missing_documents(judged, known)
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


def _sample(judged: JudgedCollection, most: int) -> tuple[Document, ...]:
    """Return all relevant documents and a random sample of others, in the order of the collection."""
    relevant = set(judged.relevant)
    others = sorted(document.id for document in judged.documents if document.id not in relevant)
    relevant_count = len(judged) - len(others)
    if most < relevant_count:
        raise EvaluationError(
            f"{judged.name} has {relevant_count} relevant documents: --most-documents must be at least that."
        )
    sampled = relevant.union(
        random.Random(SAMPLE_SEED).sample(others, min(most - relevant_count, len(others)))
    )
    return tuple(document for document in judged.documents if document.id in sampled)


class Run(BaseModel, frozen=True):
    """The rankings and times of a system; date and number of cores are added when the run is stored."""

    build_seconds: float = Field(ge=0, allow_inf_nan=False)
    build_processor_seconds: float = Field(ge=0, allow_inf_nan=False)
    ms_per_query: float = Field(gt=0, allow_inf_nan=False)
    processor_ms_per_query: float = Field(gt=0, allow_inf_nan=False)
    versions: dict[str, str]
    rankings: dict[str, tuple[str, ...]] = Field(min_length=1)
    measured: datetime = Field(default_factory=lambda: datetime.now(UTC))
    cores: int = Field(default_factory=cores)


def read_run(path: Path, judged: JudgedCollection) -> Run:
    """Read a run; raises EvaluationError that names the fault."""
    try:
        run = Run.model_validate_json(read_text(path))
    except ValidationError as error:
        raise EvaluationError(f"{path} is not a run: {first_fault(error, 'the file')}.") from None
    known = {document.id for document in judged.documents}
    for query, ranking in run.rankings.items():
        if query not in judged.queries or not known.issuperset(ranking) or len(set(ranking)) < len(ranking):
            raise EvaluationError(
                f"{path} ranks an unknown document or query, or a document twice: {query!r}."
            )
    return run


@dataclass(frozen=True, slots=True)
class Workplace:
    """The Python interpreter that has the peers' packages, and the folder of stored runs."""

    python: Path
    out: Path

    def runs(self, peers: Sequence[str], material: Material) -> Iterator[tuple[str, Run, bool]]:
        """Yield each system's name and run, ours first, and whether the run was stored by an earlier call.

        Raises EvaluationError.
        """
        encoder = open_encoder(Settings(home=self.out))
        packages = (path for package in ("corpus", "indexer") for path in (PROJECT / package).rglob("*"))
        code = sorted(path for path in packages if path.suffix in {".py", ".toml", ".txt"})
        yield OURS, *self._run(OURS, f"{encoder.name} {encoder.runtime} {_hash(code)}", material)
        here = Path(__file__).parent
        peer_code = _hash([here / "peer.py", here / "requirements.txt"])
        for name in peers:
            yield name, *self._run(name, peer_code, material)

    def _run(self, name: str, code: str, material: Material) -> tuple[Run, bool]:
        """Return the stored run for this material and code, or make and store it."""
        judged = material.judged
        gains = {query: dict(judged.gains[query]) for query in judged.queries}
        key = sha256(json.dumps([name, code, material.texts, gains]).encode()).hexdigest()[:12]
        stored = self.out / f"{judged.name}-{name}-{key}.json"
        if stored.exists():
            try:
                return read_run(stored, judged), True
            except EvaluationError as error:
                raise EvaluationError(f"{error} Delete the file to measure again.") from None
        say(f"{judged.name}: {name}")
        with tempfile.TemporaryDirectory(dir=self.out) as folder:
            new_run = Path(folder, "run.json")
            output = _search(material, new_run) if name == OURS else self._start(name, material, new_run)
            try:
                run = read_run(new_run, judged)
            except EvaluationError as error:
                raise _failed(name, f"wrote no valid run: {error}", output) from None
            new_run.write_text(run.model_dump_json(), encoding="utf-8")
            new_run.replace(stored)
        return run, False

    def _start(self, name: str, material: Material, run: Path) -> str:
        """Start a peer's process, which writes its run, and return the output of the process."""
        texts = run.with_name("texts.jsonl")
        texts.write_text(material.texts, encoding="utf-8")
        environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
        try:
            done = subprocess.run(  # noqa: S603 - our own module, run by the interpreter that the user named
                [str(self.python), "-m", "evaluation.peers.peer", name, str(texts), str(run)],
                cwd=PROJECT,
                env={**environment, "HF_HUB_OFFLINE": "1"},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                timeout=LONGEST_SECONDS,
                check=False,
            )
        except OSError as error:
            raise EvaluationError(
                f"The peer {name} cannot be started by {self.python}: {error.strerror}. `make peers` creates"
                " an environment for it."
            ) from error
        except subprocess.TimeoutExpired as error:
            output = (error.output or b"").decode(errors="replace")
            raise _failed(name, f"took over {LONGEST_SECONDS // 3600} hours.", output) from None
        output = done.stdout.decode(errors="replace")
        if done.returncode:
            raise _failed(name, f"ended with status {done.returncode}.", output)
        return output


def _search(material: Material, run: Path) -> str:
    """Write the run of our own search."""
    by_mode, build_time = search_collection(material.judged, SearchSetup(), ("hybrid",))
    rankings = by_mode["hybrid"]
    record = record_run(rankings.by_query, build_time, rankings.times, {"paper-trail": VERSION})
    run.write_text(json.dumps(record), encoding="utf-8")
    return ""


def _failed(name: str, problem: str, output: str) -> EvaluationError:
    lines = [line for line in output.splitlines() if line.strip()][-LAST_LINES:]
    printed = "\nIts last output:\n" + "\n".join(lines) if lines else "\nIt printed nothing."
    return EvaluationError(f"The peer {name} {problem}{printed}")


def _hash(files: Iterable[Path]) -> str:
    return sha256(b"".join(file.read_bytes() for file in files)).hexdigest()[:12]


def _figures(name: str, run: Run, material: Material, *, kept: bool) -> Figures:
    return {
        "system": name,
        "data": material.judged.name,
        "documents": len(material.judged),
        "of_documents": material.of_documents,
        "missing_documents": material.missing,
        "queries": len(material.judged.queries),
        **quality(run.rankings, material.judged),
        **run.model_dump(mode="json", exclude={"rankings"}),
        "kept": kept,
    }


def _row(figures: Figures) -> list[str]:
    names = ("ndcg@10", "processor_ms_per_query", "build_processor_seconds")
    ratios = (figures["to_ours"][name] for name in names)
    return [
        figures["system"],
        *(f"{figures[name]:.4f}" for name in ("ndcg@10", "map@10", "recall@100")),
        f"{figures['ms_per_query']:.1f}",
        f"{figures['build_seconds']:.1f}",
        " ".join("-" if ratio is None else f"{ratio:.2f}" for ratio in ratios),
    ]


def _describe_material(figures: Figures) -> str:
    sample = f" of {figures['of_documents']:,}" if figures["documents"] < figures["of_documents"] else ""
    missing = figures["missing_documents"]
    lacking = f" ({counted(missing, 'relevant document')} missing)" if missing else ""
    documents = f"{figures['documents']:,}{sample} documents{lacking}"
    return f"{figures['data']}: {documents}, {figures['queries']:,} queries"


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
    if unknown := [name for name in peer or () if name not in PEERS]:
        raise EvaluationError(f"There is no peer {unknown[0]!r}. There are {', '.join(PEERS)}.")
    make_folder(out_folder)
    # Peers run in another working directory than their caller.
    workplace = Workplace(python.absolute(), out_folder.absolute())
    compared: list[Figures] = []
    rows: list[list[str] | None] = []
    for folder in data:
        material = read_material(folder, anthology, most_documents)
        runs = workplace.runs([name for name in PEERS if not peer or name in peer], material)
        systems = [_figures(name, run, material, kept=kept) for name, run, kept in runs]
        ours = systems[0]
        for figures in systems:
            figures["to_ours"] = {
                name: figures[name] / ours[name] if ours[name] else None for name in _COMPARED
            }
        rows += [None, [ours["data"]], *map(_row, systems)]
        compared += systems
    comparison = table(("System", "nDCG@10", "MAP@10", "Recall@100", "ms", "build s", "to ours"), rows)
    comparison.padding = (0, 1, 0, 0)  # so that a line fits into 80 columns
    notes = ["ms: the median query. To ours: nDCG@10, the processor's time for a query, and for the build."]
    notes += [_describe_material(figures) for figures in compared if figures["system"] == OURS]
    if kept := sum(figures["kept"] for figures in compared):
        notes.append(f"{counted(kept, 'run')} measured by an earlier call")
    return Report(compared, [comparison, *notes])
