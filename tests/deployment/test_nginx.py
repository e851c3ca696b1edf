"""nginx as we configure it, before processes that say what they were asked, on real sockets."""

import json
import shutil
import socket
import subprocess
import threading
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Self

import httpx
import pytest
import uvicorn
from starlette.responses import JSONResponse
from starlette.types import Receive, Scope, Send

from corpus.settings import read_settings
from deployment.nginx import Frontend, configuration
from deployment.site import free_ports
from explorer.app.security import HSTS, ClientAddress, is_https
from explorer.jobs.rate_limit import ADDRESS_HEADER
from tests.served_site import NGINX, until
from tests.standin_server import StandinServer

pytestmark = pytest.mark.skipif(not NGINX, reason="nginx is not installed")
COOKIE, STAYS_HTTPS = "paper_trail_process", "strict-transport-security"
PAGE = {"accept": "text/html"}


class EchoingProcess(StandinServer):
    """A process that tells what came to it, or refuses with a status while `refusing` is one."""

    def __init__(self, name: str) -> None:
        self.name, self.refusing, self.asked = name, 0, 0
        self.open(_Echo)

    @property
    def place(self) -> str:
        return self.address.removeprefix("http://")


class _Echo(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    standin: EchoingProcess

    def log_message(self, *_: object) -> None:
        pass

    def do_GET(self) -> None:
        self._answer()

    def do_POST(self) -> None:
        self._answer()

    def do_PUT(self) -> None:
        self._answer()

    def _answer(self) -> None:
        self.standin.asked += 1
        length = int(self.headers.get("content-length", 0))
        self.rfile.read(length)
        if self.path == "/api/events":
            self._stream()
            return
        told = {"process": self.standin.name, "path": self.path, "headers": dict(self.headers.items())}
        self._reply(self.standin.refusing or 200, json.dumps(told | {"length": length}).encode())

    def _stream(self) -> None:
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("connection", "close")
        self.end_headers()
        for _ in range(2):
            self.wfile.write(b"data: now\n\n")
            self.wfile.flush()
            self.standin.closing.wait(30.0)

    def _reply(self, status: int, data: bytes) -> None:
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        if self.headers["x-forwarded-proto"] == "https":  # as the app does
            self.send_header(STAYS_HTTPS, HSTS)
        self.end_headers()
        self.wfile.write(data)


class NotingApp:
    """The part of the app that notes who comes, under the server that it has, which reads headers too."""

    def __init__(self) -> None:
        self._listening = socket.socket()
        self._listening.bind(("127.0.0.1", 0))
        self.place = f"127.0.0.1:{self._listening.getsockname()[1]}"
        config = uvicorn.Config(ClientAddress(self._tell), log_config=None, lifespan="off", ws="none")
        self._server = uvicorn.Server(config)
        sockets = {"sockets": [self._listening]}
        self._thread = threading.Thread(target=self._server.run, kwargs=sockets, daemon=True)

    async def _tell(self, scope: Scope, receive: Receive, send: Send) -> None:
        address = dict(scope["headers"])[ADDRESS_HEADER.encode()].decode()
        told = {"address": address, "https": is_https(scope, read_settings().trusted_proxies)}
        await JSONResponse(told)(scope, receive, send)

    def __enter__(self) -> Self:
        self._thread.start()
        until(lambda: self._server.started)
        return self

    def __exit__(self, *_: object) -> None:
        self._server.should_exit = True
        self._thread.join(30)
        self._listening.close()


@contextmanager
def fronted(
    processes: Sequence[EchoingProcess | NotingApp], log: Path | None = None, **frontend: Any
) -> Iterator[str]:
    """Run nginx before processes, and keep what it logs in a file; yield its address."""
    listen = f"127.0.0.1:{free_ports(1)[0]}"
    address = f"{'https' if frontend.get('certificate') else 'http'}://{listen}"
    # Not below pytest's folders, which nginx's workers may not enter where root starts it.
    with TemporaryDirectory(prefix="paper-trail-nginx-") as name, ExitStack() as stack:
        folder = Path(name)
        folder.chmod(0o755)
        config, log = folder / "nginx.conf", log or folder / "log"
        config.write_text(
            configuration(Frontend([process.place for process in processes], listen, name, 20, **frontend))
        )
        output = stack.enter_context(log.open("wb"))
        nginx = stack.enter_context(
            subprocess.Popen([str(NGINX), "-p", name, "-c", str(config), "-e", "stderr"], stderr=output)
        )
        try:
            until(lambda: nginx.poll() is not None or _answers(address), 20)
            assert nginx.poll() is None, log.read_text()
            yield address
        finally:
            nginx.terminate()


def _answers(address: str) -> bool:
    try:
        return httpx.get(f"{address}/metrics", verify=False).status_code == 404
    except httpx.TransportError:
        return False


@pytest.fixture
def processes() -> Iterator[list[EchoingProcess]]:
    with ExitStack() as stack:
        yield [stack.enter_context(EchoingProcess(name)) for name in ("p1", "p2", "p3")]


@pytest.fixture
def site(processes: list[EchoingProcess]) -> Iterator[str]:
    with fronted(processes) as address:
        yield address


def process_of(reply: httpx.Response) -> str:
    return str(reply.json()["process"])


def test_a_visitor_stays_with_the_process_that_drew_the_page_by_a_safe_cookie(site: str) -> None:
    seen = set()
    for _ in range(12):
        with httpx.Client(base_url=site) as visitor:
            page = visitor.get("/ask", headers=PAGE)
            assert visitor.cookies[COOKIE] == process_of(page)
            later = [visitor.get(path) for path in ("/media/a.png", "/_stcore/host-config", "/static/a.js")]
            later.append(visitor.put("/_stcore/upload_file/session/1", content=b"x" * 3_000_000))
            again = visitor.get("/ask", headers=PAGE)
            assert {process_of(response) for response in (*later, again)} == {process_of(page)}
            assert "set-cookie" not in again.headers
            assert not any("set-cookie" in response.headers for response in later)
            seen.add(process_of(page))
    assert seen == {"p1", "p2", "p3"}, "newcomers are sent to every process"
    given = httpx.get(f"{site}/", headers=PAGE).headers["set-cookie"]
    assert given.split("; ")[1:] == ["Path=/", "HttpOnly", "SameSite=Lax"]


@pytest.mark.parametrize("forged", ["p9", "p1 p1", "'; DROP", "p2\\", "", "x" * 4000])
def test_a_cookie_of_no_process_is_taken_for_none(site: str, forged: str) -> None:
    page = httpx.get(f"{site}/", headers=PAGE | {"cookie": f"{COOKIE}={forged}"})
    assert page.status_code == 200
    assert f"{COOKIE}={process_of(page)};" in page.headers["set-cookie"]


def test_visitors_of_a_lost_process_go_to_another_and_stay(processes: list[EchoingProcess]) -> None:
    gone, *others = processes
    with fronted(processes) as site, httpx.Client(base_url=site, cookies={COOKIE: "p1"}) as visitor:
        assert process_of(visitor.get("/", headers=PAGE)) == "p1"
        gone.refusing = 503
        page = visitor.get("/", headers=PAGE)
        moved_to = process_of(page)
        assert moved_to in {cookie.name for cookie in others}
        visitor.cookies = httpx.Cookies({COOKIE: page.headers["set-cookie"].split(";")[0].partition("=")[2]})
        gone.refusing = 0
        assert process_of(visitor.get("/media/a.png")) == moved_to
        assert process_of(visitor.get("/", headers=PAGE)) == moved_to


def test_files_of_another_tab_are_found(site: str, processes: list[EchoingProcess]) -> None:
    processes[0].refusing = 404
    assert process_of(httpx.get(f"{site}/media/a.png", cookies={COOKIE: "p1"})) != "p1"
    processes[0].refusing = 403
    upload = httpx.put(f"{site}/_stcore/upload_file/s/1", content=b"x" * 100_000, cookies={COOKIE: "p1"})
    assert process_of(upload) != "p1"
    assert upload.json()["length"] == 100_000


def test_a_question_of_a_program_is_never_asked_twice(site: str, processes: list[EchoingProcess]) -> None:
    for process in processes:
        process.refusing = 503
    assert httpx.post(f"{site}/api/v1/ask", json={}, headers={"authorization": "k"}).status_code == 503
    assert sum(process.asked for process in processes) == 1


def test_fault_a_key_chose_its_process_by_the_spelling_of_its_header(site: str) -> None:
    found = {}
    for key in range(40):
        headers = {"authorization": f"Bearer {key}"}
        at = {process_of(httpx.get(f"{site}/api/v1/collections", headers=headers)) for _ in range(3)}
        assert len(at) == 1
        found[key] = at.pop()
    assert set(found.values()) == {"p1", "p2", "p3"}
    for key in range(10):
        spellings = (f"Bearer key-{key}", f"bearer key-{key}", f"BEARER   key-{key}", f"bEARER\tkey-{key}")
        address = f"{site}/api/v1/collections"
        asked = [httpx.get(address, headers={"authorization": written}) for written in spellings]
        with_cookies = [
            httpx.get(address, headers={"authorization": spellings[0], "cookie": f"{COOKIE}={name}"})
            for name in ("p1", "p2", "p3")
        ]
        assert len({process_of(reply) for reply in (*asked, *with_cookies)}) == 1


def test_fault_errors_of_nginx_itself_came_as_its_own_pages() -> None:
    with EchoingProcess("p1") as gone:
        pass
    with fronted([gone]) as site:
        large = httpx.post(f"{site}/api/v1/ask", content=b"x" * 2_000_000)
        assert (large.status_code, large.json()["error"]) == (413, "too_large")
        asked = httpx.post(f"{site}/api/v1/ask", json={})
        page = httpx.get(f"{site}/", headers=PAGE)
    assert (asked.status_code, asked.json()["error"]) == (503, "busy")
    assert (page.status_code, "starting or stopping" in page.text) == (503, True)
    assert asked.headers["retry-after"] == page.headers["retry-after"] == "5"


def test_fault_one_address_could_take_all_connections(processes: list[EchoingProcess]) -> None:
    with fronted(processes) as site, ExitStack() as stack:
        place = site.removeprefix("http://").split(":")
        for _ in range(256):
            held = stack.enter_context(socket.create_connection((place[0], int(place[1]))))
            held.sendall(b"POST /api/v1/ask HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\n")

        def refused() -> bool:
            return httpx.get(f"{site}/api/v1/collections").status_code == 429

        until(refused, 10)
        refusal, page = httpx.get(f"{site}/api/v1/collections"), httpx.get(f"{site}/", headers=PAGE)
    assert (refusal.json()["error"], refusal.headers["retry-after"]) == ("too_many_requests", "5")
    assert page.status_code == 429


def test_fault_a_connection_that_said_nothing_was_held_for_a_minute(site: str) -> None:
    host, port = site.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port))) as silent:
        silent.sendall(b"GET / HTTP/1.1\r\nHost: ")
        silent.settimeout(25)
        with suppress(ConnectionResetError):
            assert b"200" not in silent.recv(100)


def test_fault_under_a_name_that_is_not_its_own_a_page_stayed_empty(processes: list[EchoingProcess]) -> None:
    with fronted(processes, hosts=("127.0.0.1", "papers.example.org", "*.example.net")) as site:
        named = {
            host: httpx.get(f"{site}/", headers=PAGE | {"host": host})
            for host in ("127.0.0.1:8501", "Papers.example.org", "a.example.net", "other.org", "[::1]")
        }
        health = httpx.get(f"{site}/readyz", headers={"host": "10.0.0.7"})
    assert [response.status_code for response in named.values()] == [200, 200, 200, 421, 421]
    assert "--host" in named["other.org"].text
    assert health.status_code == 200


@pytest.fixture
def noting(monkeypatch: pytest.MonkeyPatch) -> Iterator[NotingApp]:
    monkeypatch.setenv("PAPER_TRAIL_TRUSTED_PROXIES", "127.0.0.1")
    with NotingApp() as app:
        yield app


@pytest.mark.parametrize("name", ["X-Forwarded-For", "x-forwarded-for", ADDRESS_HEADER])
def test_a_visitor_cannot_forge_an_address_or_a_protocol(noting: NotingApp, name: str) -> None:
    forged = {name: "198.51.100.7, 127.0.0.1", "X-Forwarded-Proto": "https", "Forwarded": "for=198.51.100.7"}
    with fronted([noting]) as site:
        page = httpx.get(f"{site}/", headers=PAGE | forged)
    assert page.json() == {"address": "127.0.0.1/32", "https": False}
    assert "Secure" not in page.headers["set-cookie"]
    assert STAYS_HTTPS not in page.headers


def test_a_proxy_of_the_operator_is_believed(noting: NotingApp) -> None:
    told = {"X-Forwarded-For": "192.0.2.1, 198.51.100.7", "X-Forwarded-Proto": "https"}
    with fronted([noting], proxies=("127.0.0.0/8",)) as site:
        page = httpx.get(f"{site}/", headers=PAGE | told)
    # Of what a proxy was told it vouches for the last alone.
    assert page.json() == {"address": "198.51.100.7/32", "https": True}
    assert "; Secure" in page.headers["set-cookie"]


def test_hosts_events_and_uploads_reach_the_app_as_they_are(site: str) -> None:
    heard = httpx.get(f"{site}/", headers={"host": "papers.example.org:8443"}).json()["headers"]
    assert heard["Host"] == "papers.example.org:8443"
    with httpx.stream("GET", f"{site}/api/events") as reply:
        # The second one comes half a minute later.
        assert next(reply.iter_bytes()) == b"data: now\n\n"
    address = f"{site}/_stcore/upload_file/session/1"
    assert httpx.put(address, content=b"x" * 20 * 2**20).status_code == 200
    assert httpx.put(address, content=b"x" * (21 * 2**20 + 1)).status_code == 413
    # A request that cannot be read was answered by a page of nginx.
    replies = [
        httpx.get(f"{site}/api/v1/collections", headers={"x-long": "x" * 40_000}),
        httpx.get(f"{site}/api/v1/collections?{'x' * 40_000}"),
    ]
    assert [(reply.status_code, reply.json()["error"]) for reply in replies] == [(400, "invalid_request")] * 2


@pytest.mark.parametrize(
    "path", ["/metrics", "/metrics?x=1", "/_stcore/metrics", "/_stcore//metrics", "/%6detrics"]
)
def test_figures_are_not_reached_from_outside(site: str, processes: list[EchoingProcess], path: str) -> None:
    assert httpx.get(f"{site}{path}").status_code == 404
    assert sum(process.asked for process in processes) == 0


def test_it_speaks_https_with_a_certificate(tmp_path: Path, noting: NotingApp) -> None:
    certificate, key = str(tmp_path / "certificate.pem"), str(tmp_path / "key.pem")
    if not (openssl := shutil.which("openssl")):
        pytest.skip("openssl is not installed")
    made = "req -x509 -newkey rsa:2048 -nodes -subj /CN=127.0.0.1".split()
    subprocess.run([openssl, *made, "-keyout", key, "-out", certificate], check=True, capture_output=True)
    with fronted([noting], certificate=certificate, key=key) as site:
        page = httpx.get(f"{site}/", headers=PAGE, verify=False)
    assert page.json() == {"address": "127.0.0.1/32", "https": True}
    assert page.headers["set-cookie"].endswith("; Secure")
    assert page.headers[STAYS_HTTPS] == HSTS


@pytest.mark.parametrize(
    ("path", "status"),
    [("/", 200), ("/media/a.png", 200), ("/api/v1/collections", 200), ("/readyz", 200), ("/metrics", 404)],
)
def test_fault_over_https_browsers_were_not_told_to_stay_there(
    processes: list[EchoingProcess], path: str, status: int
) -> None:
    with fronted(processes, proxies=("127.0.0.0/8",)) as site:
        for proto, told in (("https", [HSTS]), ("http", [])):
            reply = httpx.get(f"{site}{path}", headers=PAGE | {"X-Forwarded-Proto": proto})
            assert (reply.status_code, reply.headers.get_list(STAYS_HTTPS)) == (status, told)


def test_fault_replies_of_nginx_itself_did_not_tell_browsers_to_stay_with_https() -> None:
    with EchoingProcess("p1") as gone:
        pass
    with fronted([gone], proxies=("127.0.0.0/8",), hosts=("127.0.0.1",)) as site:
        for path, host in (("/", "127.0.0.1"), ("/api/v1/ask", "127.0.0.1"), ("/", "other.org")):
            reply = httpx.get(f"{site}{path}", headers={"X-Forwarded-Proto": "https", "host": host})
            assert reply.status_code in (421, 503)
            assert reply.headers.get_list(STAYS_HTTPS) == [HSTS], path


def test_nothing_that_is_asked_stands_in_its_log(tmp_path: Path) -> None:
    with EchoingProcess("p1") as gone:
        pass
    with fronted([gone], tmp_path / "log") as site:
        assert httpx.get(f"{site}/ask?question=canary", headers=PAGE).status_code == 503
    assert "canary" not in (tmp_path / "log").read_text()
