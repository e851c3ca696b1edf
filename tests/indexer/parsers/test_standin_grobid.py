"""The stand-in GROBID server answers as the real one does, where the client's tests do not show it."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import requests

from indexer.parsers.tei.document import read_tei
from tests.indexer.build.small_papers import write_paper_pdf
from tests.standin_grobid import StandinGrobid


@pytest.fixture
def standin() -> Iterator[StandinGrobid]:
    with StandinGrobid(engines=2, pool_wait=0.05) as server:
        yield server


@pytest.fixture
def pdf(tmp_path: Path) -> bytes:
    return write_paper_pdf(tmp_path / "cats.pdf").read_bytes()


def send(
    standin: StandinGrobid,
    pdf: bytes | None,
    fields: list[tuple[str, str]] | None = None,
    service: str = "processFulltextDocument",
    method: str = "POST",
) -> requests.Response:
    files = {"input": ("a.pdf", pdf, "application/pdf")} if pdf is not None else {"other": ("a", b"x")}
    return request(method, f"{standin.url}/api/{service}", data=fields or [], files=files)


def request(method: str, url: str, **content) -> requests.Response:
    with requests.Session() as session:
        session.trust_env = False
        return session.request(method, url, timeout=30, **content)


def test_nothing_is_given_that_was_not_asked_for(standin: StandinGrobid, pdf: bytes) -> None:
    tei = send(standin, pdf).text
    for absent in ("coords=", "<facsimile", "<s>", "<s ", "raw_reference", 'xml:id="_'):
        assert absent not in tei
    assert standin.requests[0].md5 in tei


@pytest.mark.parametrize(
    ("fields", "present", "absent"),
    [
        ([("segmentSentences", "1")], "<s>", "coords="),
        ([("segmentSentences", "yes")], "<p>", "<s>"),
        ([("teiCoordinates", "p")], "<p coords=", '<figure xml:id="fig_0" coords='),
        (
            [("teiCoordinates", "p"), ("teiCoordinates", "figure")],
            '<figure xml:id="fig_0" coords=',
            "<head coords",
        ),
        ([("teiCoordinates", "p,figure")], "<facsimile", "coords="),
        ([("includeRawCitations", "true")], "raw_reference", "coords="),
        ([("generateIDs", "1")], '<p xml:id="_', "coords="),
    ],
)
def test_a_field_gives_what_it_stands_for(
    standin: StandinGrobid, pdf: bytes, fields: list[tuple[str, str]], present: str, absent: str
) -> None:
    tei = send(standin, pdf, fields).text
    assert present in tei
    assert absent not in tei


def test_a_header_has_no_text(standin: StandinGrobid, pdf: bytes) -> None:
    tei = send(standin, pdf, [("teiCoordinates", "p")], "processHeaderDocument").content
    assert b"coords" not in tei
    assert b"<body>" not in tei
    assert read_tei(tei.replace(b"<p>", b"<p>x")).title == "On Cats"


def test_put_is_as_good_as_post(standin: StandinGrobid, pdf: bytes) -> None:
    assert send(standin, pdf, method="PUT").status_code == 200


def test_what_cannot_be_used_is_refused(standin: StandinGrobid, pdf: bytes) -> None:
    address = f"{standin.url}/api/processFulltextDocument"
    assert send(standin, pdf, service="processNothing").status_code == 404
    assert request("GET", address).status_code == 405
    assert request("POST", address, data={"a": "b"}).status_code == 415
    assert send(standin, pdf, [("start", "one")]).status_code == 400
    assert send(standin, None).status_code == 500
    page = send(standin, b"<html>")
    assert (page.status_code, page.headers["Content-Type"]) == (500, "application/xml; charset=UTF-8")
    assert page.text.startswith("[BAD_INPUT_DATA] ")


def test_a_full_pool_answers_503_without_a_word(standin: StandinGrobid, pdf: bytes) -> None:
    standin.work = 0.5
    with ThreadPoolExecutor(5) as pool:
        answers = list(pool.map(lambda _: send(standin, pdf), range(5)))
    refused = [answer for answer in answers if answer.status_code == 503]
    assert 1 <= len(refused) <= 3
    assert all(answer.content == b"" and "Retry-After" not in answer.headers for answer in refused)
