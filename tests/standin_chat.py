"""A stand-in chat server: real sockets and real event streams, with a scripted queue of behaviours."""

import json
import select
import socket
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler
from typing import Any, Literal

from tests.standin_server import StandinServer

KEY_CANARY = "tgp_canary_8f2c61d0b7"


@dataclass(frozen=True)
class Behaviour:
    """The server's behaviour for one request; waits are in seconds.

    `served` is the model that it names in its reply, by default the one asked for.
    `raw` is the body of the reply as it is sent, in place of all else. `wait_at_end` is before it ends.
    `ending`: "done" is a complete stream, "clean" ends it early but in good order, "socket" closes the
    connection in the middle, "drop" closes it before any byte.
    """

    pieces: tuple[str, ...] = ()
    status: int = 200
    message: Any = ""
    headers: tuple[tuple[str, str], ...] = ()
    wait_before: float = 0.0
    wait_between: float = 0.0
    wait_at_end: float = 0.0
    ending: Literal["done", "clean", "socket", "drop"] = "done"
    finish_reason: str = "stop"
    usage: tuple[int, int] | None = (11, 7)
    extra_events: tuple[str | bytes, ...] = ()
    bytes_at_once: int = 0
    content_type: str = "text/event-stream"
    served: str = ""
    raw: bytes | None = None


def reply(text: str, *pieces: str, **changes: Any) -> Behaviour:
    """Answer with `text`, or with the given pieces of it; by default two characters at a time."""
    pairs = tuple(text[start : start + 2] for start in range(0, len(text), 2))
    return replace(Behaviour(pieces=pieces or pairs), **changes)


def refusal(status: int, message: str = "no", retry_after: str | None = None) -> Behaviour:
    headers = () if retry_after is None else (("Retry-After", retry_after),)
    return Behaviour(status=status, message=message, headers=headers)


def silence(seconds: float = 5.0) -> Behaviour:
    return reply("too late", wait_before=seconds)


def dropped() -> Behaviour:
    return Behaviour(ending="drop")


def cut_off(text: str, ending: Literal["clean", "socket"] = "socket") -> Behaviour:
    return reply(text, ending=ending)


def malformed(text: str = "", event: str | bytes = "{not json") -> Behaviour:
    return reply(text, extra_events=(event,))


@dataclass(frozen=True)
class Received:
    """A request as it came."""

    path: str
    headers: dict[str, str]
    body: dict[str, Any]


@dataclass
class StandinChat(StandinServer):
    """The server, for a `with` block; behaviours are used up in order, then `default` answers.

    `default` may be made from the request. Without one, a request too many is answered with HTTP 418.
    `pages` are what it tells of itself by the path, as JSON or as bytes: without, it tells nothing.
    """

    behaviours: deque[Behaviour]
    default: Behaviour | Callable[[Received], Behaviour]
    requests: list[Received] = field(default_factory=list)
    hang_ups: int = 0
    connections: int = 0
    most_at_once: int = 0

    def __init__(
        self,
        *behaviours: Behaviour,
        default: Behaviour | Callable[[Received], Behaviour] | None = None,
        pages: Mapping[str, Any] | None = None,
    ) -> None:
        self.pages = dict(pages or {})
        self.asked_for: list[str] = []
        self.headers_heard: list[dict[str, str]] = []
        self.behaviours = deque(behaviours)
        self.default = default or refusal(418, "the stand-in has no behaviour left")
        self.requests = []
        self.hang_ups = 0
        self.connections = 0
        self.most_at_once = 0
        self._answering = 0
        self._counting = threading.Lock()
        self.open(_Handler)

    @property
    def url(self) -> str:
        """The address as users give it, with the version at its end."""
        return f"{self.address}/v1"

    def take(self, request: Received) -> Behaviour:
        self.requests.append(request)
        if self.behaviours:
            return self.behaviours.popleft()
        return self.default(request) if callable(self.default) else self.default

    @contextmanager
    def answering(self) -> Iterator[None]:
        """Count a request while it is being answered."""
        with self._counting:
            self._answering += 1
            self.most_at_once = max(self.most_at_once, self._answering)
        try:
            yield
        finally:
            with self._counting:
                self._answering -= 1

    def wait_for_hang_up(self, seconds: float = 10.0, count: int = 1) -> bool:
        """Return True if clients closed `count` connections while they were being answered."""
        deadline = time.monotonic() + seconds
        while self.hang_ups < count and time.monotonic() < deadline:
            time.sleep(0.01)
        return self.hang_ups >= count


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    # As real servers do: pieces of a stream otherwise wait 40 ms for each other.
    disable_nagle_algorithm = True
    standin: StandinChat

    def log_message(self, *_: object) -> None:
        pass

    def setup(self) -> None:
        self.is_counted = False
        super().setup()

    def do_GET(self) -> None:
        self.standin.asked_for.append(self.path)
        self.standin.headers_heard.append(dict(self.headers))
        found = self.standin.pages.get(self.path)
        if isinstance(found, bytes):
            self._send_bytes(200, found, "text/html")
        else:
            self._send_json(200 if found is not None else 404, found)

    def do_POST(self) -> None:
        self.standin.connections += not self.is_counted
        self.is_counted = True
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        behaviour = self.standin.take(Received(self.path, dict(self.headers), body))
        try:
            with self.standin.answering():
                behaviour = replace(behaviour, served=behaviour.served or str(body.get("model", "")))
                self._behave(behaviour, stream=bool(body.get("stream")))
        except (BrokenPipeError, ConnectionResetError):
            self.standin.hang_ups += 1
            self.close_connection = True

    def _behave(self, behaviour: Behaviour, *, stream: bool) -> None:
        self._wait(behaviour.wait_before)
        if self.path != "/v1/chat/completions":
            self._send_json(404, {"error": {"message": f"no such path: {self.path}"}})
        elif behaviour.ending == "drop":
            self._close()
        elif behaviour.status != 200 and behaviour.raw is not None:
            self._send_bytes(behaviour.status, behaviour.raw, "text/html")
        elif behaviour.status != 200:
            self._send_json(behaviour.status, {"error": {"message": behaviour.message}}, behaviour.headers)
        elif stream or behaviour.raw is not None:
            self._send_stream(behaviour)
        else:
            self._send_json(200, _completion(behaviour))

    def _send_json(self, status: int, body: Any, headers: tuple[tuple[str, str], ...] = ()) -> None:
        self._send_bytes(status, json.dumps(body).encode(), "application/json", headers)

    def _send_bytes(
        self, status: int, data: bytes, kind: str, headers: tuple[tuple[str, str], ...] = ()
    ) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        for name, value in headers:
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data)

    def _send_stream(self, behaviour: Behaviour) -> None:
        self.send_response(200)
        self.send_header("Content-Type", behaviour.content_type)
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for piece in behaviour.pieces:
            event = json.dumps(_chunk(piece, behaviour.served), ensure_ascii=False)
            self._send_event(event, behaviour.bytes_at_once)
            self._wait(behaviour.wait_between)
        for event in behaviour.extra_events:
            self._send_event(event)
            self._wait(behaviour.wait_between)
        if behaviour.raw is not None:
            self._send_parts(behaviour.raw, behaviour.bytes_at_once)
        self._wait(behaviour.wait_at_end)
        if behaviour.ending == "socket":
            self._close()
            return
        if behaviour.ending == "done" and behaviour.raw is None:
            self._send_end(behaviour)
        self.wfile.write(b"0\r\n\r\n")

    def _send_end(self, behaviour: Behaviour) -> None:
        self._send_event(json.dumps(_chunk("", behaviour.served, behaviour.finish_reason)))
        if behaviour.usage:
            counted = {**_chunk("", behaviour.served), "choices": [], "usage": _usage(behaviour.usage)}
            self._send_event(json.dumps(counted))
        self._send_event("[DONE]")

    def _send_event(self, data: str | bytes, bytes_at_once: int = 0) -> None:
        self._send_parts(
            b"data: " + (data if isinstance(data, bytes) else data.encode()) + b"\n\n", bytes_at_once
        )

    def _send_parts(self, event: bytes, bytes_at_once: int) -> None:
        step = bytes_at_once or len(event)
        for start in range(0, len(event), step):
            part = event[start : start + step]
            self.wfile.write(f"{len(part):x}\r\n".encode() + part + b"\r\n")
            self.wfile.flush()

    def _wait(self, seconds: float) -> None:
        """Wait, and notice a client that hangs up meanwhile, as real servers do."""
        deadline = time.monotonic() + seconds
        while (left := deadline - time.monotonic()) > 0 and not self.standin.closing.wait(min(left, 0.02)):
            readable, _, _ = select.select([self.connection], [], [], 0)
            if readable and not self.connection.recv(1, socket.MSG_PEEK):
                raise BrokenPipeError

    def _close(self) -> None:
        self.close_connection = True
        self.connection.shutdown(socket.SHUT_RDWR)


def _chunk(text: str, model: str, finish_reason: str | None = None) -> dict[str, Any]:
    choice = {"index": 0, "delta": {"content": text}, "finish_reason": finish_reason}
    return {
        "id": "standin",
        "object": "chat.completion.chunk",
        "created": 0,
        "model": model,
        "choices": [choice],
    }


def _completion(behaviour: Behaviour) -> dict[str, Any]:
    message = {"role": "assistant", "content": "".join(behaviour.pieces)}
    choice = {"index": 0, "message": message, "finish_reason": behaviour.finish_reason}
    usage = {"usage": _usage(behaviour.usage)} if behaviour.usage else {}
    return {
        "id": "standin",
        "object": "chat.completion",
        "created": 0,
        "model": behaviour.served,
        "choices": [choice],
        **usage,
    }


def _usage(tokens: tuple[int, int]) -> dict[str, int]:
    return {"prompt_tokens": tokens[0], "completion_tokens": tokens[1], "total_tokens": sum(tokens)}
