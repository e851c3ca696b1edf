"""A library's export over HTTP: for who has the owner's link, from a file, counted, and with room for it."""

import io
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager

import httpx
import pytest
from starlette.applications import Starlette
from starlette.routing import Route
from starlette.testclient import TestClient

from explorer.app.library_export import EXPORT_ROUTE, export_library, export_link
from explorer.app.resources import Library
from explorer.jobs.rate_limit import EXPORT_COST
from tests.assistant.libraries.own_documents import brought, notes, visit

OWNER = "browser-of-the-export"


@contextmanager
def client() -> Iterator[TestClient]:
    with TestClient(Starlette(routes=[Route(EXPORT_ROUTE, export_library)])) as made:
        yield made


@pytest.fixture
def link(library: Library) -> Iterator[str]:
    """Return the link to the export of a library that is kept."""
    uploads = visit(library.settings.home, library.encoder, ("notes.md", notes()))
    libraries = library.libraries()
    kept = libraries.keep(OWNER, "Own reading", brought(uploads), library.encoder).library_id
    uploads.close()
    yield f"/{export_link(library.settings, libraries.own(kept, [OWNER]), 'Own-reading.zip')}"
    if libraries.store.get(kept):
        libraries.delete(kept, None)


def names_in(reply: httpx.Response) -> list[str]:
    with zipfile.ZipFile(io.BytesIO(reply.content)) as archive:
        return archive.namelist()


def test_an_export_is_sent_from_a_file_that_is_gone_afterwards(link: str, library: Library) -> None:
    before = {path.name for path in library.settings.home.iterdir()}
    with client() as asking:
        first, second = asking.get(link), asking.get(link)
    assert first.status_code == 200 and first.content == second.content
    assert sorted(names_in(first)) == ["documents/001-notes.md", "library.json", "papers.bib"]
    assert first.headers["content-length"] == str(len(first.content))
    assert "Own-reading.zip" in first.headers["content-disposition"]
    assert first.headers["x-accel-buffering"] == "no"
    assert {path.name for path in library.settings.home.iterdir()} == before


def test_a_library_was_exported_by_a_link_that_was_made_up(link: str, library: Library) -> None:
    with client() as asking:
        for bad in (link[:-3], f"{link}x.y", link.replace(".", "", 1), f"{EXPORT_ROUTE[:-6]}é", link[:20]):
            reply = asking.get(bad)
            assert (reply.status_code, reply.text[:26]) == (404, "This link is not good any "), bad
        libraries = library.libraries()
        (stored,) = libraries.store.list(OWNER)
        libraries.delete(stored.id, [OWNER])
        assert "This library has been deleted" in asking.get(link).text


def test_exports_counted_for_nothing(link: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PAPER_TRAIL_DOCUMENTS_PER_TEN_MINUTES", str(round(2 * EXPORT_COST)))
    monkeypatch.setenv("PAPER_TRAIL_LIMIT_OF_ADDRESS", "7")
    with client() as asking:
        assert [asking.get(link).status_code for _ in range(3)] == [200, 200, 429]
        assert "the export of a library counts as 10" in asking.get(link).text


def test_an_export_took_the_last_of_the_disk(link: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PAPER_TRAIL_FREE_DISK_MEGABYTES", str(10**12))
    with client() as asking:
        reply = asking.get(link)
    assert (reply.status_code, reply.text[:35]) == (507, "The disk of this server is nearly f")
