"""The engine of a build: the protocol, and the engine that uses processes of this machine."""

from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Literal, Protocol, TypeVar

from corpus.encoders.base import Encoder
from corpus.errors import CorpusError
from corpus.settings import Settings
from indexer.build.encode import BlockEncoder, EncodedBlock, blocks, keep_pdf, stage, staged
from indexer.build.staging import StagedPaper, Staging
from indexer.errors import ParseError
from indexer.parsers.ocr.engines import OcrOptions
from indexer.parsers.registry import TeiParser
from indexer.prepare.preparer import LocalWorkers, PreparedPaper, Preparer, Task, Workers

# Encoded blocks that may wait for the disk: a bound on memory.
_BLOCKS_WAITING = 4

EngineName = Literal["process", "ray"]

_Prepared = TypeVar("_Prepared")

Unread = Callable[[Task, ParseError], None]
"""Called with each paper that cannot be read, and the reason."""


@dataclass(frozen=True, slots=True)
class Work:
    """The settings, encoder, staging and parsers of a build."""

    settings: Settings
    encoder: Encoder
    staging: Staging
    grobid: TeiParser | None
    fall_back: bool
    ocr: OcrOptions

    def preparer(self, workers: Workers[_Prepared]) -> Preparer[_Prepared]:
        return Preparer(workers, self.grobid, fall_back=self.fall_back, ocr=self.ocr)


@dataclass(frozen=True, slots=True)
class BuiltPaper:
    """A finished paper in the report of a build; `name` is the source's name for it."""

    name: str
    title: str
    staged: StagedPaper

    @classmethod
    def of(cls, item: PreparedPaper) -> "BuiltPaper":
        return cls(item.name, item.paper.title, staged(item))


class Engine(Protocol):
    """Prepares, encodes and stages papers."""

    def stage(self, work: Work, tasks: Iterator[Task], unread: Unread) -> Generator[Sequence[BuiltPaper]]:
        """Yield the readable papers, block by block in the order of the tasks.

        All of them are staged when the iterator ends. Raises CorpusError; what was staged before it stays.
        """
        ...


class ProcessEngine:
    """Works in this process and worker processes: preparing, encoding and staging overlap."""

    def stage(self, work: Work, tasks: Iterator[Task], unread: Unread) -> Generator[Sequence[BuiltPaper]]:
        encoder = BlockEncoder(work.encoder)
        waiting: list[Future[None]] = []
        with work.preparer(LocalWorkers()) as preparer, ThreadPoolExecutor(1) as disk:
            for block in blocks(readable(preparer.prepared(tasks), unread)):
                encoded = encoder.encode(block)
                waiting.append(disk.submit(_keep, work.staging, work.settings, encoded))
                if len(waiting) > _BLOCKS_WAITING:
                    waiting.pop(0).result()
                yield [BuiltPaper.of(item) for item in block.papers]
            for future in waiting:
                future.result()


def readable(
    outcomes: Iterator[tuple[Task, _Prepared | ParseError]], unread: Unread
) -> Iterator[tuple[Task, _Prepared]]:
    """Yield the papers that can be read; report the others to `unread`."""
    for task, outcome in outcomes:
        if isinstance(outcome, ParseError):
            unread(task, outcome)
        else:
            yield task, outcome


def _keep(staging: Staging, settings: Settings, block: EncodedBlock) -> None:
    """Keep the PDFs of a block and stage its rows; raises CorpusError."""
    for item in block.papers:
        keep_pdf(item.pdf, item.paper.pdf_sha256, settings.pdf_path)
    part = stage(settings.staging_path, staging.key, block)
    staging.add(part, [staged(item) for item in block.papers])


@contextmanager
def open_engine(name: EngineName, address: str = "", encoders: int = 0) -> Iterator[Engine]:
    """Open the engine of that name; raises CorpusError where it is not available.

    `address` and `encoders` are a cluster's: where it is, and how many workers encode, 0 for one per machine.
    """
    if name == "ray":
        from indexer.build.ray_engine import open_ray_engine  # noqa: PLC0415 - optional

        with open_ray_engine(address, encoders) as engine:
            yield engine
        return
    if address or encoders:
        raise CorpusError("--address and --encoders are of a cluster: add --engine ray.")
    yield ProcessEngine()
