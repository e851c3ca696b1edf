"""A stand-in model hub: data sets' files under their revisions over real sockets, and its misbehaviours."""

import hashlib
import re
import socket
import struct
from collections.abc import Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from typing import Literal
from urllib.parse import unquote

from tests.standin_server import StandinServer

COMMIT = "c" * 40
_PATH = re.compile(r"/datasets/(?P<repository>[^/]+/[^/]+)/resolve/(?P<revision>[^/]+)/(?P<path>.+)")


@dataclass(frozen=True)
class Fault:
    """The failure of a file: a status with the hub's own code for it, or other content.

    "short" ends early in good order, "cut" closes the first connection in the middle, "reset" resets every
    one, "other" sends other bytes than the hub says, "strange" sends none of the hub's own headers.
    """

    status: int = 0
    code: str = ""
    kind: Literal["", "short", "cut", "reset", "other", "strange"] = ""


@dataclass
class StandinHub(StandinServer):
    """The server, for a `with` block; `files` are by repository and path, as are the `faults`."""

    files: Mapping[tuple[str, str], bytes]
    faults: Mapping[tuple[str, str], Fault] = field(default_factory=dict)
    requests: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.cut: set[str] = set()
        self.open(_Handler)

    @property
    def revisions(self) -> set[str]:
        """The revisions that were asked for."""
        found = (_PATH.fullmatch(request.partition(" ")[2]) for request in self.requests)
        return {unquote(file["revision"]) for file in found if file}


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    standin: StandinHub

    def log_message(self, *_: object) -> None:
        pass

    def do_HEAD(self) -> None:
        self._answer(with_body=False)

    def do_GET(self) -> None:
        self._answer(with_body=True)

    def _answer(self, *, with_body: bool) -> None:
        self.standin.requests.append(f"{self.command} {self.path}")
        asked = _PATH.fullmatch(self.path)
        key = (asked["repository"], asked["path"]) if asked else ("", "")
        fault = self.standin.faults.get(key, Fault())
        content = self.standin.files.get(key)
        if fault.status or content is None:
            self._refuse(fault.status or 404, fault.code or "EntryNotFound")
        else:
            self._send(content, fault.kind, with_body=with_body)

    def _commit(self) -> str:
        """Return the commit of the revision that was asked for, which may be one."""
        asked = _PATH.fullmatch(self.path)
        return asked["revision"] if asked and re.fullmatch("[0-9a-f]{40}", asked["revision"]) else COMMIT

    def _refuse(self, status: int, code: str) -> None:
        self.send_response(status)
        self.send_header("X-Error-Code", code)
        self.send_header("X-Repo-Commit", self._commit())
        self.send_header("Content-Length", "0")
        self.end_headers()

    def _send(self, content: bytes, kind: str, *, with_body: bool) -> None:
        start = int((re.fullmatch(r"bytes=(\d+)-", self.headers.get("Range", "")) or ("", "0"))[1])
        body = bytes(len(content)) if kind == "other" else content
        rest = body[start : len(body) // 2] if kind == "short" and with_body else body[start:]
        self.send_response(206 if start else 200)
        if start:
            self.send_header("Content-Range", f"bytes {start}-{len(content) - 1}/{len(content)}")
        if kind != "strange":
            self.send_header("ETag", f'"{hashlib.sha256(content).hexdigest()}"')
            self.send_header("X-Repo-Commit", self._commit())
        self.send_header("Content-Length", str(len(rest)))
        self.end_headers()
        if with_body:
            self._write(rest, kind)

    def _write(self, rest: bytes, kind: str) -> None:
        is_cut = kind == "cut" and self.path not in self.standin.cut
        self.wfile.write(rest[: len(rest) // 2] if is_cut or kind == "reset" else rest)
        self.wfile.flush()
        if kind == "reset":
            # Closing a socket that may not linger resets its connection.
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        if is_cut or kind == "reset":
            self.standin.cut.add(self.path)
            self.close_connection = True
            self.connection.close() if kind == "reset" else self.connection.shutdown(socket.SHUT_RDWR)
