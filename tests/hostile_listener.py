"""A server that nothing may ever ask for anything: what hostile texts point at."""

from http.server import BaseHTTPRequestHandler

from tests.standin_server import StandinServer


class Listener(StandinServer):
    """The server, for a `with` block; `heard` holds the line of every request that came after all."""

    def __init__(self) -> None:
        self.heard: list[str] = []
        self.open(_Handler)


class _Handler(BaseHTTPRequestHandler):
    standin: Listener

    def log_message(self, *_: object) -> None:
        pass

    def parse_request(self) -> bool:
        """Count whatever comes, were it not even HTTP."""
        self.standin.heard.append(self.raw_requestline.decode("latin-1").strip())
        return super().parse_request()

    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Access-Control-Allow-Origin", "*")
        self.end_headers()
