"""A stand-in file server: real sockets, files with ranges and versions, and a script of misbehaviours."""

import re
import threading
from collections import deque
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from typing import Literal

from tests.standin_server import StandinServer

PDF = b"%PDF-1.4\n" + bytes(range(256)) * 40 + b"\n%%EOF\n"


@dataclass(frozen=True)
class Served:
    """The content at a path; `etag` and `modified` are headers as sent, `length` a claimed size."""

    body: bytes
    content_type: str = "application/pdf"
    etag: str = '"one"'
    modified: str = ""
    ranges: bool = True
    length: int | None = None


@dataclass(frozen=True)
class Trouble:
    """The failure of one request: a status, a connection cut after some bytes, or silence."""

    status: int = 0
    headers: tuple[tuple[str, str], ...] = ()
    cut_after: int | None = None
    silent: float = 0.0
    kind: Literal["", "wrong range"] = ""


@dataclass(frozen=True)
class Asked:
    """A request as it came."""

    path: str
    headers: dict[str, str]


@dataclass
class StandinFiles(StandinServer):
    """The server, for a `with` block; troubles are used up in order, one per request, None for none."""

    files: dict[str, Served]
    troubles: deque[Trouble | None] = field(default_factory=deque)
    requests: list[Asked] = field(default_factory=list)
    at_once: int = 0
    most_at_once: int = 0

    @property
    def handler(self) -> type[BaseHTTPRequestHandler]:
        return _Handler

    def __post_init__(self) -> None:
        self.lock = threading.Lock()
        self.open(self.handler)

    @property
    def url(self) -> str:
        return self.address


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    standin: StandinFiles

    def log_message(self, *_: object) -> None:
        pass

    def do_GET(self) -> None:
        with self.standin.lock:
            self.standin.requests.append(Asked(self.path, dict(self.headers)))
            trouble = self.standin.troubles.popleft() if self.standin.troubles else None
        try:
            self._answer(trouble or Trouble())
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True

    def _answer(self, trouble: Trouble) -> None:
        self.standin.closing.wait(trouble.silent)
        served = self.standin.files.get(self.path)
        if trouble.status:
            self._send(trouble.status, b"", [*trouble.headers, ("Content-Type", "text/plain")])
        elif served is None:
            self._send(404, b"<html>no such page</html>", [("Content-Type", "text/html")])
        else:
            self._serve(served, trouble)

    def _serve(self, served: Served, trouble: Trouble) -> None:
        headers = [("Content-Type", served.content_type)]
        headers += [("ETag", served.etag)] if served.etag else []
        headers += [("Last-Modified", served.modified)] if served.modified else []
        start = self._start(served)
        if start is not None and start >= len(served.body):
            self._send(416, b"", [("Content-Range", f"bytes */{len(served.body)}")])
            return
        body = served.body[start or 0 :]
        if start is not None:
            told = start + 1 if trouble.kind == "wrong range" else start
            span = f"bytes {told}-{len(served.body) - 1}/{len(served.body)}"
            headers.append(("Content-Range", span))
        length = len(body) if served.length is None else served.length
        self._send(200 if start is None else 206, body, headers, length, trouble.cut_after)

    def _start(self, served: Served) -> int | None:
        """Return where to begin, None for the whole file: of another version the whole is sent."""
        asked = re.fullmatch(r"bytes=(\d+)-", self.headers.get("Range", ""))
        same = self.headers.get("If-Range", "") in {"", served.etag, served.modified}
        return int(asked[1]) if asked and same and served.ranges else None

    def _send(
        self,
        status: int,
        body: bytes,
        headers: list[tuple[str, str]],
        length: int | None = None,
        cut_after: int | None = None,
    ) -> None:
        self.send_response(status)
        for name, value in headers:
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body) if length is None else length))
        self.end_headers()
        self.wfile.write(body[:cut_after])
        if cut_after is not None or (length is not None and length != len(body)):
            self.close_connection = True
