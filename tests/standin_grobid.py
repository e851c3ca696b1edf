"""A stand-in GROBID server: real sockets and multipart, a pool of engines, scripted and random faults."""

import hashlib
import json
import os
import random
import re
import socket
import struct
import threading
import time
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler
from typing import Any, Literal

from tests.standin_grobid_tei import empty_tei, tei_of
from tests.standin_server import StandinServer

XML = "application/xml; charset=UTF-8"
HTML = "text/html"
PERMANENT = ("NO_BLOCKS", "BAD_INPUT_DATA", "TOO_MANY_BLOCKS", "TOO_MANY_TOKENS")
PASSING = ("TIMEOUT", "TAGGING_ERROR", "PARSING_ERROR", "PDFALTO_CONVERSION_FAILURE", "GENERAL")
MESSAGES = {
    "NO_BLOCKS": "PDF parsing resulted in empty content",
    "BAD_INPUT_DATA": "PDF to XML conversion failed with error code: 1",
    "TOO_MANY_BLOCKS": "Postprocessed document is too big, contains: 200001",
    "TOO_MANY_TOKENS": "The document has 1000001 tokens, but the limit is 1000000",
    "TIMEOUT": "PDF to XML conversion timed out",
    "GENERAL": "An exception occurred while running Grobid.",
}
WORK_ROUTE = "/api/processFulltextDocument"


@dataclass(frozen=True)
class Behaviour:
    """The server's behaviour for one PDF; waits are in seconds. Without a body it sends the PDF's TEI.

    `ending`: "whole" is a complete answer, "chunked" one without a length, "drop" and "reset" end the
    connection before any byte, "cut" and "cut chunked" in the middle of the body, "cut unmarked" too, but
    in an answer whose length nothing tells.
    """

    status: int = 200
    body: bytes | None = None
    content_type: str = XML
    headers: tuple[tuple[str, str], ...] = ()
    work: float = 0.0
    between_pieces: float = 0.0
    ending: Literal["whole", "chunked", "drop", "reset", "cut", "cut chunked", "cut unmarked"] = "whole"


def failure(code: str, message: str = "") -> Behaviour:
    """Answer as for every processing error: bare text under a type that says XML."""
    text = f"[{code}] {message or MESSAGES.get(code, 'An error occurred')}"
    return Behaviour(status=500, body=text.encode())


def busy() -> Behaviour:
    return Behaviour(status=503, body=b"")


def nothing() -> Behaviour:
    return Behaviour(status=204, body=b"")


def understood_nothing() -> Behaviour:
    return Behaviour(body=empty_tei())


def proxy_page(status: int = 502) -> Behaviour:
    page = b"<!DOCTYPE html>\n<html><head><title>Gateway</title></head><body><h1>nginx</h1></body></html>"
    return Behaviour(status=status, body=page, content_type=HTML)


def lost(ending: Literal["drop", "reset", "cut", "cut chunked", "cut unmarked"] = "drop") -> Behaviour:
    return Behaviour(ending=ending)


@dataclass(frozen=True)
class FaultRates:
    """The shares of requests that go wrong; which ones is fixed by the seed, the PDF and the attempt."""

    seed: int = 0
    busy: float = 0.0
    each_code: float = 0.0
    dropped: float = 0.0

    def draw(self, md5: str, attempt: int) -> Behaviour | None:
        """Return the fault of a request, None for none."""
        faults = [(self.busy, busy())]
        faults += [(self.each_code, failure(code)) for code in (*PERMANENT, *PASSING)]
        faults += [(self.dropped / 2, lost("drop")), (self.dropped / 2, lost("cut"))]
        drawn = random.Random(f"{self.seed} {md5} {attempt}").random()
        for share, behaviour in faults:
            if drawn < share:
                return behaviour
            drawn -= share
        return None


@dataclass(frozen=True)
class Received:
    """A request for work as it came, `md5` in the server's upper-case form."""

    method: str
    path: str
    headers: Mapping[str, str]
    fields: tuple[tuple[str, str], ...]
    pdf: bytes
    md5: str

    def values(self, name: str) -> list[str]:
        return [value for field_name, value in self.fields if field_name == name]


@dataclass
class StandinGrobid(StandinServer):
    """The server, for a `with` block. A PDF's own script comes first, then the common one, then the rates.

    `profile` is how the checks answer; `stored` is TEI by MD5, for other PDFs it is made of them.
    """

    engines: int = 4
    profile: Literal["0.8", "0.9"] = "0.9"
    version: str = "0.9.1"
    version_as_text: bool = False
    work: float = 0.0
    pool_wait: float = 1.0
    rates: FaultRates = field(default_factory=FaultRates)
    stored: Mapping[str, bytes] = field(default_factory=dict)
    script: deque[Behaviour] = field(default_factory=deque)
    scripts: defaultdict[str, deque[Behaviour]] = field(default_factory=lambda: defaultdict(deque))
    checks: dict[str, tuple[int, bytes, str]] = field(default_factory=dict)
    ready: bool = True
    port: int = 0
    requests: list[Received] = field(default_factory=list)
    checked: Counter[str] = field(default_factory=Counter)
    asked: Counter[str] = field(default_factory=Counter)
    answered: defaultdict[str, list[Behaviour]] = field(default_factory=lambda: defaultdict(list))
    most_at_once: int = 0

    def __post_init__(self) -> None:
        self._lock = threading.Lock()
        self._borrowing = threading.Lock()
        self._free = threading.BoundedSemaphore(self.engines)
        self._inside = 0
        self.open(_Handler, self.port)
        self.port = int(self.address.rpartition(":")[2])

    @property
    def url(self) -> str:
        return self.address

    def receive(self, request: Received) -> Behaviour:
        """Keep a request and decide what is done with it."""
        with self._lock:
            self.requests.append(request)
            self.asked[request.md5] += 1
            for script in (self.scripts[request.md5], self.script):
                if script:
                    return script.popleft()
            drawn = self.rates.draw(request.md5, self.asked[request.md5])
        return drawn or (Behaviour() if request.pdf.startswith(b"%PDF-") else failure("BAD_INPUT_DATA"))

    def process(self, request: Received, behaviour: Behaviour) -> Behaviour:
        """Work on a request in one of the engines; without a free one the answer is 503."""
        with self._counted():
            if not self._borrow():
                done = busy()
            else:
                try:
                    self.closing.wait(self.work + behaviour.work)
                    done = self._done(request, behaviour)
                finally:
                    self._free.release()
        with self._lock:
            self.answered[request.md5].append(done)
        return done

    def _borrow(self) -> bool:
        # As in the real server: whoever waits for an engine makes the others wait behind him.
        with self._borrowing:
            return self._free.acquire(timeout=self.pool_wait)

    def _done(self, request: Received, behaviour: Behaviour) -> Behaviour:
        if behaviour.body is not None:
            return behaviour
        return replace(behaviour, body=self.stored.get(request.md5) or tei_of(request.pdf, self.version))

    @contextmanager
    def _counted(self):
        with self._lock:
            self._inside += 1
            self.most_at_once = max(self.most_at_once, self._inside)
        try:
            yield
        finally:
            with self._lock:
                self._inside -= 1

    def check(self, name: str) -> tuple[int, bytes, str]:
        """Return status, body and type of a check's answer."""
        self.checked[name] += 1
        if name in self.checks:
            return self.checks[name]
        answers: dict[str, Callable[[], tuple[int, bytes, str]]] = {
            "isalive": self._isalive,
            "version": self._version,
            "health": self._health,
        }
        return answers[name]()

    def _isalive(self) -> tuple[int, bytes, str]:
        if self.profile == "0.8" or self.ready:
            return 200, b"true", "text/plain"
        return 503, b"false", "text/plain"

    def _version(self) -> tuple[int, bytes, str]:
        if self.version_as_text:
            return 200, self.version.encode(), "text/plain"
        told = {"version": self.version, "revision": "a91ee48"}
        return 200, json.dumps(told).encode(), "application/json"

    def _health(self) -> tuple[int, bytes, str]:
        if self.profile == "0.8":
            return 200, b"", "application/json"
        told: dict[str, Any] = {
            "initialized": self.ready,
            "ready": self.ready,
            "pool": {"initialized": self.ready, "active": 0, "idle": 0, "maxActive": self.engines},
            "models": {"loaded": {"header": "wapiti"}, "failed": {}, "totalLoaded": 1, "totalFailed": 0},
            "grobidHomeConfigured": True,
        }
        return 200 if self.ready else 503, json.dumps(told).encode(), "application/json"


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    standin: StandinGrobid

    def log_message(self, *_: object) -> None:
        pass

    def do_GET(self) -> None:
        name = self.path.partition("?")[0].removeprefix("/api/")
        if name in ("isalive", "version", "health") and self.path.startswith("/api/"):
            status, body, content_type = self.standin.check(name)
            self._send(Behaviour(status=status, body=body, content_type=content_type))
        else:
            self._send(Behaviour(status=404, body=b""))

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        try:
            self._send(self._work(body))
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True

    def _work(self, body: bytes) -> Behaviour:
        if self.path != WORK_ROUTE:
            return Behaviour(status=404, body=b"")
        fields, pdf = _parse_multipart(self.headers["Content-Type"], body)
        md5 = hashlib.md5(pdf).hexdigest().upper()
        request = Received(self.command, self.path, dict(self.headers), fields, pdf, md5)
        return self.standin.process(request, self.standin.receive(request))

    def _send(self, behaviour: Behaviour) -> None:
        if behaviour.ending in ("drop", "reset"):
            self._close(reset=behaviour.ending == "reset")
            return
        body = behaviour.body or b""
        chunked, unmarked = "chunked" in behaviour.ending, "unmarked" in behaviour.ending
        self.send_response(behaviour.status)
        for name, value in (("Content-Type", behaviour.content_type), *behaviour.headers):
            self.send_header(name, value)
        if chunked:
            self.send_header("Transfer-Encoding", "chunked")
        elif not unmarked and behaviour.status != 204:
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        cut = "cut" in behaviour.ending
        self._send_pieces(body[: len(body) // 2] if cut else body, chunked, behaviour.between_pieces)
        if cut:
            self._close()
        elif chunked:
            self.wfile.write(b"0\r\n\r\n")

    def _send_pieces(self, body: bytes, chunked: bool, wait: float) -> None:
        step = 16 if wait else max(1, len(body))
        for start in range(0, len(body), step):
            piece = body[start : start + step]
            self.wfile.write(b"%x\r\n%s\r\n" % (len(piece), piece) if chunked else piece)
            self.wfile.flush()
            if wait and self.standin.closing.wait(wait):
                return

    def _close(self, reset: bool = False) -> None:
        self.close_connection = True
        if reset:
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            # The socket's file objects would keep it open; only closing it here sends the reset.
            os.close(self.connection.detach())
        else:
            self.connection.shutdown(socket.SHUT_RDWR)


_NAME = re.compile(rb'name="([^"]*)"')


def _parse_multipart(content_type: str, body: bytes) -> tuple[tuple[tuple[str, str], ...], bytes]:
    """Return the fields in their order, repeated ones too, and the `input` part."""
    boundary = b"--" + content_type.partition("boundary=")[2].strip('"').encode()
    fields, pdf = [], b""
    for part in body.split(boundary)[1:-1]:
        head, _, content = part.removesuffix(b"\r\n").partition(b"\r\n\r\n")
        found = _NAME.search(head)
        name = found[1].decode() if found else ""
        if name == "input":
            pdf = content
        else:
            fields.append((name, content.decode("utf-8", "replace")))
    return tuple(fields), pdf


def wait_until(holds: Callable[[], bool], seconds: float = 5.0) -> bool:
    """Return whether something comes to hold in time."""
    deadline = time.monotonic() + seconds
    while not holds() and time.monotonic() < deadline:
        time.sleep(0.005)
    return holds()
