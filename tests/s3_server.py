"""An S3 server for the tests, moto's, in an environment and a process of its own, and faults before it."""

import http.client
import json
import os
import re
import socket
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from itertools import count
from typing import Any, Literal
from urllib.parse import urlencode

import pytest

from deployment.site import free_ports
from tests.demo_home import PROJECT
from tests.standin_server import StandinServer

PROGRAM = PROJECT / ".venv-s3" / "bin" / "moto_server"
_NUMBERS = count(1)
SIGNED = (
    "AWS4-HMAC-SHA256 Credential=admin/20260101/us-east-1/s3/aws4_request, SignedHeaders=host, Signature=0"
)
_SLOW_DOWN = b"<Error><Code>SlowDown</Code><Message>Please reduce your request rate.</Message></Error>"
_INTERNAL = b"<Error><Code>InternalError</Code><Message>We encountered an internal error.</Message></Error>"

Kind = Literal["slow down", "error", "error after", "cut", "cut after", "slow", "hold"]
"""What becomes of a request: `after` it was carried out, or before; `hold` never answers."""


@dataclass
class Fault:
    """Befalls the next `times` requests of a method whose path holds a text."""

    kind: Kind
    method: str
    path: str = ""
    times: int = 1
    met: threading.Event = field(default_factory=threading.Event)


@dataclass(frozen=True, slots=True)
class S3Server:
    """The server, at a port of its own."""

    port: int

    def request(self, method: str, path: str, body: bytes = b"", **headers: str) -> tuple[int, bytes]:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        connection.request(method, path, body, {"Authorization": SIGNED, **headers})
        response = connection.getresponse()
        return response.status, response.read()


@contextmanager
def s3_server() -> Iterator[S3Server]:
    if not PROGRAM.exists():
        pytest.skip("there is no S3 server: `make s3` installs one")
    (port,) = free_ports(1)
    quiet = subprocess.DEVNULL
    process = subprocess.Popen([PROGRAM, "-H", "127.0.0.1", "-p", str(port)], stdout=quiet, stderr=quiet)
    try:
        _wait_for(port)
        yield S3Server(port)
    finally:
        process.kill()
        process.wait()


def _wait_for(port: int) -> None:
    for _ in range(600):
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.1)
    raise AssertionError("the S3 server does not answer")


@contextmanager
def checked_keys(server: S3Server) -> Iterator[None]:
    """Have the server check keys and rights, as it does not otherwise."""
    assert server.request("POST", "/moto-api/reset-auth", b"0")[0] == 200
    try:
        yield
    finally:
        server.request("POST", "/moto-api/reset-auth", b"inf")


def new_user(server: S3Server, policy: str) -> dict[str, str]:
    """Return the environment of a user with a policy."""

    def ask(**parameters: str) -> str:
        signed = SIGNED.replace("/s3/", "/iam/")
        kind = {"Content-Type": "application/x-www-form-urlencoded", "Authorization": signed}
        status, content = server.request("POST", "/", urlencode(parameters).encode(), **kind)
        assert status == 200, content
        return content.decode()

    name = f"user-{abs(hash(policy))}"
    ask(Action="CreateUser", UserName=name)
    ask(Action="PutUserPolicy", UserName=name, PolicyName="corpus", PolicyDocument=policy)
    made = ask(Action="CreateAccessKey", UserName=name)
    tags = {"AWS_ACCESS_KEY_ID": "AccessKeyId", "AWS_SECRET_ACCESS_KEY": "SecretAccessKey"}
    return {name: re.search(rf"<{tag}>(.*?)</{tag}>", made)[1] for name, tag in tags.items()}


def documented_policy(bucket_name: str) -> str:
    """Return the policy that the manual gives, for a bucket of the tests."""
    (policy,) = re.findall(
        r"```json\n(.*?)```", (PROJECT / "docs" / "operations" / "storage.md").read_text("utf-8"), re.S
    )
    return policy.replace("my-bucket", bucket_name)


def without(policy: str, *actions: str) -> str:
    document = json.loads(policy)
    for statement in document["Statement"]:
        statement["Action"] = [action for action in statement["Action"] if action not in actions] or [
            "s3:GetBucketLocation"
        ]
    return json.dumps(document)


class FaultyS3(StandinServer):
    """Stands before the server and hands requests on, but for what a fault befalls; `asked` lists all."""

    def __init__(self, server: S3Server) -> None:
        self.server, self.faults, self.asked = server, list[Fault](), list[str]()
        self.is_unconditional = False
        self.bucket = f"bucket-{next(_NUMBERS)}-{os.getpid()}"
        assert server.request("PUT", f"/{self.bucket}")[0] == 200
        self.open(_Handler)

    @property
    def home(self) -> str:
        return f"s3://{self.bucket}/papers"

    def fault(self, kind: Kind, method: str, path: str = "", times: int = 1) -> Fault:
        self.faults.append(Fault(kind, method, path, times))
        return self.faults[-1]

    def environment(self) -> dict[str, str]:
        return {
            "AWS_ACCESS_KEY_ID": "tester",
            "AWS_SECRET_ACCESS_KEY": "secret",
            "AWS_REGION": "us-east-1",
            "AWS_ENDPOINT_URL": self.address,
        }

    def next_fault(self, method: str, path: str) -> Fault | None:
        self.asked.append(f"{method} {path}")
        for fault in self.faults:
            if fault.times and fault.method == method and fault.path in path:
                fault.times -= 1
                fault.met.set()
                return fault
        return None


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    standin: FaultyS3

    def _answer(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        fault = self.standin.next_fault(self.command, self.path)
        kind = fault.kind if fault else ""
        if kind in ("slow down", "error"):
            self._send(503 if kind == "slow down" else 500, _SLOW_DOWN if kind == "slow down" else _INTERNAL)
        elif kind == "hold":
            self.standin.closing.wait()
        else:
            self._hand_on(body, kind)

    def _hand_on(self, body: bytes, kind: str) -> None:
        connection = http.client.HTTPConnection("127.0.0.1", self.standin.server.port, timeout=60)
        conditions = {"if-match", "if-none-match"} if self.standin.is_unconditional else set()
        headers = {name: value for name, value in self.headers.items() if name.lower() not in conditions}
        connection.request(self.command, self.path, body, headers)
        response = connection.getresponse()
        content = response.read()
        length = response.headers.get("Content-Length", str(len(content)))
        headers = {name: value for name, value in response.headers.items() if name != "Transfer-Encoding"}
        if kind == "cut after":
            self.close_connection = True
        elif kind == "error after":
            self._send(500, _INTERNAL)
        else:
            self._send(response.status, content, headers | {"Content-Length": length}, kind)

    def _send(self, status: int, content: bytes, headers: Any = None, kind: str = "") -> None:
        self.send_response_only(status)
        for name, value in (headers or {"Content-Length": str(len(content))}).items():
            self.send_header(name, value)
        self.end_headers()
        if self.command == "HEAD":
            return
        if kind == "cut":
            self.wfile.write(content[: len(content) // 2])
            self.close_connection = True
        elif kind == "slow":
            for start in range(0, len(content), max(1, len(content) // 8)):
                self.wfile.write(content[start : start + max(1, len(content) // 8)])
                self.wfile.flush()
                time.sleep(0.2)
        else:
            self.wfile.write(content)

    do_GET = do_PUT = do_POST = do_DELETE = do_HEAD = _answer  # noqa: N815 - names that the library calls

    def log_message(self, *_: Any) -> None:
        pass
