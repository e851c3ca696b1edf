"""PDFs to TEI by a GROBID server, within its pool and with bounded retries.

Requests go through the official client; its own retries and `process` methods are not used, because they
repeat without end when the server is busy and take a lost connection for a bad PDF.
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
# Consolidation would make the server call services on the internet.
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
    """Retries of requests: waits in seconds, and numbers of attempts.

    `busy_attempts` is also the most requests for one PDF; after `papers_lost` in a row no more are sent.
    """

    first_wait: float = 5.0
    longest_wait: float = 30.0
    busy_attempts: int = 10
    lost_attempts: int = 5
    papers_lost: int = 3

    def attempts(self, kind: Kind) -> int:
        """Return the number of requests for one PDF that may fail in this way."""
        # After a time-out the server goes on working, with one engine fewer for others.
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
    """The official client, with streamed, bounded replies and without redirects."""

    def __init__(self, address: SplitResult, timeout: float) -> None:
        super().__init__(grobid_server=address.geturl(), check_server=False)
        self._timeouts = (min(timeout, LONGEST_CONNECT), timeout)
        # No proxy for a server on this machine.
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
        # Status replies are JSON and plain text; a strict server would refuse to send them as XML.
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
    """A semaphore with a limit that can change."""

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

    `timeout` (seconds) is how long it may stay silent. `concurrency` 0 means the size of the server's pool,
    which is never exceeded. Raises GrobidError when `url` is invalid.
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
        """Ask the server for its status, once and without retries."""
        try:
            answers = [self._get(check) for check in ("isalive", "version", "health")]
        except GrobidError as error:
            return GrobidStatus(self.url, problem=str(error))
        return read_status(self.url, *answers)

    def known_status(self) -> GrobidStatus:
        """Return the status when the server was first ready in this run, else the present one."""
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
            if len(tries) > 1:
                message = f"{error} (asked {len(tries)} times)"
                raise type(error)(message, error.kind) from None
            raise error from None
        self._count(None)
        return tei

    def stop(self) -> None:
        """Send no more requests in this run; waiting retries give up at once."""
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
            # Waiting threads wake when the server is given up.
            sleep=sleep_using_event(self._given_up),
            reraise=True,
        )

    def _attempt(self, content: bytes, tries: list[Kind]) -> bytes:
        with self._gate.entered():
            if self._given_up.is_set():
                lost = self._patience.papers_lost
                reason = (
                    "the run is being stopped"
                    if self._lost_papers < lost
                    else f"it failed for {lost} papers in a row; {ADVICE}, then run this again"
                )
                raise GrobidUnreachableError(f"{self._name} is not asked again in this run: {reason}")
            answer: Answer | None = None
            try:
                answer = self._post(content)
                return read_answer(self._name, answer.status, answer.body)
            except GrobidError as error:
                error.retry_after = answer.retry_after if answer else None
                tries.append(error.kind)
                raise

    def _count(self, error: GrobidError | None) -> None:
        """Count consecutive papers without a reply; after `papers_lost` give the server up."""
        with self._counting:
            self._lost_papers = self._lost_papers + 1 if isinstance(error, GrobidUnreachableError) else 0
            if self._lost_papers >= self._patience.papers_lost:
                self._given_up.set()

    def _post(self, content: bytes) -> Answer:
        with self._errors_translated(self._timeout):
            response, status = self._client.post(
                self._client.get_server_url("processFulltextDocument"),
                # A list of pairs, as fields repeat.
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
        """Return the first `limit` bytes of the body; raises ReadTimeout after `seconds`."""
        deadline = time.monotonic() + seconds
        body = bytearray()
        with closing(response):
            # Requests' iterators wait for full chunks, which a slow server fills byte by byte.
            while piece := response.raw.read1(READ_AT_ONCE, decode_content=False):
                body += piece
                if len(body) >= limit:
                    break
                if time.monotonic() > deadline:
                    raise requests.ReadTimeout
        return bytes(body[:limit])

    @contextmanager
    def _errors_translated(self, seconds: float) -> Iterator[None]:
        # Without causes, whose messages may contain a password in the address.
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
    """A server with a cache of its TEI."""

    def __init__(self, server: GrobidServer, kept: KeptTei) -> None:
        self.server = server
        self._kept = kept

    @property
    def at_once(self) -> int:
        return self.server.concurrency

    def stop(self) -> None:
        self.server.stop()

    def tei(self, pdf: Path, sha256: str) -> bytes:
        """Return the TEI of a PDF, cached or from the server; raises GrobidError.

        Cached TEI of other versions is used only while the server cannot be reached.
        """
        status = self.server.known_status()
        cache = self._kept
        cached = cache.of_version(sha256, status.version) if status.reachable else cache.newest(sha256)
        if cached:
            return cached
        try:
            tei = self.server.fulltext(pdf)
        except GrobidUnreachableError:
            if cached := cache.newest(sha256):
                return cached
            raise
        self._kept.keep(sha256, self.server.known_status().version, tei)
        return tei


def open_grobid(settings: Settings) -> GrobidParser:
    """Return a parser for the configured server; raises GrobidError for an invalid address."""
    server = GrobidServer(
        settings.grobid_url, timeout=settings.grobid_timeout, concurrency=settings.grobid_concurrency
    )
    return GrobidParser(server, KeptTei(settings.tei_path, FIELDS))


def _address(url: str) -> SplitResult:
    """Return the server's root; raises GrobidError, without the address, which may contain a password."""
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
