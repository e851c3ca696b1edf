"""PDFs to TEI by a GROBID server: asked with patience, never above its pool, no more often than can help.

Transport is the official client's; its own retries and `process` methods are not used, because they repeat
for ever when the server is busy and take a lost connection for a bad PDF.
"""

import ipaddress
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast
from urllib.parse import SplitResult, urlsplit

import requests
import urllib3.exceptions
from grobid_client.grobid_client import GrobidClient
from tenacity import Retrying, retry_if_exception, stop_after_attempt, wait_exponential_jitter
from tenacity.nap import sleep_using_event

from corpus.http import retry_after, wait_as_asked
from corpus.settings import Settings
from indexer.parsers.grobid.answers import ADVICE, GrobidError, GrobidUnreachableError, Kind, read_answer
from indexer.parsers.grobid.cache import KeptTei
from indexer.parsers.grobid.status import Answer, GrobidStatus, read_status
from indexer.parsers.tei.document import LARGEST_TEI

USUAL_CONCURRENCY = 4
LARGEST_MESSAGE = 64 * 1024
LONGEST_CONNECT = 10.0
READ_AT_ONCE = 64 * 1024

COORDINATES = ("s", "p", "head", "figure", "ref", "biblStruct")
# Consolidation would make the server ask services on the internet.
FIELDS = (
    ("segmentSentences", "1"),
    ("includeRawCitations", "1"),
    ("consolidateHeader", "0"),
    ("consolidateCitations", "0"),
    ("consolidateFunders", "0"),
    *(("teiCoordinates", name) for name in COORDINATES),
)


@dataclass(frozen=True, slots=True)
class Patience:
    """The patience with a server: waits in seconds, and numbers of attempts.

    `busy_attempts` is also the most requests for one PDF; `papers_lost` in a row end the asking.
    """

    first_wait: float = 5.0
    longest_wait: float = 30.0
    busy_attempts: int = 10
    lost_attempts: int = 5
    papers_lost: int = 3

    def attempts(self, kind: Kind) -> int:
        """Return the number of requests for one PDF that may fail in this way."""
        # After a time-out the server works on, with one engine less for others.
        attempts: dict[Kind, int] = {
            "busy": self.busy_attempts,
            "lost": self.lost_attempts,
            "slow": 2,
            "failed": 2,
            "refused": 0,
        }
        return attempts[kind]


PATIENT = Patience()


class _Transport(GrobidClient):
    """The official client, its answers streamed so that they can be bounded, its redirects not followed."""

    def __init__(self, address: SplitResult, timeout: float) -> None:
        super().__init__(grobid_server=address.geturl(), check_server=False)
        self._timeouts = (min(timeout, LONGEST_CONNECT), timeout)
        # A proxy of the environment stands between machines, not before this one.
        self._proxies = {"no_proxy": address.hostname or ""} if _is_this_machine(address) else None

    def call_api(  # noqa: PLR0917 - the signature is the client's
        self,
        method: str,
        url: str,
        headers: Mapping[str, str] | None = None,
        params: Any = None,
        data: Any = None,
        files: Any = None,
        timeout: float | None = None,
    ) -> tuple[requests.Response, int]:
        connect, read = self._timeouts
        # The checks are JSON and plain text, which a strict server would not give for XML.
        accept = self.accept_type if method == "POST" else "*/*"
        response = requests.request(
            method,
            url,
            headers={"Accept": accept, "Accept-Encoding": "identity", **(headers or {})},
            params=params,
            data=data,
            files=files,
            timeout=(connect, timeout or read),
            stream=True,
            allow_redirects=False,
            proxies=self._proxies,
        )
        return response, response.status_code


@dataclass(slots=True)
class _Gate:
    """Lets at most `limit` threads in; unlike a semaphore's, the limit can change."""

    limit: int = USUAL_CONCURRENCY
    _inside: int = 0
    _changed: threading.Condition = field(default_factory=threading.Condition)

    @contextmanager
    def entered(self) -> Iterator[None]:
        with self._changed:
            self._changed.wait_for(lambda: self._inside < self.limit)
            self._inside += 1
        try:
            yield
        finally:
            with self._changed:
                self._inside -= 1
                self._changed.notify_all()


class GrobidServer:
    """One server for one run; any number of threads may use it.

    `timeout` (seconds) is how long it may stay silent. `concurrency` 0 takes the server's own figure, and
    none goes above that. Raises GrobidError when `url` is no address.
    """

    def __init__(
        self, url: str, *, timeout: float = 180.0, concurrency: int = 0, patience: Patience = PATIENT
    ) -> None:
        address = _address(url)
        self.url = _shown(address)
        self._name = f"The GROBID server at {self.url}"
        self._client = _Transport(address, timeout)
        self._timeout = timeout
        self._wanted = concurrency
        self._patience = patience
        self._gate = _Gate()
        self._status = GrobidStatus(self.url)
        self._asking = threading.Lock()
        self._counting = threading.Lock()
        self._lost_papers = 0
        self._given_up = threading.Event()

    def status(self) -> GrobidStatus:
        """Ask the server how it is, once and without patience."""
        try:
            answers = [self._get(check) for check in ("isalive", "version", "health")]
        except GrobidError as error:
            return GrobidStatus(self.url, problem=str(error))
        return read_status(self.url, *answers)

    def known_status(self) -> GrobidStatus:
        """Return the server's status when it was first ready in this run."""
        with self._asking:
            if not (self._status.ready or self._given_up.is_set()):
                self._status = self.status()
            return self._status

    @property
    def concurrency(self) -> int:
        """The number of PDFs sent to the server at once."""
        pool = self.known_status().pool
        wanted = self._wanted or pool or USUAL_CONCURRENCY
        return min(wanted, pool or wanted)

    def fulltext(self, pdf: Path) -> bytes:
        """Return the server's TEI of a PDF, unparsed; raises GrobidError."""
        try:
            content = pdf.read_bytes()
        except OSError as error:
            raise GrobidError(f"the file cannot be read: {error.strerror}") from error
        self._gate.limit = self.concurrency
        tries: list[Kind] = []
        try:
            tei = self._retrying(tries)(self._attempt, content, tries)
        except GrobidError as error:
            self._count(error)
            raise _after(error, len(tries)) from None
        self._count(None)
        return tei

    def stop(self) -> None:
        """Ask no more in this run; who waits to ask again gives up at once."""
        self._given_up.set()

    def _retrying(self, tries: list[Kind]) -> Retrying:
        patience = self._patience

        def is_worth_retrying(error: BaseException) -> bool:
            return isinstance(error, GrobidError) and tries.count(error.kind) < patience.attempts(error.kind)

        return Retrying(
            stop=stop_after_attempt(patience.busy_attempts),
            retry=retry_if_exception(is_worth_retrying),
            wait=wait_as_asked(
                wait_exponential_jitter(
                    multiplier=patience.first_wait, max=patience.longest_wait, jitter=patience.first_wait
                ),
                patience.longest_wait,
            ),
            # Who waits wakes when the server is given up.
            sleep=sleep_using_event(self._given_up),
            reraise=True,
        )

    def _attempt(self, content: bytes, tries: list[Kind]) -> bytes:
        with self._gate.entered():
            if self._given_up.is_set():
                raise GrobidUnreachableError(f"{self._name} is not asked again in this run: {self._why()}")
            answer: Answer | None = None
            try:
                answer = self._post(content)
                return read_answer(self._name, answer.status, answer.body)
            except GrobidError as error:
                error.retry_after = answer.retry_after if answer else None
                tries.append(error.kind)
                raise

    def _why(self) -> str:
        lost = self._patience.papers_lost
        if self._lost_papers < lost:
            return "the run is being stopped"
        return f"it failed for {lost} papers in a row; {ADVICE}, then run this again"

    def _count(self, error: GrobidError | None) -> None:
        """Count the papers in a row that the server was lost for, and give it up after some."""
        with self._counting:
            self._lost_papers = self._lost_papers + 1 if isinstance(error, GrobidUnreachableError) else 0
            if self._lost_papers >= self._patience.papers_lost:
                self._given_up.set()

    def _post(self, content: bytes) -> Answer:
        with self._errors_translated(self._timeout):
            response, status = self._client.post(
                self._client.get_server_url("processFulltextDocument"),
                # A list of pairs, because a field that is repeated has no place in a dictionary.
                data=cast(dict[str, str], list(FIELDS)),
                files={"input": ("paper.pdf", content, "application/pdf")},
            )
            if status != 200:
                message = self._read(response, LARGEST_MESSAGE, self._timeout)
                return Answer(status, message, retry_after(response.headers))
            body = self._read(response, LARGEST_TEI + 1, self._timeout)
            if len(body) > LARGEST_TEI:
                raise GrobidError(f"GROBID's TEI of this PDF is larger than {LARGEST_TEI // 1024**2} MiB")
            return Answer(status, body)

    def _get(self, check: str) -> Answer:
        timeout = min(self._timeout, LONGEST_CONNECT)
        with self._errors_translated(timeout):
            response, status = self._client.get(self._client.get_server_url(check), timeout=timeout)
            return Answer(status, self._read(response, LARGEST_MESSAGE, timeout))

    def _read(self, response: requests.Response, limit: int, seconds: float) -> bytes:
        """Return the first `limit` bytes of the body, not decompressed; they must come within `seconds`."""
        deadline = time.monotonic() + seconds
        body = bytearray()
        with closing(response):
            # Requests' own iterators wait for a full chunk, which a slow server may fill byte by byte.
            while piece := response.raw.read1(READ_AT_ONCE, decode_content=False):
                body += piece
                if len(body) >= limit:
                    break
                if time.monotonic() > deadline:
                    raise requests.ReadTimeout
        return bytes(body[:limit])

    @contextmanager
    def _errors_translated(self, seconds: float) -> Iterator[None]:
        # Without the causes: their texts repeat the address, and with it a password.
        try:
            yield
        except requests.exceptions.SSLError:
            raise GrobidError(f"{self._name} has a certificate that is not trusted; {ADVICE}") from None
        except (requests.ReadTimeout, urllib3.exceptions.TimeoutError):
            silence = f"{self._name} did not answer within {seconds:g} s"
            raise GrobidUnreachableError(silence, "slow") from None
        except (requests.ConnectionError, urllib3.exceptions.HTTPError):
            raise GrobidUnreachableError(f"{self._name} cannot be reached; {ADVICE}", "lost") from None
        except (requests.RequestException, ValueError):
            raise GrobidError(f"{self._name} cannot be asked; check PAPER_TRAIL_GROBID_URL") from None


class GrobidParser:
    """A server and the TEI kept from it."""

    def __init__(self, server: GrobidServer, kept: KeptTei) -> None:
        self.server = server
        self._kept = kept

    @property
    def at_once(self) -> int:
        return self.server.concurrency

    def stop(self) -> None:
        self.server.stop()

    def tei(self, pdf: Path, sha256: str) -> bytes:
        """Return the TEI of a PDF with this hash, kept or asked for now; raises GrobidError.

        TEI of another version of the server serves only while the server cannot be had.
        """
        status = self.server.known_status()
        if status.reachable:
            kept = self._kept.of_version(sha256, status.version)
        else:
            kept = self._kept.newest(sha256)
        return kept or self._ask(pdf, sha256)

    def _ask(self, pdf: Path, sha256: str) -> bytes:
        try:
            tei = self.server.fulltext(pdf)
        except GrobidUnreachableError:
            if kept := self._kept.newest(sha256):
                return kept
            raise
        self._kept.keep(sha256, self.server.known_status().version, tei)
        return tei


def open_grobid(settings: Settings) -> GrobidParser:
    """Return the parser of the server that these settings name; raises GrobidError for a bad address."""
    server = GrobidServer(
        settings.grobid_url, timeout=settings.grobid_timeout, concurrency=settings.grobid_concurrency
    )
    return GrobidParser(server, KeptTei(settings.tei_path, FIELDS))


def _after(error: GrobidError, attempts: int) -> GrobidError:
    """Return the error with the number of requests that it took."""
    if attempts < 2:
        return error
    return type(error)(f"{error} (asked {attempts} times)", error.kind)


def _address(url: str) -> SplitResult:
    """Return the server's root; raises GrobidError, without the address, which may hold a password."""
    try:
        address = urlsplit(url.strip())
        usable = address.scheme in ("http", "https") and address.hostname and address.port != 0
    except ValueError:
        usable = False
    if not usable or address.query or address.fragment or not url.strip().isprintable():
        raise GrobidError("PAPER_TRAIL_GROBID_URL is no address such as http://127.0.0.1:8070")
    return address._replace(path=address.path.rstrip("/").removesuffix("/api").rstrip("/"))


def _shown(address: SplitResult) -> str:
    return address._replace(netloc=address.netloc.rpartition("@")[2], query="", fragment="").geturl()


def _is_this_machine(address: SplitResult) -> bool:
    host = address.hostname or ""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")
