"""Polite downloads, from a server that behaves and from one that does not."""

import time
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpus import VERSION
from indexer.errors import SourceError
from indexer.web.downloads import DownloadError, Downloads, _file_name
from tests.standin_files import PDF, Served, StandinFiles, Trouble

CRC32 = f"{zlib.crc32(PDF):08x}"
MODIFIED = "Wed, 21 Oct 2015 07:28:00 GMT"


@contextmanager
def _site(served: Served | None = None, *troubles: Trouble | None) -> Iterator[StandinFiles]:
    files = {"/a.pdf": served or Served(PDF)}
    with StandinFiles(files) as site:
        site.troubles.extend(troubles)
        yield site


@pytest.fixture
def downloads(tmp_path: Path) -> Iterator[Downloads]:
    with Downloads(tmp_path, pause=0, timeout=0.3, largest=100_000) as downloads:
        yield downloads


def _left(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_a_pdf_is_fetched_once_by_name_and_a_torn_one_again(downloads: Downloads, tmp_path: Path) -> None:
    with _site() as site:
        file = downloads.fetch(f"{site.url}/a.pdf", "P19-1001.pdf", crc32=CRC32)
        assert downloads.fetch(f"{site.url}/a.pdf", "P19-1001.pdf", crc32=CRC32) == file
    assert (file, file.read_bytes()) == (tmp_path / "P19-1001.pdf", PDF)
    assert _left(tmp_path) == ["P19-1001.pdf"]
    (asked,) = site.requests
    assert asked.headers["User-Agent"].startswith(f"Paper Trail/{VERSION} (")
    assert asked.headers["Accept-Encoding"] == "identity"
    (tmp_path / "a.pdf").write_bytes(b"")
    with _site() as site:
        assert downloads.fetch(f"{site.url}/a.pdf", "a.pdf").read_bytes() == PDF


def test_requests_keep_their_distance(tmp_path: Path) -> None:
    with _site() as site, Downloads(tmp_path, pause=0.2) as downloads:
        started = time.monotonic()
        for name in ("1.pdf", "2.pdf", "3.pdf"):
            downloads.fetch(f"{site.url}/a.pdf", name)
        assert time.monotonic() - started >= 0.4


@pytest.mark.parametrize(
    ("served", "resumed"),
    [
        (Served(PDF), True),
        (Served(PDF, etag="", modified=MODIFIED), True),
        (Served(PDF, etag='W/"weak"', modified=MODIFIED), True),
        (Served(PDF, etag='W/"weak"'), False),
        (Served(PDF, etag=""), False),
        (Served(PDF, ranges=False), False),
    ],
)
def test_a_broken_download_is_resumed(downloads: Downloads, served: Served, resumed: bool) -> None:
    with _site(served, Trouble(cut_after=5000)) as site:
        assert downloads.fetch(f"{site.url}/a.pdf", "a.pdf", crc32=CRC32).read_bytes() == PDF
        second = site.requests[1].headers
    if resumed:
        assert second["Range"].startswith("bytes=")
        assert second["If-Range"] in (served.etag, served.modified)
    else:
        assert "Range" not in second or not served.ranges


def test_a_later_run_goes_on_where_the_last_one_ended(tmp_path: Path) -> None:
    with _site(None, *[Trouble(cut_after=2000)] * 4) as site:
        with Downloads(tmp_path, pause=0) as first, pytest.raises(DownloadError):
            first.fetch(f"{site.url}/a.pdf", "a.pdf")
        assert _left(tmp_path) == ["a.pdf.part", "a.pdf.part.version"]
        had = (tmp_path / "a.pdf.part").stat().st_size
        with Downloads(tmp_path, pause=0) as second:
            assert second.fetch(f"{site.url}/a.pdf", "a.pdf").read_bytes() == PDF
    assert had > 0
    assert site.requests[-1].headers["Range"] == f"bytes={had}-"
    assert _left(tmp_path) == ["a.pdf"]


def test_a_part_of_another_version_is_fetched_anew(downloads: Downloads, tmp_path: Path) -> None:
    (tmp_path / "a.pdf.part").write_bytes(b"%PDF-of another version")
    (tmp_path / "a.pdf.part.version").write_text('"zero"')
    with _site() as site:
        assert downloads.fetch(f"{site.url}/a.pdf", "a.pdf").read_bytes() == PDF
    (tmp_path / "a.pdf").unlink()
    with _site() as site:
        for kind in ("", "wrong range"):
            (tmp_path / "a.pdf.part").write_bytes(PDF if not kind else PDF[:99])
            (tmp_path / "a.pdf.part.version").write_text('"one"')
            site.troubles.append(Trouble(kind="wrong range") if kind else None)
            assert downloads.fetch(f"{site.url}/a.pdf", "a.pdf").read_bytes() == PDF
            (tmp_path / "a.pdf").unlink()
    assert len(site.requests) == 4


@pytest.mark.parametrize("status", [429, 500, 503])
def test_a_busy_server_is_asked_again_after_the_time_it_wants(downloads: Downloads, status: int) -> None:
    with _site(None, Trouble(status, (("Retry-After", "0.3"),)), Trouble(status)) as site:
        started = time.monotonic()
        downloads.fetch(f"{site.url}/a.pdf", "a.pdf")
        assert time.monotonic() - started >= 0.3
        assert len(site.requests) == 3


@pytest.mark.parametrize("header", ["-5", "nan", "inf", "soon", "Wed, 21 Oct 2015 07:28:00 GMT", "9" * 400])
def test_a_strange_wish_to_wait_is_no_reason_to_wait(downloads: Downloads, header: str) -> None:
    with _site(None, Trouble(503, (("Retry-After", header),))) as site:
        assert downloads.fetch(f"{site.url}/a.pdf", "a.pdf").read_bytes() == PDF


def test_a_long_wait_is_cut_short(downloads: Downloads, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("indexer.web.downloads.LONGEST_WAIT", 0.1)
    with _site(None, Trouble(503, (("Retry-After", "86400"),))) as site:
        assert downloads.fetch(f"{site.url}/a.pdf", "a.pdf").read_bytes() == PDF


@pytest.mark.parametrize(
    ("served", "reason"),
    [
        (Served(b"<html>Log in</html>", "text/html; charset=utf-8"), "A web page came instead of a PDF"),
        (Served(b"<html>Log in</html>"), "is not a PDF"),
        (Served(b""), "is not a PDF"),
        (Served(b"%PDF"), "is not a PDF"),
        (Served(PDF[:-1]), "its checksum is [0-9a-f]{8}, not [0-9a-f]{8}"),
        (Served(PDF, length=1_000_000), "is larger than"),
        (Served(PDF * 20), "is larger than"),
    ],
)
def test_other_files_are_not_kept(downloads: Downloads, tmp_path: Path, served: Served, reason: str) -> None:
    with _site(served) as site, pytest.raises(DownloadError, match=reason):
        downloads.fetch(f"{site.url}/a.pdf", "a.pdf", crc32=CRC32)
    assert len(site.requests) == 1
    assert _left(tmp_path) == []


def test_missing_pdfs_and_silent_servers_are_told_apart(downloads: Downloads) -> None:
    with _site() as site:
        for _ in range(4):
            with pytest.raises(DownloadError, match=r"There is no PDF at .*/none\.pdf \(HTTP 404\)"):
                downloads.fetch(f"{site.url}/none.pdf", "none.pdf")
        assert len(site.requests) == 4
        downloads.fetch(f"{site.url}/a.pdf", "a.pdf")
    with _site(None, *[Trouble(silent=1)] * 4) as site:
        with pytest.raises(DownloadError, match="stayed silent"):
            downloads.fetch(f"{site.url}/a.pdf", "b.pdf")
        gone = site.url
    with pytest.raises(DownloadError, match=r"connection to .* failed"):
        downloads.fetch(f"{gone}/a.pdf", "b.pdf")


def test_a_server_that_fails_again_and_again_is_left_alone(downloads: Downloads) -> None:
    with _site(None, *[Trouble(503)] * 12) as site:
        for _ in range(3):
            with pytest.raises(DownloadError, match="busy"):
                downloads.fetch(f"{site.url}/a.pdf", "a.pdf")
        with pytest.raises(DownloadError, match="was not asked for"):
            downloads.fetch(f"{site.url}/a.pdf", "a.pdf")
        assert len(site.requests) == 12


def test_redirects_lead_to_the_web_only(downloads: Downloads, tmp_path: Path) -> None:
    secret = tmp_path / "secret.pdf"
    secret.write_bytes(PDF)
    with _site(None, Trouble(302, (("Location", "/a.pdf"),))) as site:
        assert downloads.fetch(f"{site.url}/moved.pdf", "moved.pdf").read_bytes() == PDF
        for target in (secret.as_uri(), "ftp://127.0.0.1/a.pdf", "gopher://x", "http://", "http://[/"):
            site.troubles.append(Trouble(302, (("Location", target),)))
            with pytest.raises(DownloadError):
                downloads.fetch(f"{site.url}/moved.pdf", "other.pdf")
        site.troubles.extend([Trouble(302, (("Location", "/again.pdf"),))] * 9)
        with pytest.raises(DownloadError, match="redirects"):
            downloads.fetch(f"{site.url}/again.pdf", "again.pdf")


@pytest.mark.parametrize(
    "url", ["file:///etc/passwd", "", "a.pdf", "ftp://x/a.pdf", "http://", "http://[", "\x00"]
)
def test_an_address_that_is_none_is_an_error_of_this_paper_only(downloads: Downloads, url: str) -> None:
    with pytest.raises(DownloadError):
        downloads.fetch(url, "a.pdf")


def test_an_outdated_file_is_replaced(downloads: Downloads, tmp_path: Path) -> None:
    (tmp_path / "a.pdf").write_bytes(b"%PDF- first version")
    with _site() as site:
        assert downloads.fetch(f"{site.url}/a.pdf", "a.pdf").read_bytes() == b"%PDF- first version"
        assert downloads.fetch(f"{site.url}/a.pdf", "a.pdf", crc32=CRC32).read_bytes() == PDF


def test_a_folder_that_cannot_be_made_or_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(SourceError, match="cannot be made"):
        Downloads(tmp_path / "file" / "below")
    with _site() as site, Downloads(tmp_path) as downloads:
        (tmp_path / "a.pdf.part").mkdir()
        with pytest.raises(DownloadError, match="could not be kept"):
            downloads.fetch(f"{site.url}/a.pdf", "a.pdf")


@given(st.text(min_size=1), st.text(min_size=1))
def test_any_name_is_a_safe_file_name_of_its_own(first: str, other: str) -> None:
    for name in (_file_name(first), _file_name(other)):
        assert name.isascii()
        assert not set(name) & set("/\\:\x00 ")
        assert not name.startswith(".")
        assert 0 < len(name) <= 120
    assert first == other or _file_name(first) != _file_name(other)
