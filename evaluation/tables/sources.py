"""Finds data sets in the data folder and fetches them from the hub; sources.toml describes them."""

import gzip
import hashlib
import os
import re
import shutil
import tomllib
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Self
from urllib.parse import quote

import httpx2
from huggingface_hub import hf_hub_download, try_to_load_from_cache
from huggingface_hub.errors import (
    GatedRepoError,
    HfHubHTTPError,
    HFValidationError,
    LocalEntryNotFoundError,
    OfflineModeIsEnabled,
    RemoteEntryNotFoundError,
    RepositoryNotFoundError,
    RevisionNotFoundError,
)
from pydantic import BaseModel, ConfigDict, Field, model_validator

from corpus.durable import replace_durably
from corpus.encoders.base import is_hub_out_of_reach
from evaluation.harness import command, say
from evaluation.input_files import EvaluationError

_FILE = Path(__file__).with_name("sources.toml")
_SHA256 = re.compile("[0-9a-f]{64}")
_WEIGHTS = ("model.safetensors", "pytorch_model.bin")


class MissingError(EvaluationError):
    """A row that cannot be measured here: `what` is missing, and `advice` says how to get it."""

    def __init__(self, what: str, advice: str) -> None:
        super().__init__(f"{what}: {advice}")
        self.what = what
        self.advice = advice


class _Table(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class HubFile(_Table):
    """A file of a data set on the hub, its path `to` in the data folder, and the hub file's SHA-256."""

    repository: str
    path: str
    to: str
    sha256: str = Field(default="", pattern=r"^([0-9a-f]{64})?$")
    revision: str = "main"

    @property
    def address(self) -> str:
        revision = quote(self.revision, safe="")
        return f"https://huggingface.co/datasets/{self.repository}/resolve/{revision}/{self.path}"

    @property
    def is_packed(self) -> bool:
        """True if the file is compressed on the hub and stored uncompressed here."""
        return self.path.endswith(".gz") and not self.to.endswith(".gz")


class Form(_Table):
    """A form of a data set in the data folder: a file, or a folder with all of `files`.

    `stands_in` describes it if it is not the paper's own data set; `counts` has the known numbers of its
    version, such as documents.
    """

    path: str
    files: tuple[str, ...] = ()
    counts: dict[str, int] = {}
    stands_in: str = ""

    def is_in(self, data: Path) -> bool:
        path = data / self.path
        return all((path / name).is_file() for name in self.files) if self.files else path.is_file()


class DataSet(_Table):
    """A data set: its forms, best first, and its files on the hub."""

    title: str
    licence: str
    address: str
    forms: tuple[Form, ...] = ()
    hub: tuple[HubFile, ...] = ()

    @model_validator(mode="after")
    def _check_paths(self) -> Self:
        paths = [form.path for form in self.forms] + [file for form in self.forms for file in form.files]
        for path in (*paths, *(file.to for file in self.hub)):
            if Path(path).is_absolute() or ".." in Path(path).parts:
                raise ValueError(f"{path} is not below the data folder")
        return self


@dataclass(frozen=True, slots=True)
class FoundDataSet:
    """A data set that is in the data folder: the form it has there, and its path."""

    name: str
    data_set: DataSet
    form: Form
    path: Path


@cache
def data_sets() -> Mapping[str, DataSet]:
    tables = tomllib.loads(_FILE.read_text(encoding="utf-8"))
    return {name: DataSet.model_validate(table) for name, table in tables.items()}


def find_data_set(name: str, data: Path) -> FoundDataSet:
    """Find a data set in the data folder, in its best form; raises MissingError that says how to get it."""
    data_set = data_sets()[name]
    for form in data_set.forms:
        if form.is_in(data):
            return FoundDataSet(name, data_set, form, data / form.path)
    listed = (f" ({', '.join(form.files)})" if form.files else "" for form in data_set.forms)
    places = " or ".join(
        f"{data / form.path}{files}" for form, files in zip(data_set.forms, listed, strict=True)
    )
    command = f"paper-trail eval fetch {name} --data {data}, or put it " if data_set.hub else "put it "
    advice = f"{command}at {places}. It comes from {data_set.address} ({data_set.licence})."
    raise MissingError(data_set.title, advice)


def check_count(found: FoundDataSet, what: str, count: int) -> None:
    """Raise MissingError if a data set's number of `what` differs from that of the known version."""
    known = found.form.counts.get(what)
    if known is not None and known != count:
        raise MissingError(
            found.data_set.title,
            f"{found.path} has {count:,} {what}, not {known:,}: it is incomplete or another version. Fetch it"
            f" again: paper-trail eval fetch {found.name}",
        )


def content_hash(path: Path) -> str:
    """Return a hash of a file's content, or of the names and contents of all files below a folder."""
    digest = hashlib.sha256()
    for file in [path] if path.is_file() else sorted(filter(Path.is_file, path.rglob("*"))):
        digest.update(f"{file.relative_to(path)}\0{file.stat().st_size}\0".encode())
        with file.open("rb") as content:
            digest.update(hashlib.file_digest(content, "sha256").digest())
    return digest.hexdigest()


def missing_titles(names: Sequence[str], data: Path) -> list[str]:
    """Return the titles of those data sets that are not in the data folder."""
    known = data_sets()
    return [known[name].title for name in names if not any(form.is_in(data) for form in known[name].forms)]


def cached_weights(encoder: str) -> Path | None:
    """Return the path of an encoder's weights in the local cache of the hub, None if they are not there."""
    try:
        paths = [try_to_load_from_cache(encoder, name) for name in _WEIGHTS]
    except HFValidationError:
        return None
    return next((Path(path) for path in paths if isinstance(path, str)), None)


@command("fetch")
def fetch(names: list[str] | None = None, *, data: Path = Path("evaluation-data")) -> None:
    if lacking := list(_fetch_all(names or (), data)):
        raise EvaluationError("\n".join(lacking))


def _fetch_all(names: Sequence[str], data: Path) -> Iterator[str]:
    """Fetch the data sets that are missing; yield an error message with a remedy for each that fails."""
    known = data_sets()
    if unknown := [name for name in names if name not in known]:
        raise EvaluationError(f"There is no data set {unknown[0]!r}. There are: {', '.join(known)}.")
    # Checked once: offline, the hub's library would retry for every file. Cached files still work.
    is_offline = cache(is_hub_out_of_reach)
    for name in names or known:
        try:
            _fetch_set(known[name], data, is_offline)
            say(f"{known[name].title} is at {find_data_set(name, data).path}.")
        except EvaluationError as error:
            yield str(error)


def _fetch_set(data_set: DataSet, data: Path, is_offline: Callable[[], bool]) -> None:
    lacking = [file for file in data_set.hub if not (data / file.to).is_file()]
    for position, file in enumerate(lacking):
        say(f"Fetching {file.repository}/{file.path}.")
        try:
            fetched = hf_hub_download(
                file.repository,
                file.path,
                repo_type="dataset",
                revision=file.revision,
                local_files_only=is_offline(),
            )
            _unpack(file, Path(fetched), data / file.to)
        except (HfHubHTTPError, httpx2.HTTPError, OSError, EvaluationError) as error:
            places = "; ".join(
                f"{left.address} at {data / left.to}{', unpacked' if left.is_packed else ''}"
                for left in lacking[position:]
            )
            raise EvaluationError(
                f"{data_set.title} could not be fetched: {_problem(file, error)} Put {places}"
                f" ({data_set.licence})."
            ) from error


def _problem(file: HubFile, error: Exception) -> str:
    """Describe why a file could not be fetched, with a remedy if there is one."""
    cause = error.__cause__ if isinstance(error, LocalEntryNotFoundError) else error
    if isinstance(cause, GatedRepoError):
        return "the hub requires an account that has accepted its terms: accept them, and set HF_TOKEN."
    if isinstance(cause, RepositoryNotFoundError):
        return f"the hub has no data set {file.repository}, or it needs an account (HF_TOKEN)."
    if isinstance(cause, RemoteEntryNotFoundError | RevisionNotFoundError):
        return f"the hub has no {file.path} in {file.repository} any more."
    if isinstance(cause, HfHubHTTPError):
        return f"the hub answered {cause.response.status_code}."
    if isinstance(error, LocalEntryNotFoundError | OfflineModeIsEnabled):
        return "the model hub cannot be reached, or HF_HUB_OFFLINE forbids it."
    return (str(error).strip() or repr(error)).splitlines()[0].rstrip(".") + "."


def _unpack(file: HubFile, fetched: Path, target: Path) -> None:
    """Move a fetched file to its path atomically, uncompressed; raises EvaluationError or OSError."""
    temporary = target.with_name(f"{target.name}.{os.getpid()}")
    try:
        _check_hash(file, fetched)
        target.parent.mkdir(parents=True, exist_ok=True)
        with (
            gzip.open(fetched) if file.is_packed else fetched.open("rb") as content,
            temporary.open("wb") as unpacked,
        ):
            shutil.copyfileobj(content, unpacked)
        replace_durably(temporary, target)
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise EvaluationError(
            f"{file.path} of {file.repository} is damaged ({error}). Delete {fetched.resolve()} and try"
            " again."
        ) from error
    finally:
        temporary.unlink(missing_ok=True)


def _check_hash(file: HubFile, fetched: Path) -> None:
    """Raise EvaluationError if a file's hash is not the known one, or not its name in the hub's cache."""
    blob = fetched.resolve()
    expected = file.sha256 or (blob.name if _SHA256.fullmatch(blob.name) else "")
    if not expected:
        return
    with blob.open("rb") as content:
        actual = hashlib.file_digest(content, "sha256").hexdigest()
    if actual != expected:
        raise EvaluationError(
            f"{file.path} of {file.repository} has the SHA-256 {actual}, not {expected}: it is damaged, or"
            f" another version. Delete {blob} and try again."
        )
