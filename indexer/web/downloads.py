"""Polite downloads of PDFs: one at a time, with pauses, resumed, checked; each file is fetched once."""

import hashlib
import re
import time
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

import httpx
from tenacity import Retrying, retry_if_exception_type, stop_after_attempt, wait_exponential

from corpus import VERSION
from corpus.durable import replace_durably
from corpus.http import is_busy, retry_after, wait_as_asked
from indexer.errors import SourceError

USER_AGENT = f"Paper Trail/{VERSION} (indexer of a research-paper explorer; one request at a time)"
LARGEST = 200 * 2**20
LONGEST_WAIT = 60.0
LONGEST_DOWNLOAD = 600.0
TRIES = 4
# After this many failed papers in a row the server is not asked again in this run.
PATIENCE = 3
_PART = 65_536


class DownloadError(Exception):
    """A PDF could not be downloaded; the message gives the reason for the report."""


class _TransientError(DownloadError):
    """A failure worth retrying; `retry_after` is the wait the server asks for, in seconds."""

    def __init__(self, message: str, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.retry_after = retry_after


@dataclass(frozen=True, slots=True)
class _Partial:
    """An unfinished download: its bytes so far, and in a second file the version (ETag or date)."""

    path: Path

    @property
    def _note(self) -> Path:
        return self.path.with_name(f"{self.path.name}.version")

    @property
    def size(self) -> int:
        return self.path.stat().st_size if self.path.exists() else 0

    def headers(self) -> dict[str, str]:
        """Return the headers that resume the same version, none to fetch everything."""
        if not self.size or not self._note.exists():
            return {}
        return {"Range": f"bytes={self.size}-", "If-Range": self._note.read_text("ascii")}

    def begin(self, headers: Mapping[str, str]) -> None:
        """Empty the file and record the version; a weak ETag does not identify one."""
        tag = headers.get("etag", "")
        version = tag if tag.startswith('"') else headers.get("last-modified", "")
        self.discard()
        if version and version.isascii():
            self._note.write_text(version, "ascii")

    def discard(self) -> None:
        self.path.unlink(missing_ok=True)
        self._note.unlink(missing_ok=True)

    def finish(self, target: Path) -> None:
        replace_durably(self.path, target)
        self._note.unlink(missing_ok=True)


class Downloads:
    """PDFs of one site, in a folder; for a `with` block.

    `pause` is the minimum time between two requests and `timeout` how long the server may stay silent, in
    seconds.
    """

    def __init__(
        self, folder: Path, *, pause: float = 1.0, timeout: float = 30.0, largest: int = LARGEST
    ) -> None:
        """Make the folder; raises SourceError when it cannot be made."""
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise SourceError(
                f"The folder for downloads {folder} cannot be made: {error.strerror}."
            ) from error
        self._folder = folder
        self._pause = pause
        self._largest = largest
        self._client = httpx.Client(
            headers={"User-Agent": USER_AGENT, "Accept": "application/pdf", "Accept-Encoding": "identity"},
            timeout=timeout,
            follow_redirects=True,
            max_redirects=5,
        )
        self._back_off = wait_exponential(multiplier=pause, min=pause, max=LONGEST_WAIT)
        self._next = 0.0
        self._failed_in_row = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._client.close()

    def fetch(self, url: str, name: str, *, crc32: str = "") -> Path:
        """Download the PDF at `url` into the folder, named after `name`, and return its path.

        A finished file is not fetched again unless its CRC-32 differs from `crc32` (eight hexadecimal
        digits); an interrupted download is resumed. Raises DownloadError.
        """
        target = self._folder / _file_name(name)
        try:
            if target.exists() and _is_pdf(target) and (not crc32 or _crc32(target) == crc32):
                return target
            self._fetch(url, target, crc32)
        except OSError as error:
            raise DownloadError(f"The PDF could not be kept as {target}: {error.strerror}.") from error
        return target

    def _fetch(self, url: str, target: Path, crc32: str) -> None:
        if self._failed_in_row >= PATIENCE:
            raise DownloadError(
                f"The PDF was not asked for: the server failed {PATIENCE} times in a row before."
            )
        partial = _Partial(target.with_name(f"{target.name}.part"))
        retrying = Retrying(
            stop=stop_after_attempt(TRIES),
            retry=retry_if_exception_type(_TransientError),
            wait=wait_as_asked(self._back_off, LONGEST_WAIT),
            reraise=True,
        )
        try:
            for attempt in retrying:
                with attempt:
                    self._try(url, partial)
        except DownloadError as error:
            self._failed_in_row = self._failed_in_row + 1 if isinstance(error, _TransientError) else 0
            raise
        self._failed_in_row = 0
        _check(partial, url, crc32)
        partial.finish(target)

    def _try(self, url: str, partial: _Partial) -> None:
        time.sleep(max(0.0, self._next - time.monotonic()))
        try:
            with self._client.stream("GET", url, headers=partial.headers()) as response:
                self._receive(response, partial)
        except httpx.TimeoutException as error:
            raise _TransientError(f"The server of {url} stayed silent.") from error
        except httpx.UnsupportedProtocol as error:
            raise DownloadError(f"The PDF is not at a web address: {url} is not, or leads astray.") from error
        except httpx.TransportError as error:
            raise _TransientError(f"The connection to {url} failed: {error}.") from error
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise DownloadError(f"The PDF could not be asked for at {url}: {error}.") from error
        finally:
            self._next = time.monotonic() + self._pause

    def _receive(self, response: httpx.Response, partial: _Partial) -> None:
        if response.status_code == httpx.codes.REQUESTED_RANGE_NOT_SATISFIABLE:
            partial.discard()
            raise _TransientError(f"The server refuses the rest of {response.url}.")
        _check_answer(response)
        if not _continues(response, partial):
            partial.begin(response.headers)
        size = partial.size
        expected = _length(response, size)
        if expected is not None and expected > self._largest:
            raise self._too_large(response, partial)
        self._write(response, partial, size)
        if expected is not None and partial.size != expected:
            raise _TransientError(f"Only {partial.size:,} of {expected:,} bytes came from {response.url}.")

    def _write(self, response: httpx.Response, partial: _Partial, size: int) -> None:
        deadline = time.monotonic() + LONGEST_DOWNLOAD
        with partial.path.open("ab") as file:
            for (
                chunk
            ) in response.iter_raw():  # raw chunks: buffered bytes would be lost when the connection fails
                size += len(chunk)
                if size > self._largest:
                    raise self._too_large(response, partial)
                if time.monotonic() > deadline:
                    raise DownloadError(f"The PDF at {response.url} took more than {LONGEST_DOWNLOAD:.0f} s.")
                file.write(chunk)

    def _too_large(self, response: httpx.Response, partial: _Partial) -> DownloadError:
        partial.discard()
        return DownloadError(f"The PDF at {response.url} is larger than {self._largest / 2**20:.0f} MiB.")


def _check_answer(response: httpx.Response) -> None:
    """Raise DownloadError for a response without a PDF, a transient one if the server is busy."""
    status, url = response.status_code, response.url
    if is_busy(status):
        raise _TransientError(f"The server of {url} is busy (HTTP {status}).", retry_after(response.headers))
    if status not in {httpx.codes.OK, httpx.codes.PARTIAL_CONTENT}:
        raise DownloadError(f"There is no PDF at {url} (HTTP {status}).")
    if response.headers.get("content-type", "").partition(";")[0].strip().lower() == "text/html":
        raise DownloadError(f"A web page came instead of a PDF from {url}.")


def _continues(response: httpx.Response, partial: _Partial) -> bool:
    """Return True if a response continues the file; raises for a range that was not requested."""
    if response.status_code != httpx.codes.PARTIAL_CONTENT:
        return False
    span = re.match(r"bytes (\d+)-\d+/(\d+|\*)", response.headers.get("content-range", ""))
    if span is None or int(span[1]) != partial.size:
        partial.discard()
        raise _TransientError(f"The server sent another part of {response.url} than it was asked for.")
    return True


def _length(response: httpx.Response, so_far: int) -> int | None:
    """Return the size of the whole file, None where the server does not send it."""
    whole = response.headers.get("content-range", "").rpartition("/")[2]
    if response.status_code == httpx.codes.PARTIAL_CONTENT and whole.isdecimal():
        return int(whole)
    length = response.headers.get("content-length", "")
    return so_far + int(length) if length.isdecimal() else None


def _check(partial: _Partial, url: str, crc32: str) -> None:
    """Raise and discard the file when it is not the expected PDF."""
    is_pdf = _is_pdf(partial.path)
    checksum = _crc32(partial.path) if crc32 else ""
    if is_pdf and checksum == crc32:
        return
    partial.discard()
    if not is_pdf:
        raise DownloadError(f"What came from {url} is not a PDF.")
    raise DownloadError(
        f"The PDF at {url} is not the one that the metadata describe: its checksum is {checksum}, not "
        f"{crc32}. Newer metadata may know it."
    )


def _is_pdf(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(5) == b"%PDF-"


def _crc32(path: Path) -> str:
    checksum = 0
    with path.open("rb") as file:
        while chunk := file.read(_PART):
            checksum = zlib.crc32(chunk, checksum)
    return f"{checksum:08x}"


def _file_name(name: str) -> str:
    """Return `name` if every file system accepts it, else a plain form with a hash to stay unique."""
    plain = re.sub(r"[^A-Za-z0-9._-]", "_", name).lstrip(".")[-100:]
    if plain == name:
        return name
    return f"{hashlib.sha256(name.encode('utf-8', 'replace')).hexdigest()[:8]}-{plain}"
