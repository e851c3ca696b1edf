"""Runs of the systems: each made by a process of its own, checked, and kept, so that none is made twice."""

import json
import os
import subprocess
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import sha256
from itertools import groupby
from pathlib import Path
from typing import Any

from corpus import VERSION
from corpus.encoder_choice import open_encoder
from corpus.encoders import cores
from corpus.settings import Settings
from evaluation.input_files import EvaluationError
from evaluation.peers.exchange import figures_of, write_run
from evaluation.peers.material import Material
from evaluation.peers.run_files import KeptFigures, RunFigures, read_figures, read_rankings
from evaluation.peers.systems import OURS, System
from evaluation.retrieval import HowSearched, search_collection

PROJECT = Path(__file__).resolve().parents[2]
LONGEST_SECONDS = 3 * 3600
LAST_LINES = 12


@dataclass(frozen=True, slots=True)
class Run:
    """What a system ranked, each query's documents best first; `kept`: an earlier call has measured it."""

    system: str
    rankings: Mapping[str, Sequence[str]]
    figures: KeptFigures
    kept: bool


@dataclass(frozen=True, slots=True)
class _Place:
    """Where the run of a system is kept, and under which settings it was made."""

    system: str
    settings: Mapping[str, Any]
    path: Path

    @property
    def rankings(self) -> Path:
        return self.path.with_name(f"{self.path.name}.tsv")

    @property
    def figures(self) -> Path:
        return self.path.with_name(f"{self.path.name}.json")


@dataclass(frozen=True, slots=True)
class Workplace:
    """Where runs are made: the Python that has the peers, and the folder in which runs are kept."""

    python: Path
    out: Path
    say: Callable[[str], None]

    def runs(self, systems: Sequence[System], material: Material) -> Iterator[Run]:
        """Yield our own run, then the peers'; raises EvaluationError for a peer that fails."""
        yield self._ours(material)
        for _, group in groupby(systems, key=lambda one: (one.module, json.dumps(one.settings["build"]))):
            yield from self._of_one_index(list(group), material)

    def _ours(self, material: Material) -> Run:
        encoder = open_encoder(Settings(home=self.out))
        settings = {"encoder": encoder.name, "runtime": encoder.runtime, "code": _hash(_our_code())}
        place = self._place(OURS, settings, material)
        if kept := _kept(place, material):
            return kept
        self.say(f"{material.judged.name}: {OURS}")
        found, built = search_collection(material.judged, HowSearched())
        rankings = {
            query: [(document, 1 / rank) for rank, document in enumerate(ranking, start=1)]
            for query, ranking in found.rankings.items()
        }
        figures = {**figures_of(built, found.taken), "versions": {"paper-trail": VERSION}}
        with tempfile.TemporaryDirectory(dir=self.out) as folder:
            write_run(Path(folder), OURS, rankings, figures)
            return _keep(Path(folder), place, material)

    def _of_one_index(self, systems: Sequence[System], material: Material) -> Sequence[Run]:
        """Return the runs of systems that share an index; their process is started unless all are kept."""
        places = [self._place(one.name, _peer_settings(one), material) for one in systems]
        if all(kept := [_kept(place, material) for place in places]):
            return [run for run in kept if run]
        self.say(f"{material.judged.name}: {', '.join(one.name for one in systems)}")
        with tempfile.TemporaryDirectory(dir=self.out) as folder:
            data, written = Path(folder) / "data", Path(folder) / "written"
            data.mkdir()
            written.mkdir()
            material.write(data)
            said = self._start(systems, data, written)
            try:
                return [_keep(written, place, material) for place in places]
            except EvaluationError as error:
                raise EvaluationError(f"{_named(systems)} wrote no run: {error}{_end_of(said)}") from None

    def _start(self, systems: Sequence[System], data: Path, written: Path) -> str:
        """Have a peer's process write its runs, and return what it said."""
        module, names = systems[0].module, [one.name for one in systems]
        command = [str(self.python), "-m", module, str(data), str(written), *names]
        try:
            done = subprocess.run(  # noqa: S603 - a module of ours, by the Python that was named
                command,
                cwd=PROJECT,
                env=_environment(),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                timeout=LONGEST_SECONDS,
                check=False,
            )
        except OSError as error:
            raise EvaluationError(
                f"{_named(systems)} cannot be started by {self.python}: {error.strerror}. "
                "`make peers` makes an environment for it."
            ) from error
        except subprocess.TimeoutExpired as error:
            said = (error.output or b"").decode(errors="replace")
            hours = LONGEST_SECONDS // 3600
            raise EvaluationError(f"{_named(systems)} took over {hours} hours.{_end_of(said)}") from None
        said = done.stdout.decode(errors="replace")
        if done.returncode:
            raise EvaluationError(f"{_named(systems)} ended with status {done.returncode}.{_end_of(said)}")
        return said

    def _place(self, system: str, settings: Mapping[str, Any], material: Material) -> _Place:
        made_of = json.dumps([system, settings, material.key], sort_keys=True)
        key = sha256(made_of.encode()).hexdigest()[:12]
        return _Place(system, settings, self.out / f"{material.judged.name}-{system}-{key}")


def _keep(written: Path, place: _Place, material: Material) -> Run:
    """Check what a system wrote and put it where it is kept; the figures last, they say that all is there."""
    rankings_file, figures_file = (written / f"{place.system}.{ending}" for ending in ("tsv", "json"))
    rankings = read_rankings(rankings_file, material.judged)
    figures = KeptFigures(
        **read_figures(figures_file, RunFigures).model_dump(),
        measured=datetime.now(UTC),
        cores=cores(),
        settings=dict(place.settings),
    )
    figures_file.write_text(figures.model_dump_json(), encoding="utf-8")
    rankings_file.replace(place.rankings)
    figures_file.replace(place.figures)
    return Run(place.system, rankings, figures, kept=False)


def _kept(place: _Place, material: Material) -> Run | None:
    if not place.figures.exists():
        return None
    try:
        rankings = read_rankings(place.rankings, material.judged)
        return Run(place.system, rankings, read_figures(place.figures, KeptFigures), kept=True)
    except EvaluationError as error:
        raise EvaluationError(f"{error} Delete {place.figures}, and it is measured again.") from None


def _peer_settings(system: System) -> dict[str, Any]:
    """Return what a peer is set to, and by what: another script or another version makes another run."""
    here = Path(__file__).parent
    script = here / f"{system.module.rpartition('.')[2]}.py"
    return {**system.settings, "code": _hash([script, here / "exchange.py", here / "requirements.txt"])}


def _our_code() -> list[Path]:
    """Return the files that may change what our search finds."""
    found = (PROJECT / package for package in ("corpus", "indexer"))
    return sorted(
        path for package in found for path in package.rglob("*") if path.suffix in {".py", ".toml", ".txt"}
    )


def _hash(files: Iterable[Path]) -> str:
    digest = sha256()
    for file in files:
        digest.update(file.read_bytes())
    return digest.hexdigest()[:12]


def _environment() -> dict[str, str]:
    """Return the environment of a peer: whatever it would ask a network for, it does without."""
    ours = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    return {**ours, "HF_HUB_OFFLINE": "1"}


def _named(systems: Sequence[System]) -> str:
    return f"The peer {', '.join(one.name for one in systems)}"


def _end_of(said: str) -> str:
    lines = [line for line in said.splitlines() if line.strip()][-LAST_LINES:]
    return "\nIt said last:\n" + "\n".join(lines) if lines else "\nIt said nothing."
