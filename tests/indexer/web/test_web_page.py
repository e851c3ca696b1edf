"""Fetching one page: kinds, limits, redirects, and servers that mean harm."""

import contextlib
import socket
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import pytest

from indexer.errors import ParseError
from indexer.parsers.text.html import read_html
from indexer.parsers.text.text_file import read_text_file
from indexer.web import addresses as web_address
from indexer.web import pages as web_page
from indexer.web.pages import FetchLimits, fetch_page
from tests.standin_files import PDF, Served, StandinFiles, Trouble
from tests.standin_server import StandinServer

LIMITS = FetchLimits(most_bytes=100_000, seconds=20, allow_private=True)
HTML = b"<html><body><article><h1>A page</h1></article></body></html>"


def moved(to: str) -> Trouble:
    return Trouble(302, (("Location", to),))


def fetch(server: StandinFiles, folder: Path, path: str = "/a", limits: FetchLimits = LIMITS) -> Path:
    return fetch_page(server.url + path, folder, limits).path


@pytest.mark.parametrize(
    ("served", "name"),
    [
        (Served(PDF), "page.pdf"),
        (Served(PDF, "application/octet-stream"), "page.pdf"),
        (Served(HTML, "text/html; charset=utf-8"), "page.html"),
        (Served(b"  <!DOCTYPE html><p>x", ""), "page.html"),
        (Served(b"# Title", "text/markdown"), "page.md"),
        (Served(b"words", "text/plain"), "page.txt"),
        (Served(b"PK\x03\x04", "binary/octet-stream"), "page.docx"),
    ],
)
def test_a_file_is_named_by_its_kind(tmp_path: Path, served: Served, name: str) -> None:
    with StandinFiles({"/a": served}) as server:
        path = fetch(server, tmp_path)
    assert (path.name, path.read_bytes()) == (name, served.body)


def test_plain_text_called_markdown_is_markdown_and_proxies_are_not_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with StandinFiles({"/a.md": Served(b"# Title", "text/plain")}) as server:
        assert fetch(server, tmp_path, "/a.md").name == "page.md"
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9/")
    with StandinFiles({"/a": Served(PDF)}) as server:
        assert fetch(server, tmp_path).name == "page.pdf"


@pytest.mark.parametrize(
    ("served", "text"),
    [
        (Served("Größe".encode("latin-1"), "text/plain; charset=iso-8859-1"), "Größe"),
        (Served('<meta charset="shift_jis">論文'.encode("shift_jis"), "text/html"), "論文"),
        (Served("Größe".encode(), "text/plain; charset=nonsense"), "Größe"),
        (Served("“Größe”".encode("cp1252"), "text/plain; charset=iso-8859-1"), "“Größe”"),
        (Served("研究镕".encode("gbk"), "text/plain; charset=gb2312"), "研究镕"),
    ],
)
def test_text_is_kept_in_utf_8(tmp_path: Path, served: Served, text: str) -> None:
    with StandinFiles({"/a": served}) as server:
        assert text in fetch(server, tmp_path).read_text("utf-8-sig")


@pytest.mark.parametrize(
    ("served", "text"),
    [
        (Served(b"\xef\xbb\xbf" + "<p>Größe".encode(), "text/html; charset=windows-1251"), "Größe"),
        (Served("<p>Größe “gut”".encode(), "text/html; charset=iso-8859-1"), "Größe “gut”"),
        (Served('<meta charset="windows-1252"><p>Größe'.encode(), "text/html"), "Größe"),
        (Served('<meta charset="euc-jp">論文'.encode("euc-jp"), "text/html; charset=ISO-8859-1"), "論文"),
        (
            Served('<?xml version="1.0" encoding="iso-8859-2"?><p>Łódź'.encode("iso8859-2"), "text/html"),
            "Łódź",
        ),
        (Served("<p>Größe".encode("utf-16"), "text/html"), "Größe"),
    ],
)
def test_fault_a_page_was_read_as_its_server_said_and_not_as_it_is(
    tmp_path: Path, served: Served, text: str
) -> None:
    with StandinFiles({"/a": served}) as server:
        assert text in read_text_file(fetch(server, tmp_path))[0]


@pytest.mark.parametrize("kind", ["text/html; charset=UTF-8", "application/x-download", '"application/pdf"'])
def test_fault_a_pdf_that_is_called_something_else_was_refused(tmp_path: Path, kind: str) -> None:
    with StandinFiles({"/a": Served(PDF, kind)}) as server:
        assert fetch(server, tmp_path).name == "page.pdf"


def test_fault_a_page_to_sign_in_was_taken_for_the_pdf_that_it_is_called(tmp_path: Path) -> None:
    page = b'\n<!DOCTYPE html><html lang="en"><body><p>Sign in to read.</p></body></html>'
    with StandinFiles({"/a": Served(page, "application/pdf")}) as server:
        path = fetch(server, tmp_path)
    assert path.suffix == ".html"
    with pytest.raises(ParseError, match="ask to sign in"):
        read_html(path)


def test_redirects_are_followed_end_and_count_as_one(tmp_path: Path) -> None:
    with StandinFiles({"/b/c": Served(PDF)}) as server:
        server.troubles.extend([moved("/b"), moved("b/c")])
        page = fetch_page(f"{server.url}/a", tmp_path, LIMITS)
    assert page.url == f"{server.url}/b/c"
    with StandinFiles({}) as server:
        server.troubles.extend([moved("/a")] * 20)
        with pytest.raises(ParseError, match="redirects more than 5 times"):
            fetch(server, tmp_path)
    assert len(server.requests) == 6
    limits = FetchLimits(100_000, 0.0, allow_private=True)
    with StandinFiles({"/a": Served(PDF)}) as server:
        server.troubles.extend([moved("/a")] * 3)
        with pytest.raises(ParseError, match="took more than"):
            fetch(server, tmp_path, limits=limits)
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    ("trouble", "said"),
    [
        (Trouble(404), "HTTP 404"),
        (Trouble(500), "HTTP 500"),
        (moved("file:///etc/passwd"), "http://"),
        (moved("ftp://example.org/"), "http://"),
        (moved("http://user:word@127.0.0.1/"), "password"),
        (moved("http://127.0.0.1:22/"), "port 22"),
        (moved("http://[::1/"), "could not be asked"),
        (Trouble(cut_after=20), "broke off"),
    ],
)
def test_a_page_that_cannot_be_had_says_why(tmp_path: Path, trouble: Trouble, said: str) -> None:
    with StandinFiles({"/a": Served(PDF)}) as server:
        server.troubles.append(trouble)
        with pytest.raises(ParseError, match=said):
            fetch(server, tmp_path)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "served", [Served(b"x" * 100_001, "text/plain"), Served(b"x" * 50, "text/plain", length=100_001)]
)
def test_a_page_that_is_too_large_is_not_kept(tmp_path: Path, served: Served) -> None:
    with StandinFiles({"/a": served}) as server, pytest.raises(ParseError, match="larger than"):
        fetch(server, tmp_path)


class _Endless(BaseHTTPRequestHandler):
    """Sends words for as long as somebody listens, without saying how many."""

    def log_message(self, *_: object) -> None:
        pass

    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/plain")
        self.end_headers()
        with contextlib.suppress(OSError):
            while True:
                self.wfile.write(b"and so on " * 1000)


def test_an_endless_body_is_cut_off(tmp_path: Path) -> None:
    server = StandinServer()
    server.open(_Endless)
    with server, pytest.raises(ParseError, match="larger than"):
        fetch_page(server.address, tmp_path, LIMITS)


@pytest.mark.parametrize("kind", ["image/png", "application/zip", "text/css", "video/mp4"])
def test_other_kinds_are_refused(tmp_path: Path, kind: str) -> None:
    with StandinFiles({"/a": Served(b"x", kind)}) as server, pytest.raises(ParseError, match="a PDF, a Word"):
        fetch(server, tmp_path)


def test_silent_and_private_servers_are_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(web_page, "SILENT_SECONDS", 0.2)
    with StandinFiles({"/a": Served(PDF)}) as server:
        server.troubles.append(Trouble(silent=5.0))
        with pytest.raises(ParseError, match="stayed silent"):
            fetch(server, tmp_path)
    with StandinFiles({"/a": Served(PDF)}) as server:
        with pytest.raises(ParseError, match="public internet"):
            fetch(server, tmp_path, limits=FetchLimits(100_000, 20))
        assert not server.requests


@pytest.mark.parametrize(
    "to",
    ["http://169.254.169.254/latest/meta-data/", "http://10.0.0.1/", "http://[::1]/", "http://localhost/"],
)
def test_private_redirects_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, to: str) -> None:
    # As if the stand-in were on the internet, it alone.
    monkeypatch.setattr(web_address, "is_public", lambda address: address == "127.0.0.1")
    monkeypatch.setattr(socket, "getaddrinfo", _with_localhost_elsewhere(socket.getaddrinfo))
    with StandinFiles({}) as server:
        server.troubles.append(moved(to))
        with pytest.raises(ParseError, match="public internet"):
            fetch(server, tmp_path, limits=FetchLimits(100_000, 20))


def _with_localhost_elsewhere(real: Any) -> Any:
    def look_up(host: str, *more: Any, **named: Any) -> Any:
        return real("127.0.0.2" if host == "localhost" else host, *more, **named)

    return look_up


def test_a_name_is_looked_up_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real, asked = socket.getaddrinfo, []

    def look_up(host: str, *more: Any, **named: Any) -> Any:
        asked.append(host)
        rebound = asked.count("papers.test") > 1
        return real({"papers.test": "127.0.0.9" if rebound else "127.0.0.1"}.get(host, host), *more, **named)

    monkeypatch.setattr(socket, "getaddrinfo", look_up)
    with StandinFiles({"/a": Served(PDF)}) as server:
        port = server.url.rpartition(":")[2]
        fetch_page(f"http://papers.test:{port}/a", tmp_path, LIMITS)
    assert asked.count("papers.test") == 1
    assert server.requests[0].headers["Host"] == f"papers.test:{port}"
