"""Data sets fetched from the hub, file by file, each put in its place when it is whole."""

import gzip
import hashlib
import os
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path

from huggingface_hub import hf_hub_download
from huggingface_hub.errors import HfHubHTTPError, LocalEntryNotFoundError, OfflineModeIsEnabled

from corpus.durable import replace_durably
from evaluation.input_files import EvaluationError
from evaluation.tables.records import MissingError, Say
from evaluation.tables.sources import DataSet, HubFile, data_sets, find

_UNREACHABLE = (HfHubHTTPError, LocalEntryNotFoundError, OfflineModeIsEnabled, OSError)


def fetch(names: Sequence[str], data: Path, say: Say) -> Iterator[str]:
    """Fetch data sets that are not there yet; yield for each that cannot be had what to do.

    Raises EvaluationError for a name that is not known.
    """
    known = data_sets()
    if unknown := [name for name in names if name not in known]:
        raise EvaluationError(f"There is no data set {unknown[0]!r}. There are: {', '.join(known)}.")
    for name in names or known:
        try:
            yield from _fetch(name, known[name], data, say)
        except MissingError as error:
            yield str(error)


def _fetch(name: str, data_set: DataSet, data: Path, say: Say) -> Iterator[str]:
    for file in data_set.hub:
        target = data / file.to
        if target.is_file():
            say(f"{target} is there.")
            continue
        say(f"Fetching {file.repository}/{file.path}.")
        try:
            _fetch_file(file, target)
        except _UNREACHABLE as error:
            reason = str(error).splitlines()[0] if str(error) else type(error).__name__
            yield (
                f"{data_set.title} could not be fetched ({reason}). Put {file.path} of"
                f" https://huggingface.co/datasets/{file.repository} at {target} ({data_set.licence})."
            )
            return
    found = find(name, data)
    say(f"{data_set.title} is at {found.path}.")


def _fetch_file(file: HubFile, target: Path) -> None:
    fetched = Path(hf_hub_download(file.repository, file.path, repo_type="dataset", revision=file.revision))
    target.parent.mkdir(parents=True, exist_ok=True)
    temporary = target.with_name(f"{target.name}.{os.getpid()}")
    try:
        # What is packed on the hub lies unpacked here.
        unpacked = fetched.suffix == ".gz" != target.suffix
        with (
            gzip.open(fetched) if unpacked else fetched.open("rb") as content,
            temporary.open("wb") as written,
        ):
            shutil.copyfileobj(content, written)
        if file.sha256 and _sha256(temporary) != file.sha256:
            raise EvaluationError(
                f"{file.path} of {file.repository} is not the file that is known: its hash differs."
            )
        replace_durably(temporary, target)
    finally:
        temporary.unlink(missing_ok=True)


def _sha256(path: Path) -> str:
    with path.open("rb") as content:
        return hashlib.file_digest(content, "sha256").hexdigest()
