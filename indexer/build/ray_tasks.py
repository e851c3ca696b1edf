"""Tasks of a build on the machines of a cluster: prepare papers, encode and stage blocks.

Nothing here imports Ray. Results are the same on every machine with the same code, packages and staging
folder; a machine that differs raises CorpusError.
"""

import hashlib
import os
from dataclasses import dataclass, replace
from functools import cache
from importlib import metadata
from pathlib import Path
from socket import gethostname
from tempfile import TemporaryDirectory

from corpus.encoder_choice import SharedEncoder
from corpus.errors import CorpusError
from corpus.places.place import Place
from corpus.settings import PROJECT
from indexer.build.encode import Block, BlockEncoder, stage
from indexer.build.engines import BuiltPaper
from indexer.errors import ParseError
from indexer.parsers.ocr.engines import OcrOptions
from indexer.prepare.preparer import LocalWorkers, PreparedPaper, Task

_CODE = ("corpus", "indexer")
# Packages that determine papers and vectors; "rapidocr" is optional.
_PACKAGES = (
    *("lxml", "markdown-it-py", "numpy", "onnxruntime", "py3langid", "pyarrow", "pypdfium2", "pystemmer"),
    *("python-docx", "rapidocr", "sentence-transformers", "tokenizers", "torch", "transformers"),
)
THREADS = "OMP_NUM_THREADS"


@dataclass(frozen=True, slots=True)
class SentFile:
    """A file of the driver's machine, under the name that reports use."""

    name: str
    content: bytes


@dataclass(frozen=True, slots=True)
class PaperSummary:
    """A prepared paper as the driver sees it; its passages go from worker to worker."""

    paper: BuiltPaper
    pdf_sha256: str


@cache
def identity() -> str:
    """Return a hash of the code and of the versions of the packages it depends on."""
    digest = hashlib.sha256()
    files = (file for package in _CODE for file in (PROJECT / package).rglob("*") if file.is_file())
    for file in sorted(file for file in files if "__pycache__" not in file.parts):
        digest.update(f"{file.relative_to(PROJECT).as_posix()}\0".encode())
        digest.update(hashlib.sha256(file.read_bytes()).digest())
    for package in _PACKAGES:
        digest.update(f"{package} {_version(package)}\0".encode())
    return digest.hexdigest()


def _version(package: str) -> str:
    try:
        # After a plus comes the build variant, CPU or CUDA.
        return metadata.version(package).partition("+")[0]
    except metadata.PackageNotFoundError:
        return ""


def _check(expected: str) -> None:
    """Raise CorpusError on a machine with another state of the code or of the packages."""
    if identity() != expected:
        raise CorpusError(
            f"The machine {gethostname()} has another version of Paper Trail, or of a package that it stands "
            "on, than the one that builds. Install the same on all, and start Ray anew there."
        )


def prepare_paper(
    expected: str, task: Task, source: SentFile | bytes | None, notes: tuple[str, ...], ocr: OcrOptions
) -> tuple[PaperSummary | ParseError, PreparedPaper | None]:
    """Prepare a paper in a separate process; raises CorpusError on a machine whose code differs."""
    _check(expected)
    try:
        paper = _prepared(task, source, notes, ocr)
    except ParseError as error:
        return error, None
    return PaperSummary(BuiltPaper.of(paper), paper.paper.pdf_sha256), replace(paper, pdf=None)


def _prepared(
    task: Task, source: SentFile | bytes | None, notes: tuple[str, ...], ocr: OcrOptions
) -> PreparedPaper:
    workers = LocalWorkers(at_once=1)
    if not isinstance(source, SentFile):
        return workers.prepare(task, source, notes, ocr)
    with TemporaryDirectory(prefix=f"paper-trail-{os.getpid()}-") as folder:
        file = Path(folder, source.name)
        file.write_bytes(source.content)
        return workers.prepare(task, file, notes, ocr)


@dataclass(frozen=True, slots=True)
class EncodingPlan:
    """Where blocks are staged, and with which encoder.

    `threads` is the driver's OMP_NUM_THREADS: Ray sets it to 1 in its workers.
    """

    expected: str
    encoder: SharedEncoder
    staging: Place
    key: str
    threads: str | None


class BlockWorker:
    """Loads the encoder once and stages blocks."""

    def __init__(self, plan: EncodingPlan) -> None:
        self._plan = plan
        self._encoder: BlockEncoder | None = None

    def open(self) -> BlockEncoder:
        """Return the encoder, loaded on first use; raises CorpusError on a machine whose code differs."""
        if self._encoder is None:
            _check(self._plan.expected)
            os.environ.pop(THREADS, None)
            if self._plan.threads is not None:
                os.environ[THREADS] = self._plan.threads
            self._encoder = BlockEncoder(self._plan.encoder.open())
        return self._encoder

    def ready(self) -> None:
        """Load the encoder before it is needed."""
        self.open()

    def stage(self, number: int, *papers: PreparedPaper) -> str:
        """Encode and stage a block; return the part's name. Raises CorpusError."""
        encoded = self.open().encode(Block(number, papers))
        return stage(self._plan.staging, self._plan.key, encoded)
