"""Builds on a Ray cluster: this process schedules and counts, workers read, encode and stage.

A paper's file is sent to the worker that reads it, and the prepared paper to the worker that encodes it and
writes the part; this process sees names, counts and fingerprints. Ray repeats the tasks of a lost worker.
"""

import os
import socket
import warnings
from collections import deque
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import cycle, islice
from pathlib import Path
from typing import Any
from uuid import uuid4

from corpus.encoder_choice import share_encoder
from corpus.encoders.batching import cores
from corpus.errors import CorpusError
from corpus.settings import PROJECT
from indexer.build.encode import Block, blocks, keep_pdf
from indexer.build.engines import BuiltPaper, Unread, Work, readable
from indexer.build.ray_tasks import THREADS, BlockWorker, EncodingPlan, SentFile, identity, prepare_paper
from indexer.build.staging import Staging
from indexer.errors import ParseError
from indexer.parsers.ocr.engines import NO_OCR, OcrOptions
from indexer.prepare.preparer import Task

# Retries of a task or block whose worker was lost.
RETRIES = 3
# Blocks per worker: one being encoded and the next.
_BLOCKS_EACH = 2
# Bytes of the object store of a local Ray; Ray spills what does not fit to disk.
_STORE = 512 * 2**20
_SECONDS_TO_CONNECT = 5
# Read when Ray is imported: no usage statistics, accelerators left visible to the encoders, as many retries
# after running out of memory as after a crash, and no messages on standard output, which is for the report.
_ENVIRONMENT = {
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",
    "RAY_task_oom_retries": str(RETRIES),
    "RAY_IGNORE_UNHANDLED_ERRORS": "1",
    "RAY_DEDUP_LOGS_SKIP_REGEX": ".",
}


@dataclass(frozen=True, slots=True)
class _RemotePaper:
    """A prepared paper that a worker holds; `reference` is Ray's reference to it."""

    paper: BuiltPaper
    pdf: Path | None
    pdf_sha256: str
    reference: Any

    @property
    def passage_count(self) -> int:
        return self.paper.staged.passages


@dataclass(frozen=True, slots=True)
class RayEngine:
    """A build engine on the joined cluster, with `encoders` encoders, 0 for one per machine."""

    encoders: int = 0

    def stage(self, work: Work, tasks: Iterator[Task], unread: Unread) -> Generator[Sequence[BuiltPaper]]:
        with _encoding(work, self.encoders) as pool:
            with work.preparer(_RayWorkers()) as preparer:
                for block in blocks(readable(preparer.prepared(tasks), unread)):
                    for paper in block.papers:
                        keep_pdf(paper.pdf, paper.pdf_sha256, work.settings.pdf_path)
                    yield from pool.stage(block)
            yield from pool.drain()


class _RayWorkers:
    """Prepares papers as Ray tasks; one thread waits for each."""

    def __init__(self) -> None:
        ray = _ray()
        self.at_once = 2 * max(1, int(ray.cluster_resources().get("CPU", 1)))
        self._expected = identity()
        self._task = ray.remote(num_cpus=1, num_returns=2, max_retries=RETRIES)(prepare_paper)

    def prepare(
        self, task: Task, source: Path | bytes | None, notes: tuple[str, ...] = (), ocr: OcrOptions = NO_OCR
    ) -> _RemotePaper:
        ray = _ray()
        content: SentFile | bytes | None = None if isinstance(source, Path) else source
        if isinstance(source, Path):
            try:
                content = SentFile(source.name, source.read_bytes())
            except OSError as error:
                raise ParseError(f"the file cannot be read: {error.strerror}") from error
        outcome, paper = self._task.remote(self._expected, task, content, notes, ocr)
        lost = (
            ray.exceptions.WorkerCrashedError,
            ray.exceptions.OutOfMemoryError,
            ray.exceptions.NodeDiedError,
        )
        try:
            summary = ray.get(outcome)
        except ray.exceptions.RayTaskError as error:
            raise error.cause from error
        except lost as error:
            raise ParseError(
                f"what read this file was lost {RETRIES + 1} times ({type(error).__name__}); it may take "
                "more memory than there is"
            ) from error
        except ray.exceptions.RayError as error:
            raise CorpusError(
                f"The Ray cluster failed ({type(error).__name__}). What was built so far is kept; run the "
                "same again."
            ) from error
        if isinstance(summary, ParseError):
            raise summary
        shown = task.pdf if summary.pdf_sha256 else None
        return _RemotePaper(summary.paper, shown, summary.pdf_sha256, paper)


class _EncodingPool:
    """Hands blocks to the encoding workers and takes them back in order."""

    def __init__(self, staging: Staging, workers: Sequence[Any]) -> None:
        self._staging = staging
        self._most = _BLOCKS_EACH * len(workers)
        # Blocks finish in order, so the next worker of the cycle has the fewest.
        self._turns = cycle(workers)
        self._waiting: deque[tuple[Block[_RemotePaper], Any]] = deque()

    def stage(self, block: Block[_RemotePaper]) -> Iterator[Sequence[BuiltPaper]]:
        """Submit a block; yield the papers of finished blocks, which bounds the blocks in flight."""
        references = [paper.reference for paper in block.papers]
        self._waiting.append((block, next(self._turns).stage.remote(block.number, *references)))
        while self._waiting:
            done, _ = _ray().wait([self._waiting[0][1]], timeout=0)
            if not done and len(self._waiting) <= self._most:
                return
            yield self._staged(*self._waiting.popleft())

    def drain(self) -> Iterator[Sequence[BuiltPaper]]:
        while self._waiting:
            yield self._staged(*self._waiting.popleft())

    def _staged(self, block: Block[_RemotePaper], reference: Any) -> Sequence[BuiltPaper]:
        ray = _ray()
        papers = [paper.paper for paper in block.papers]
        try:
            part = ray.get(reference)
        except ray.exceptions.RayTaskError as error:
            raise error.cause from error
        except ray.exceptions.RayError as error:
            names = f"{papers[0].name} to {papers[-1].name}" if len(papers) > 1 else papers[0].name
            raise CorpusError(
                f"What encodes the papers {names} was lost {RETRIES + 1} times ({type(error).__name__}). "
                "What was built so far is kept; see that there is memory enough, and run the same again."
            ) from error
        self._staging.add(part, [paper.staged for paper in papers])
        return papers


@contextmanager
def _encoding(work: Work, count: int) -> Iterator[_EncodingPool]:
    """Start encoding workers, spread over the machines; they load the encoder while papers are read."""
    ray = _ray()
    place = work.settings.model_copy(update={"home": work.settings.home.absolute()}).staging_path
    key = work.staging.key
    shared = share_encoder(work.settings, work.encoder, place / f"{uuid4().hex[:12]}-{key}.encoder")
    plan = EncodingPlan(identity(), shared, place, key, os.environ.get(THREADS))
    machines = [node["NodeID"] for node in ray.nodes() if node["Alive"]]
    turns = islice(cycle(machines), count or len(machines))
    workers = [_on_machine(machine).remote(plan) for machine in turns]
    for worker in workers:
        worker.ready.remote()
    try:
        yield _EncodingPool(work.staging, workers)
    finally:
        shared.file.delete()


def _on_machine(machine: str) -> Any:
    """Return the factory of encoding workers on a machine, or elsewhere if that machine is lost.

    Encoding workers reserve no CPU of Ray's: as in a local build, they share the cores with the parsers.
    """
    ray = _ray()
    strategy = ray.util.scheduling_strategies.NodeAffinitySchedulingStrategy(machine, soft=True)
    options = {"max_restarts": -1, "max_task_retries": RETRIES, "scheduling_strategy": strategy}
    return ray.remote(num_cpus=0, **options)(BlockWorker)


@contextmanager
def open_ray_engine(address: str, encoders: int) -> Iterator[RayEngine]:
    """Join a cluster, or start a local Ray for this build; raises CorpusError where neither works."""
    # Ray reads the environment when it is imported.
    os.environ.update(_ENVIRONMENT)
    ray = _ray()
    _check_address(address)
    local = {"num_cpus": cores(), "object_store_memory": _STORE, "include_dashboard": False}
    # Workers import the code from the same path, or from their own PYTHONPATH.
    job = ray.job_config.JobConfig(code_search_path=[str(PROJECT)])
    where = {"address": address} if address else {"address": "local", **local}
    try:
        # LanceDB warns of every fork; Ray's forks exec at once and are safe.
        with warnings.catch_warnings(action="ignore", category=RuntimeWarning):
            ray.init(**where, job_config=job, log_to_driver=False, logging_level="ERROR")
    except (OSError, RuntimeError, ValueError, ray.exceptions.RayError) as error:
        raise CorpusError(_unreachable(address, error)) from error
    try:
        yield RayEngine(encoders)
    finally:
        ray.shutdown()


def _check_address(address: str) -> None:
    """Raise CorpusError for a cluster that does not answer; Ray itself would retry for a minute."""
    host, _, port = address.rpartition(":")
    if not host:
        return
    if "/" in host or not port.isdecimal():
        raise CorpusError(
            f"{address!r} is no address of a cluster that a build can join. Start Ray on this machine too, "
            "and give the address of the cluster's head, such as 10.0.0.1:6379, or auto."
        )
    try:
        socket.create_connection((host, int(port)), _SECONDS_TO_CONNECT).close()
    except (OSError, OverflowError) as error:
        raise CorpusError(_unreachable(address, error)) from error


def _unreachable(address: str, error: Exception) -> str:
    reason = str(error).strip().partition("\n")[0].rstrip(".") or type(error).__name__
    if not address:
        return f"Ray cannot be started on this machine: {reason}."
    return (
        f"The Ray cluster at {address} cannot be joined: {reason}. See that it runs (ray start --head there, "
        "ray start --address on the other machines and this one), and, where it asks for a token, that "
        "RAY_AUTH_MODE=token is set here and the token is the same."
    )


def _ray() -> Any:
    try:
        import ray  # noqa: PLC0415 - optional, and a second to load
        import ray.job_config  # noqa: PLC0415
        import ray.util.scheduling_strategies  # noqa: PLC0415
    except ImportError as error:
        raise CorpusError(
            "Builds on a cluster need Ray, which is not installed. Install it on every machine with: "
            "pip install 'paper-trail[cluster]'"
        ) from error
    return ray
