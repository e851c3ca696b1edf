"""Small models that can run on this machine, and the download of their weights from the hub."""

import hashlib
import os
import shutil
import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import httpx2
from pydantic import BaseModel, ConfigDict, Field

from assistant.models.protocol import ModelError
from assistant.records import AssistantError
from corpus.settings import Settings

MOST_THREADS = 8
# The memory beside the weights: the context's keys and values, and the buffers of the computation.
_OVERHEAD_BYTES, _OVERHEAD_SHARE = 200 * 2**20, 0.15
_MAGIC = b"GGUF"
_CGROUP = Path("/sys/fs/cgroup")


class Offer(BaseModel):
    """A model that can be fetched; its size in gigabytes is about that of the file."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    label: str
    repository: str
    file: str
    parameters: float = Field(gt=0)
    gigabytes: float = Field(gt=0)
    licence: str


@cache
def offers() -> tuple[Offer, ...]:
    """Return the models that can be fetched."""
    tables = tomllib.loads(Path(__file__).with_name("offers.toml").read_text(encoding="utf-8"))
    return tuple(Offer.model_validate(table) for table in tables["offers"])


def offer_named(name: str) -> Offer | None:
    return next((offer for offer in offers() if offer.name == name), None)


def weights_of(name: str, settings: Settings) -> Path | None:
    """Return the GGUF file of a name, which may not exist yet; None for any other model."""
    if offer := offer_named(name):
        return settings.models_folder / offer.file
    path = Path(name).expanduser()
    return path if path.suffix.lower() == ".gguf" else None


def where_to_put(offer: Offer, settings: Settings) -> str:
    """Return a sentence on how to get a model's weights by hand."""
    return (
        f"Put {offer.file} of {offer.repository}, from any machine that reaches the hub, into "
        f"{settings.models_folder}, or name a GGUF file in PAPER_TRAIL_LOCAL_MODEL."
    )


def fetch(offer: Offer, settings: Settings, hub: str | None = None) -> Path:
    """Download a model's weights into the models folder, unless they are there, and return the file.

    An interrupted download is resumed; progress is shown on standard error. Raises AssistantError if the hub
    cannot be reached or the file's hash is wrong.
    """
    # Imported here, because it takes a while.
    import huggingface_hub as hub_library  # noqa: PLC0415

    target = settings.models_folder / offer.file
    if target.exists():
        return target
    scratch = settings.models_folder / "fetching"
    try:
        url = hub_library.hf_hub_url(offer.repository, offer.file, endpoint=hub)
        metadata = hub_library.get_hf_file_metadata(url)
        downloaded = Path(
            hub_library.hf_hub_download(offer.repository, offer.file, local_dir=scratch, endpoint=hub)
        )
        is_right = metadata.etag == _sha256(downloaded)
        if is_right:
            downloaded.rename(target)
        shutil.rmtree(scratch, ignore_errors=True)
    except (OSError, httpx2.HTTPError, ValueError) as error:
        why = str(error).strip().splitlines()[:1] or [type(error).__name__]
        raise AssistantError(
            f"{offer.label} cannot be fetched: {why[0][:200]}. {where_to_put(offer, settings)}"
        ) from None
    if not is_right:
        raise AssistantError(
            f"What came of {offer.file} is not what the hub says it should be (SHA-256), and is thrown away. "
            "Fetch it again."
        )
    return target


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


@dataclass(frozen=True, slots=True)
class Needs:
    """The memory, in bytes, and threads that running a file takes."""

    memory: int
    threads: int

    def __str__(self) -> str:
        return f"{self.memory / 1e9:.1f} GB of memory and {self.threads} threads"


def needs_of(file: Path) -> Needs:
    """Return the memory and threads to run a file; raises ModelError if it is no GGUF file."""
    try:
        size = file.stat().st_size
        with file.open("rb") as opened:
            is_gguf = opened.read(len(_MAGIC)) == _MAGIC
    except OSError as error:
        raise ModelError(f"The weights {file} cannot be read: {error.strerror}.") from None
    if not is_gguf:
        raise ModelError(f"The weights {file} are no GGUF file, or a part of one. Fetch them again.")
    threads = min(MOST_THREADS, os.cpu_count() or 1)
    return Needs(int(size * (1 + _OVERHEAD_SHARE)) + _OVERHEAD_BYTES, threads)


def free_memory() -> int | None:
    """Return the bytes of free memory, None if the system does not report it."""
    try:
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
        (available,) = (int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable:"))
    except (OSError, ValueError):
        return None
    try:  # of a container
        limit = int(_CGROUP.joinpath("memory.max").read_text(encoding="ascii"))
        used = int(_CGROUP.joinpath("memory.current").read_text(encoding="ascii"))
    except (OSError, ValueError):
        return available
    return min(available, limit - used)
