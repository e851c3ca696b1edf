"""A machine that may only read a bucket shows papers from it, keeps what it must, and fetches a PDF once."""

from collections.abc import Callable
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest
from typer.testing import CliRunner

from assistant.__main__ import app
from corpus.pdf.images import page_image
from corpus.places import bucket
from corpus.places.folder import Folder
from corpus.settings import Settings
from explorer.app.resources import open_library
from tests.s3_server import FaultyS3, checked_keys, documented_policy, new_user, without

BM25 = "field-notes-retrieval/bm25"


@pytest.fixture
def read_only(s3: FaultyS3, home: Path, monkeypatch: pytest.MonkeyPatch) -> FaultyS3:
    """Return a bucket with the demonstration, and the keys of somebody who may only read it."""
    place = Settings(home=s3.home).place
    for file in Folder(home).files_below():
        if file.path.relative_to(home).parts[0] in ("corpus", "pdf"):
            (place / file.path.relative_to(home).as_posix()).copy_from(file.path)
    policy = without(documented_policy(s3.bucket), "s3:PutObject", "s3:DeleteObject")
    for name, value in new_user(s3.server, policy).items():
        monkeypatch.setenv(name, value)
    bucket._store.cache_clear()
    monkeypatch.setenv("PAPER_TRAIL_HOME", s3.home)
    return s3


def test_a_paper_is_shown_and_a_question_answered(
    read_only: FaultyS3, screen: Callable[..., AppTest], tmp_path: Path
) -> None:
    with checked_keys(read_only.server):
        test = screen("paper", id=BM25)
        assert not test.exception
        assert "BM25" in test.title[0].value
        library = open_library()
        shown = library.pdf_path(library.corpus.paper(BM25).pdf_sha256)
        assert shown
        assert page_image(shown, 1).startswith(b"\xff\xd8\xff")
        done = CliRunner().invoke(app, ["ask", "How is reciprocal rank fusion computed?", "--json"])
    assert done.exit_code == 0, done.output
    assert "rank-fusion" in done.output
    assert shown.is_relative_to(tmp_path / "cache")
    fetched = [asked for asked in read_only.asked if asked.startswith("GET") and asked.endswith(".pdf")]
    assert len(fetched) == len(set(fetched)) == len(list((tmp_path / "cache").iterdir()))
    assert library.pdf_path("0" * 64) is None


def test_a_bucket_that_cannot_be_read_is_said_on_every_screen(
    read_only: FaultyS3, screen: Callable[..., AppTest], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "another")
    bucket._store.cache_clear()
    with checked_keys(read_only.server):
        for page in ("ask", "collection"):
            test = screen(page)
            assert not test.exception
            assert test.title[0].value == "The corpus cannot be used"
            assert read_only.home in test.text[0].value
