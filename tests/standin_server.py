"""The common part of the stand-in servers: real sockets in a thread, for a `with` block."""

import socket
import threading
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self


class StandinServer:
    """A server that runs inside a `with` block; `closing` is set when it shall end."""

    def open(self, handler: type[BaseHTTPRequestHandler], port: int = 0) -> None:
        """Take a port; `handler` gets this server as its `standin`."""
        self.closing = threading.Event()
        bound = type("Handler", (handler,), {"standin": self})
        self._server = _Server(("127.0.0.1", port), bound)
        self._thread = threading.Thread(
            target=self._server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True
        )

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.closing.set()
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def __init__(self, *options: Any) -> None:
        self._open: set[socket.socket] = set()
        super().__init__(*options)

    def process_request(self, request: Any, client_address: Any) -> None:
        self._open.add(request)
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        self._open.discard(request)
        super().shutdown_request(request)

    def server_close(self) -> None:
        """End the threads that wait for another request: each keeps all of its test in memory."""
        super().server_close()
        for request in tuple(self._open):
            with suppress(OSError):
                request.shutdown(socket.SHUT_RDWR)

    def handle_error(self, *_: Any) -> None:
        pass  # a client that hangs up is no news
