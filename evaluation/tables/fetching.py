"""Data sets fetched from the hub, file by file, each put in its place when it is whole."""

import gzip
import hashlib
import os
import re
import shutil
import zlib
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from pathlib import Path

import httpx2
from huggingface_hub import hf_hub_download, try_to_load_from_cache
from huggingface_hub.errors import (
    EntryNotFoundError,
    FileMetadataError,
    GatedRepoError,
    HfHubHTTPError,
    HFValidationError,
    LocalEntryNotFoundError,
    OfflineModeIsEnabled,
    RepositoryNotFoundError,
    RevisionNotFoundError,
)

from corpus.durable import replace_durably
from corpus.encoders import is_hub_out_of_reach
from evaluation.input_files import EvaluationError
from evaluation.tables.records import MissingError, Say
from evaluation.tables.sources import DataSet, HubFile, data_sets, find

_SHA256 = re.compile("[0-9a-f]{64}")
_WEIGHTS = ("model.safetensors", "pytorch_model.bin")


class _UnfetchedError(Exception):
    """A file could not be fetched; the message says why."""


def fetch(names: Sequence[str], data: Path, say: Say) -> Iterator[str]:
    """Fetch data sets that are not there yet; yield for each that cannot be had what to do.

    Raises EvaluationError for a name that is not known.
    """
    known = data_sets()
    if unknown := [name for name in names if name not in known]:
        raise EvaluationError(f"There is no data set {unknown[0]!r}. There are: {', '.join(known)}.")
    # The hub's library tries again and again to reach what is not there; what it holds it still gives.
    is_offline = cache(is_hub_out_of_reach)
    for name in names or known:
        try:
            yield from _fetch(name, known[name], data, say, is_offline)
        except MissingError as error:
            yield str(error)


def cached_weights(encoder: str) -> Path | None:
    """Return the file of an encoder's weights in the hub's cache on this machine, if it is there."""
    try:
        found = [try_to_load_from_cache(encoder, name) for name in _WEIGHTS]
    except HFValidationError:
        return None
    return next((Path(path) for path in found if isinstance(path, str)), None)


def _fetch(
    name: str, data_set: DataSet, data: Path, say: Say, is_offline: Callable[[], bool]
) -> Iterator[str]:
    lacking = [file for file in data_set.hub if not (data / file.to).is_file()]
    for position, file in enumerate(lacking):
        say(f"Fetching {file.repository}/{file.path}.")
        try:
            _fetch_file(file, data / file.to, is_offline=is_offline())
        except _UnfetchedError as error:
            by_hand = _by_hand(data_set, lacking[position:], data)
            yield f"{data_set.title} could not be fetched: {error} {by_hand}"
            return
    found = find(name, data)
    say(f"{data_set.title} is at {found.path}.")


def _by_hand(data_set: DataSet, files: Sequence[HubFile], data: Path) -> str:
    """Return which file to put where."""
    places = "; ".join(f"{file.address} at {data / file.to}{_how(file)}" for file in files)
    return f"Put {places} ({data_set.licence})."


def _how(file: HubFile) -> str:
    return ", unpacked" if _is_packed(file) else ""


def _is_packed(file: HubFile) -> bool:
    """Return True for what is packed on the hub and lies unpacked here."""
    return file.path.endswith(".gz") and not file.to.endswith(".gz")


def _fetch_file(file: HubFile, target: Path, *, is_offline: bool) -> None:
    """Put a file in its place, whole or not at all; raises _UnfetchedError."""
    fetched = _download(file, is_offline=is_offline)
    temporary = target.with_name(f"{target.name}.{os.getpid()}")
    try:
        _check_hash(file, fetched)
        target.parent.mkdir(parents=True, exist_ok=True)
        with (
            gzip.open(fetched) if _is_packed(file) else fetched.open("rb") as content,
            temporary.open("wb") as written,
        ):
            shutil.copyfileobj(content, written)
        replace_durably(temporary, target)
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise _UnfetchedError(
            f"{file.path} of {file.repository} is damaged ({error}). Delete {fetched.resolve()} and try"
            " again."
        ) from error
    except OSError as error:
        raise _UnfetchedError(f"{target} cannot be written: {error.strerror or error}.") from error
    finally:
        # Where the folder itself is at fault there is none.
        if temporary.is_file():
            temporary.unlink()


def _download(file: HubFile, *, is_offline: bool) -> Path:
    """Return the file in the hub's cache on this machine."""
    try:
        return Path(
            hf_hub_download(
                file.repository,
                file.path,
                repo_type="dataset",
                revision=file.revision,
                local_files_only=is_offline,
            )
        )
    except (LocalEntryNotFoundError, OfflineModeIsEnabled) as error:
        raise _UnfetchedError(_why_not_reached(error.__cause__)) from error
    except GatedRepoError as error:
        raise _UnfetchedError(
            "the hub gives it to accounts that have accepted its terms: accept them, and set HF_TOKEN."
        ) from error
    except RepositoryNotFoundError as error:
        raise _UnfetchedError(
            f"the hub shows no data set {file.repository}, or not without an account (HF_TOKEN)."
        ) from error
    except (EntryNotFoundError, RevisionNotFoundError) as error:
        raise _UnfetchedError(f"the hub has no {file.path} in {file.repository} any more.") from error
    except HfHubHTTPError as error:
        raise _UnfetchedError(f"the hub answered {error.response.status_code}.") from error
    except httpx2.HTTPError as error:
        raise _UnfetchedError(f"the connection to the hub broke ({error}).") from error
    except OSError as error:
        raise _UnfetchedError(f"{str(error).splitlines()[0] if str(error) else error!r}.") from error


def _why_not_reached(cause: BaseException | None) -> str:
    if isinstance(cause, HfHubHTTPError):
        return f"the hub answered {cause.response.status_code}."
    if isinstance(cause, FileMetadataError):
        return "what answers in place of the hub is none (HF_ENDPOINT, a proxy)."
    return "the model hub cannot be reached, or HF_HUB_OFFLINE forbids it."


def _check_hash(file: HubFile, fetched: Path) -> None:
    """Raise _UnfetchedError where a file is not the one that is known, or that the hub says it is."""
    blob = fetched.resolve()
    # The hub's cache names what the hub has a SHA-256 of by that.
    expected = file.sha256 or (blob.name if _SHA256.fullmatch(blob.name) else "")
    if not expected:
        return
    with blob.open("rb") as content:
        found = hashlib.file_digest(content, "sha256").hexdigest()
    if found != expected:
        raise _UnfetchedError(
            f"{file.path} of {file.repository} has the SHA-256 {found}, not {expected}: it is damaged, or"
            f" another version. Delete {blob} and try again."
        )
