"""Builds on the machines of a Ray cluster: this process counts and decides, workers do and write the rest.

A paper's file travels to the worker that reads it, and what is read to the worker that encodes it, which
writes the part; here are names, counts and fingerprints. Ray does again what was lost with a worker.
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
from indexer.build.ray_tasks import THREADS, BlockWorker, Carried, EncodingPlan, identity, prepare_paper
from indexer.build.staging import Staging
from indexer.errors import ParseError
from indexer.parsers.ocr.engines import NO_OCR, OcrOptions
from indexer.prepare.preparer import Task

# Retries of a task or block whose worker was lost.
RETRIES = 3
# Blocks that a worker has: one that it encodes, one that it goes on with.
_BLOCKS_EACH = 2
# Bytes of the object store of a Ray of our own; what does not fit is on the disk for a while.
_STORE = 512 * 2**20
_SECONDS_TO_CONNECT = 5
# Read by Ray when it is loaded: tell nobody of its use, leave accelerators to whoever encodes, do a paper
# whose reading took all memory again no more often than one whose worker died, and print nothing of such
# deaths: the report says what they cost, and standard output is for it alone.
_ENVIRONMENT = {
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",
    "RAY_task_oom_retries": str(RETRIES),
    "RAY_IGNORE_UNHANDLED_ERRORS": "1",
    "RAY_DEDUP_LOGS_SKIP_REGEX": ".",
}


@dataclass(frozen=True, slots=True)
class _RemotePaper:
    """A paper that is prepared and lies with a worker."""

    paper: BuiltPaper
    pdf: Path | None
    pdf_sha256: str
    reference: Any

    @property
    def passage_count(self) -> int:
        return self.paper.staged.passages


@dataclass(frozen=True, slots=True)
class RayEngine:
    """The cluster that this process has joined, with `encoders` encoders, or one on each machine."""

    encoders: int = 0

    def stage(self, work: Work, tasks: Iterator[Task], unread: Unread) -> Generator[Sequence[BuiltPaper]]:
        with _encoding(work, self.encoders) as pool:
            with work.preparer(_RayWorkers()) as preparer:
                for block in blocks(readable(preparer.prepared(tasks), unread)):
                    for paper in block.papers:
                        keep_pdf(paper.pdf, paper.pdf_sha256, work.settings.pdf_path)
                    yield from pool.stage(block)
            yield from pool.rest()


class _RayWorkers:
    """Prepares papers as tasks of Ray; for each one under way a thread waits."""

    def __init__(self) -> None:
        ray = _ray()
        self.at_once = 2 * max(1, int(ray.cluster_resources().get("CPU", 1)))
        self._expected = identity()
        self._task = ray.remote(num_cpus=1, num_returns=2, max_retries=RETRIES)(prepare_paper)

    def prepare(
        self, task: Task, source: Path | bytes | None, notes: tuple[str, ...] = (), ocr: OcrOptions = NO_OCR
    ) -> _RemotePaper:
        ray = _ray()
        carried = _carried(source) if isinstance(source, Path) else source
        outcome, paper = self._task.remote(self._expected, task, carried, notes, ocr)
        try:
            read = ray.get(outcome)
        except ray.exceptions.RayTaskError as error:
            raise error.cause from error
        except _lost() as error:
            raise ParseError(
                f"what read this file was lost {RETRIES + 1} times ({type(error).__name__}); it may take "
                "more memory than there is"
            ) from error
        except ray.exceptions.RayError as error:
            raise _cluster_failed(error) from error
        if isinstance(read, ParseError):
            raise read
        return _RemotePaper(read.paper, task.pdf if read.pdf_sha256 else None, read.pdf_sha256, paper)


class _EncodingPool:
    """Gives blocks to the workers that encode and stage them, and takes them back in order."""

    def __init__(self, staging: Staging, workers: Sequence[Any]) -> None:
        self._staging = staging
        self._most = _BLOCKS_EACH * len(workers)
        # Blocks are taken in order, so that the worker whose turn it is has the fewest.
        self._turns = cycle(workers)
        self._waiting: deque[tuple[Block[_RemotePaper], Any]] = deque()

    def stage(self, block: Block[_RemotePaper]) -> Iterator[Sequence[BuiltPaper]]:
        """Have a block staged; yield the papers of those that are, so that few are under way."""
        references = [paper.reference for paper in block.papers]
        self._waiting.append((block, next(self._turns).stage.remote(block.number, *references)))
        while len(self._waiting) > self._most or (self._waiting and self._is_done(self._waiting[0][1])):
            yield self._staged(*self._waiting.popleft())

    def rest(self) -> Iterator[Sequence[BuiltPaper]]:
        while self._waiting:
            yield self._staged(*self._waiting.popleft())

    def _is_done(self, reference: Any) -> bool:
        done, _ = _ray().wait([reference], timeout=0)
        return bool(done)

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
    """Start what encodes, spread over the machines; the encoder is loaded while the first papers are read."""
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

    It takes no processor that Ray counts: as in a build of one machine, it shares those of what reads.
    """
    ray = _ray()
    strategy = ray.util.scheduling_strategies.NodeAffinitySchedulingStrategy(machine, soft=True)
    options = {"max_restarts": -1, "max_task_retries": RETRIES, "scheduling_strategy": strategy}
    return ray.remote(num_cpus=0, **options)(BlockWorker)


def _carried(file: Path) -> Carried:
    try:
        return Carried(file.name, file.read_bytes())
    except OSError as error:
        raise ParseError(f"the file cannot be read: {error.strerror}") from error


@contextmanager
def open_ray_engine(address: str, encoders: int) -> Iterator[RayEngine]:
    """Join a cluster, or start a Ray of our own for as long; raises CorpusError where neither can be had."""
    # Before Ray is loaded, which reads it.
    os.environ.update(_ENVIRONMENT)
    ray = _ray()
    _check_address(address)
    own = {"num_cpus": cores(), "object_store_memory": _STORE, "include_dashboard": False}
    # Workers import the code from where it lies here, or by a PYTHONPATH of theirs.
    job = ray.job_config.JobConfig(code_search_path=[str(PROJECT)])
    where = {"address": address} if address else {"address": "local", **own}
    try:
        # LanceDB warns of every fork; those that Ray starts become other programs at once.
        with warnings.catch_warnings(action="ignore", category=RuntimeWarning):
            ray.init(**where, job_config=job, log_to_driver=False, logging_level="ERROR")
    except (OSError, RuntimeError, ValueError, ray.exceptions.RayError) as error:
        raise CorpusError(_unreachable(address, error)) from error
    try:
        yield RayEngine(encoders)
    finally:
        ray.shutdown()


def _check_address(address: str) -> None:
    """Raise CorpusError for a cluster that does not answer: Ray itself would try for a minute."""
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
    said = str(error).strip().partition("\n")[0].rstrip(".") or type(error).__name__
    if not address:
        return f"Ray cannot be started on this machine: {said}."
    return (
        f"The Ray cluster at {address} cannot be joined: {said}. See that it runs (ray start --head there, "
        "ray start --address on the other machines and this one), and, where it asks for a token, that "
        "RAY_AUTH_MODE=token is set here and the token is the same."
    )


def _cluster_failed(error: Exception) -> CorpusError:
    return CorpusError(
        f"The Ray cluster failed ({type(error).__name__}). What was built so far is kept; run the same again."
    )


def _lost() -> tuple[type[Exception], ...]:
    """Return the errors that Ray raises for a task whose worker died each time."""
    errors = _ray().exceptions
    return errors.WorkerCrashedError, errors.OutOfMemoryError, errors.NodeDiedError


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
