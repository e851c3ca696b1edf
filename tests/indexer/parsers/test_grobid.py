"""The GROBID client against a stand-in server: every answer, every fault, and two hundred papers at once."""

import csv
import gzip
import hashlib
import logging
import os
import socket
import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpus.settings import Settings
from indexer.parsers.grobid.answers import GrobidError, GrobidUnreachableError, read_answer
from indexer.parsers.grobid.cache import KeptTei
from indexer.parsers.grobid.client import COORDINATES, GrobidParser, GrobidServer, Patience, open_grobid
from indexer.parsers.grobid.status import Answer, read_status
from indexer.parsers.registry import file_sha256
from indexer.parsers.tei.document import LARGEST_TEI, read_tei
from tests.indexer.build.small_papers import write_paper_pdf
from tests.standin_grobid import (
    PASSING,
    PERMANENT,
    Behaviour,
    FaultRates,
    StandinGrobid,
    busy,
    failure,
    lost,
    nothing,
    proxy_page,
    understood_nothing,
    wait_until,
)

QUICK = Patience(first_wait=0.01, longest_wait=0.02, busy_attempts=6, lost_attempts=4, papers_lost=3)


@pytest.fixture
def standin() -> Iterator[StandinGrobid]:
    with StandinGrobid(pool_wait=0.05) as server:
        yield server


@pytest.fixture
def pdf(tmp_path: Path) -> Path:
    return write_paper_pdf(tmp_path / "cats.pdf")


def client(
    standin: StandinGrobid, timeout: float = 60.0, patience: Patience = QUICK, **changes
) -> GrobidServer:
    return GrobidServer(standin.url, timeout=timeout, patience=patience, **changes)


def papers(folder: Path, count: int) -> list[Path]:
    return [write_paper_pdf(folder / f"{number}.pdf", f"Paper {number}") for number in range(count)]


def md5(path: Path) -> str:
    return hashlib.md5(path.read_bytes()).hexdigest().upper()


def problem(server: GrobidServer, pdf: Path) -> GrobidError:
    with pytest.raises(GrobidError) as caught:
        server.fulltext(pdf)
    return caught.value


def closed_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


# Requests and replies


def test_a_pdf_becomes_tei_that_the_parser_reads_also_where_nothing_was_understood(
    standin: StandinGrobid, pdf: Path
) -> None:
    document = read_tei(client(standin).fulltext(pdf))
    assert document.title == "On Cats"
    assert document.sections[0].path[-1].title == "Introduction"
    assert document.sections[0].paragraphs[0].sentences[0].boxes
    assert len(document.references) == 1
    assert (document.parser, document.parser_version) == ("grobid", "0.9.1")
    standin.script.append(understood_nothing())
    assert b"<TEI" in client(standin).fulltext(pdf)


def test_the_request_asks_for_sentences_and_coordinates(standin: StandinGrobid, pdf: Path) -> None:
    client(standin).fulltext(pdf)
    (request,) = standin.requests
    assert request.method == "POST"
    assert request.path == "/api/processFulltextDocument"
    assert request.headers["Accept"] == "application/xml"
    assert (
        request.values("teiCoordinates")
        == list(COORDINATES)
        == ["s", "p", "head", "figure", "ref", "biblStruct"]
    )
    others = {name: value for name, value in request.fields if name != "teiCoordinates"}
    assert others == {
        "segmentSentences": "1",
        "includeRawCitations": "1",
        "consolidateHeader": "0",
        "consolidateCitations": "0",
        "consolidateFunders": "0",
    }
    assert request.pdf == pdf.read_bytes()
    assert not any("cats" in value for value in request.headers.values())


def test_real_tei_arrives_as_it_was_stored(standin: StandinGrobid, shared: Path, tmp_path: Path) -> None:
    folder = shared / "data" / "grobid"
    with (folder / "pairs.csv").open() as file:
        pairs = {folder / row["pdf"]: folder / row["tei"] for row in csv.DictReader(file)}
    standin.stored = {md5(paper): tei.read_bytes() for paper, tei in pairs.items()}
    server = client(standin)
    for paper, tei in pairs.items():
        sent, stored = read_tei(server.fulltext(paper)), read_tei(tei)
        assert (sent.title, len(sent.sections)) == (stored.title, len(stored.sections))
        assert len(sent.references) == len(stored.references)


@pytest.mark.parametrize(
    "answer",
    [Behaviour(ending="whole"), Behaviour(ending="chunked"), Behaviour(between_pieces=0.001)],
    ids=["with a length", "without a length", "slow but steady"],
)
def test_an_answer_may_come_in_several_ways(standin: StandinGrobid, pdf: Path, answer: Behaviour) -> None:
    standin.script.append(answer)
    assert read_tei(client(standin).fulltext(pdf)).title == "On Cats"


def test_a_missing_file_is_not_sent_and_one_that_is_no_pdf_refused_once(
    standin: StandinGrobid, tmp_path: Path
) -> None:
    assert "the file cannot be read" in str(problem(client(standin), tmp_path / "none.pdf"))
    assert not standin.requests
    path = tmp_path / "page.pdf"
    path.write_text("<html>no</html>")
    assert "[BAD_INPUT_DATA]" in str(problem(client(standin), path))
    assert len(standin.requests) == 1


# The retry policy, line by line: fault, requests in all when it never ends, words of the message


NEVER_ENDING = [
    ("busy", busy(), QUICK.busy_attempts, "has no free engine (HTTP 503) (asked 6 times)"),
    ("proxy 502", proxy_page(502), QUICK.lost_attempts, "does not reach it (HTTP 502)"),
    ("proxy 504", proxy_page(504), QUICK.lost_attempts, "does not reach it (HTTP 504)"),
    ("dropped", lost("drop"), QUICK.lost_attempts, "cannot be reached"),
    ("reset", lost("reset"), QUICK.lost_attempts, "cannot be reached"),
    ("cut", lost("cut"), QUICK.lost_attempts, "cannot be reached"),
    ("cut chunked", lost("cut chunked"), QUICK.lost_attempts, "cannot be reached"),
    ("cut unmarked", lost("cut unmarked"), 2, "TEI of this PDF is cut off (asked 2 times)"),
    ("proxy page as 200", proxy_page(200), 2, "no TEI, perhaps a proxy's page"),
    ("text as 200", Behaviour(body=b"TEI"), 2, "no TEI"),
    (
        "null pointer",
        Behaviour(status=500, body=b"Cannot invoke read()"),
        2,
        "on this PDF: Cannot invoke read()",
    ),
    ("page as 500", proxy_page(500), 2, "no reason given"),
    ("empty 500", Behaviour(status=500, body=b""), 2, "no reason given"),
    ("501", Behaviour(status=501, body=b""), 2, "failed (HTTP 501)"),
    ("204", nothing(), 1, "GROBID found nothing in this PDF"),
    ("empty 200", Behaviour(body=b" \n"), 1, "GROBID found nothing in this PDF"),
    ("400", Behaviour(status=400, body=b""), 1, "did not take the PDF (HTTP 400)"),
    ("401", Behaviour(status=401, body=b""), 1, "wants a login (HTTP 401)"),
    ("404", Behaviour(status=404, body=b""), 1, "did not take the PDF (HTTP 404)"),
    ("406", Behaviour(status=406, body=b""), 1, "did not take the PDF (HTTP 406)"),
    ("413", proxy_page(413), 1, "too large for the GROBID server"),
    ("429", Behaviour(status=429, body=b""), 1, "did not take the PDF (HTTP 429)"),
    ("302", Behaviour(status=302, body=b"", headers=(("Location", "/login"),)), 1, "redirects (HTTP 302)"),
    *((code, failure(code), 1, f"GROBID failed on this PDF: [{code}]") for code in PERMANENT),
    *((code, failure(code), 2, f"GROBID failed on this PDF: [{code}]") for code in PASSING),
]


@pytest.mark.parametrize(
    ("fault", "requests", "words"), [case[1:] for case in NEVER_ENDING], ids=[c[0] for c in NEVER_ENDING]
)
def test_a_lasting_fault_is_retried_up_to_the_limit_and_reported(
    standin: StandinGrobid, pdf: Path, fault: Behaviour, requests: int, words: str
) -> None:
    standin.script.extend([fault] * 40)
    error = problem(client(standin), pdf)
    assert words in str(error)
    assert len(standin.requests) == requests


@pytest.mark.parametrize(
    "faults",
    [
        [busy()] * 5,
        [lost("drop")] * 3,
        [lost("reset"), lost("cut"), lost("cut chunked")],
        [proxy_page(502), proxy_page(504)],
        [failure("GENERAL")],
        [busy(), failure("TIMEOUT"), busy(), lost("cut")],
        [proxy_page(200)],
        [lost("cut unmarked")],
    ],
    ids=lambda faults: " ".join(f"{fault.status} {fault.ending}" for fault in faults),
)
def test_a_passing_fault_costs_time(standin: StandinGrobid, pdf: Path, faults: list[Behaviour]) -> None:
    standin.script.extend(faults)
    assert read_tei(client(standin).fulltext(pdf)).title == "On Cats"
    assert len(standin.requests) == len(faults) + 1


def test_a_busy_server_that_names_a_time_is_left_alone_so_long(standin: StandinGrobid, pdf: Path) -> None:
    standin.script.append(replace(busy(), headers=(("Retry-After", "0.3"),)))
    started = time.monotonic()
    client(standin, patience=replace(QUICK, longest_wait=1.0)).fulltext(pdf)
    assert time.monotonic() - started >= 0.3


def test_mixed_faults_have_a_cap_and_a_second_failure_of_the_engine_is_the_last(
    standin: StandinGrobid, pdf: Path
) -> None:
    standin.script.extend([busy(), lost(), busy(), lost(), busy(), lost(), busy()])
    problem(client(standin), pdf)
    assert len(standin.requests) == QUICK.busy_attempts
    standin.requests.clear()
    standin.script.clear()
    standin.script.extend([failure("GENERAL"), busy(), failure("TAGGING_ERROR"), busy()])
    assert "[TAGGING_ERROR]" in str(problem(client(standin), pdf))
    assert len(standin.requests) == 3


def test_silence_and_dripping_bodies_are_waited_for_once_more(standin: StandinGrobid, pdf: Path) -> None:
    standin.script.extend([Behaviour(between_pieces=0.1)] * 5)
    assert "did not answer within 0.5 s" in str(problem(client(standin, timeout=0.5), pdf))
    assert len(standin.requests) == 2
    standin.requests.clear()
    standin.script.clear()
    standin.work = 30
    error = problem(client(standin, timeout=0.5), pdf)
    assert "did not answer within 0.5 s (asked 2 times)" in str(error)
    assert len(standin.requests) == 2


def test_a_refused_connection_is_tried_again_until_the_server_is_up(pdf: Path) -> None:
    port = closed_port()
    patience = Patience(first_wait=0.02, longest_wait=0.05, busy_attempts=500, lost_attempts=500)
    server = GrobidServer(f"http://127.0.0.1:{port}", timeout=10, patience=patience)
    with ThreadPoolExecutor(1) as pool:
        asked = pool.submit(server.fulltext, pdf)
        threading.Event().wait(0.2)
        with StandinGrobid(port=port):
            assert read_tei(asked.result()).title == "On Cats"


def test_a_body_without_end_is_cut_and_a_long_error_one_short_clean_line(
    standin: StandinGrobid, pdf: Path
) -> None:
    endless = Behaviour(body=b"<TEI>" + b" " * (LARGEST_TEI + 1000) + b"</TEI>", ending="chunked")
    standin.script.append(endless)
    assert "larger than 32 MiB" in str(problem(client(standin), pdf))
    assert len(standin.requests) == 1
    standin.script.append(failure("NO_BLOCKS", "a\n\x1b[31mb\x00 " + "c" * 100_000))
    message = str(problem(client(standin), pdf))
    assert message.startswith("GROBID failed on this PDF: [NO_BLOCKS] a [31mb ccc")
    assert len(message) < 300
    assert message.isprintable()
    bomb = gzip.compress(b" " * 50_000_000)
    standin.script.extend([Behaviour(body=bomb, headers=(("Content-Encoding", "gzip"),))] * 2)
    assert "no TEI" in str(problem(client(standin), pdf))
    assert {request.headers["Accept-Encoding"] for request in standin.requests} == {"identity"}


@given(st.integers(0, 999), st.binary(max_size=600))
def test_no_answer_is_anything_but_tei_or_an_error(status: int, body: bytes) -> None:
    try:
        assert read_answer("The server", status, body) == body
        assert status == 200
    except GrobidError as error:
        assert str(error).isprintable()
        assert len(str(error)) < 400


# A server that is gone


@pytest.mark.parametrize(
    ("fault", "asked"),
    [(lost("reset"), QUICK.lost_attempts), (busy(), QUICK.busy_attempts)],
    ids=["lost", "never ready"],
)
def test_a_lost_server_is_left(standin: StandinGrobid, tmp_path: Path, fault: Behaviour, asked: int) -> None:
    standin.script.extend([fault] * 1000)
    server = client(standin)
    errors = [problem(server, paper) for paper in papers(tmp_path, 30)]
    assert len(standin.requests) == QUICK.papers_lost * asked
    assert all(isinstance(error, GrobidUnreachableError) for error in errors)
    assert "is not asked again in this run: it failed for 3 papers in a row" in str(errors[-1])


def test_a_lost_server_is_given_up_by_all_threads(standin: StandinGrobid, tmp_path: Path) -> None:
    standin.script.extend([lost("reset")] * 1000)
    server = client(standin)
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda paper: problem(server, paper), papers(tmp_path, 60)))
    assert len(standin.requests) <= (2 + 8) * QUICK.lost_attempts


@pytest.mark.parametrize("answer", [Behaviour(), failure("NO_BLOCKS"), nothing()], ids=["tei", "500", "204"])
def test_any_answer_is_a_sign_of_life(standin: StandinGrobid, tmp_path: Path, answer: Behaviour) -> None:
    server = client(standin)
    first, second, living, fourth, fifth, last = papers(tmp_path, 6)
    for paper in (first, second, fourth, fifth):
        standin.scripts[md5(paper)].extend([lost()] * QUICK.lost_attempts)
    standin.scripts[md5(living)].append(answer)
    for paper in (first, second):
        problem(server, paper)
    try:
        server.fulltext(living)
    except GrobidError as error:
        assert not isinstance(error, GrobidUnreachableError)
    for paper in (fourth, fifth):
        problem(server, paper)
    assert server.fulltext(last)


def test_who_waits_for_a_server_wakes_when_it_is_given_up(standin: StandinGrobid, tmp_path: Path) -> None:
    server = client(standin, patience=Patience(first_wait=600, longest_wait=600, lost_attempts=1))
    waiting, *others = papers(tmp_path, 4)
    standin.scripts[md5(waiting)].append(busy())
    standin.script.extend([lost()] * 3)
    with ThreadPoolExecutor(1) as pool:
        asleep = pool.submit(problem, server, waiting)
        assert wait_until(lambda: standin.asked[md5(waiting)] == 1)
        for paper in others:
            problem(server, paper)
        assert "is not asked again in this run" in str(asleep.result(timeout=30))


def test_a_run_that_is_stopped_waits_for_nobody(standin: StandinGrobid, pdf: Path) -> None:
    server = client(standin, patience=Patience(first_wait=600, longest_wait=600))
    standin.script.append(busy())
    with ThreadPoolExecutor(1) as pool:
        asleep = pool.submit(problem, server, pdf)
        assert wait_until(lambda: standin.asked[md5(pdf)] == 1)
        server.stop()
        assert "the run is being stopped" in str(asleep.result(timeout=30))
    assert len(standin.requests) == 1


# Concurrency


@pytest.mark.parametrize(
    ("profile", "engines", "wanted", "expected"),
    [("0.9", 3, 0, 3), ("0.9", 3, 2, 2), ("0.9", 3, 50, 3), ("0.8", 9, 0, 4), ("0.8", 9, 6, 6)],
)
def test_the_server_limits_requests(profile, engines: int, wanted: int, expected: int, pdf: Path) -> None:
    with StandinGrobid(profile=profile, engines=engines) as standin:
        assert client(standin, concurrency=wanted).concurrency == expected


def test_many_threads_ask_for_no_more_than_the_pool_and_wait_for_others(tmp_path: Path) -> None:
    with StandinGrobid(engines=2, work=0.02) as standin:
        server = client(standin)
        with ThreadPoolExecutor(10) as pool:
            parsed = list(pool.map(server.fulltext, papers(tmp_path, 20)))
        assert len(parsed) == 20
        assert standin.most_at_once == 2
        assert len(standin.requests) == 20
    with StandinGrobid(engines=1, profile="0.8", work=0.05, pool_wait=0.01) as standin:
        server = client(standin, patience=Patience(first_wait=0.05, longest_wait=0.2, busy_attempts=200))
        with ThreadPoolExecutor(4) as pool:
            assert len(list(pool.map(server.fulltext, papers(tmp_path, 8)))) == 8
        assert any(answer.status == 503 for answers in standin.answered.values() for answer in answers)


def _outcome(server: GrobidServer, paper: Path) -> str:
    try:
        return read_tei(server.fulltext(paper)).title
    except GrobidError as error:
        return f"error: {error}"


def _is_permanent(answer: Behaviour) -> bool:
    return answer.status == 500 and any(f"[{code}]".encode() in answer.body for code in PERMANENT)


def _may_be_repeated(answers: Sequence[Behaviour]) -> bool:
    """Return True if the policy allows one more request after these answers."""
    failed = sum(answer.status == 500 for answer in answers)
    dropped = sum(answer.ending != "whole" for answer in answers)
    is_over = any(_is_permanent(a) or (a.status == 200 and a.ending == "whole") for a in answers)
    return not is_over and failed < 2 and dropped < QUICK.lost_attempts and len(answers) < QUICK.busy_attempts


@pytest.mark.parametrize("seed", [1, 2])
def test_two_hundred_papers_on_a_bad_day(tmp_path: Path, seed: int) -> None:
    rates = FaultRates(seed=seed, busy=0.10, each_code=0.02, dropped=0.01)
    paths = papers(tmp_path, 200)
    with StandinGrobid(engines=4, work=0.002, rates=rates) as standin:
        server = client(standin)
        with ThreadPoolExecutor(16) as pool:
            outcomes = dict(zip(paths, pool.map(lambda paper: _outcome(server, paper), paths), strict=True))
    assert standin.most_at_once <= 4
    for number, paper in enumerate(paths):
        answers = standin.answered[md5(paper)]
        assert all(_may_be_repeated(answers[:asked]) for asked in range(1, len(answers)))
        assert not _may_be_repeated(answers)
        is_parsed = answers[-1].status == 200 and answers[-1].ending == "whole"
        assert outcomes[paper] == f"Paper {number}" if is_parsed else outcomes[paper].startswith("error: ")
    kinds = {answer.status for answers in standin.answered.values() for answer in answers}
    assert kinds == {200, 500, 503}
    assert sum(not outcome.startswith("error") for outcome in outcomes.values()) > 150


# The server's status


def test_the_status_of_a_server_that_runs_loads_or_failed(standin: StandinGrobid) -> None:
    status = client(standin).status()
    assert (status.url, status.reachable, status.ready) == (standin.url, True, True)
    assert (status.version, status.revision, status.pool, status.problem) == ("0.9.1", "a91ee48", 4, "")
    standin.checks["version"] = (200, b"1" * 30_000_000, "text/plain")
    status = client(standin).status()
    assert (status.ready, status.version) == (True, "")
    del standin.checks["version"]
    standin.ready = False
    status = client(standin).status()
    assert (status.reachable, status.ready, status.version) == (True, False, "0.9.1")
    assert "not ready: its models are still loading" in status.problem
    told = b'{"ready": false, "initializationError": "no\\nmodel\\u0000 found"}'
    standin.checks["health"] = (503, told, "application/json")
    assert client(standin).status().problem == "it failed to start: no model found"
    status = GrobidServer(f"http://127.0.0.1:{closed_port()}").status()
    assert (status.reachable, status.ready) == (False, False)
    assert "cannot be reached; check that it runs" in status.problem


@pytest.mark.parametrize("as_text", [False, True])
def test_the_status_of_an_older_server(as_text: bool) -> None:
    with StandinGrobid(profile="0.8", version="0.8.2", version_as_text=as_text) as standin:
        status = client(standin).status()
    assert (status.ready, status.version, status.pool, status.problem) == (True, "0.8.2", None, "")


@pytest.mark.parametrize(
    "answer",
    [(200, b"<html>welcome</html>", "text/plain"), (404, b"", "text/plain"), (302, b"", "text/plain")],
)
def test_something_else_at_the_address_is_told_apart(standin: StandinGrobid, answer) -> None:
    standin.checks["isalive"] = answer
    status = client(standin).status()
    assert (status.reachable, status.ready) == (True, False)
    assert f"not as GROBID does (HTTP {answer[0]})" in status.problem


@pytest.mark.parametrize(
    ("health", "pool"),
    [
        (b'{"ready": true, "pool": {"maxActive": 100000}}', 256),
        (b'{"ready": true, "pool": {"maxActive": -1}}', None),
        (b'{"ready": true, "pool": {"maxActive": "many"}}', None),
        (b'{"ready": true, "pool": []}', None),
        (b"[" * 20_000, None),
        (b"null", None),
        (b"\xff\xfe", None),
        (b"x" * 60_000, None),
    ],
    ids=lambda value: str(value)[:50],
)
def test_lies_about_the_pool_are_bounded(standin: StandinGrobid, health: bytes, pool: int | None) -> None:
    standin.checks["health"] = (200, health, "application/json")
    status = client(standin).status()
    assert (status.ready, status.pool) == (True, pool)


@given(st.binary(max_size=200), st.binary(max_size=200), st.binary(max_size=200), st.integers(100, 599))
def test_no_answer_breaks_the_status(alive: bytes, version: bytes, health: bytes, code: int) -> None:
    for first in (alive, b"true"):
        status = read_status("u", Answer(code, first), Answer(200, version), Answer(code, health))
        assert status.reachable
        assert status.ready == (not status.problem)
        assert (status.version + status.revision + status.problem).isprintable()
        assert not set("/\\") & set(status.version)


def test_the_checks_are_asked_once_in_a_run(standin: StandinGrobid, tmp_path: Path) -> None:
    server = client(standin)
    for paper in papers(tmp_path, 3):
        server.fulltext(paper)
    assert standin.checked == {"isalive": 1, "version": 1, "health": 1}


# Addresses


@pytest.mark.parametrize("end", ["", "/", "/api", "/api/", "//"])
def test_an_address_may_end_in_several_ways(standin: StandinGrobid, pdf: Path, end: str) -> None:
    server = GrobidServer(f" {standin.url}{end} ", patience=QUICK)
    assert server.url == standin.url
    assert server.fulltext(pdf)


@pytest.mark.parametrize(
    "url",
    [
        "127.0.0.1:8070",
        "localhost",
        "ftp://host/",
        "file:///etc/passwd",
        "http://",
        "http://host:port",
        "http://host:99999",
        "http://host:0",
        "http://host/?x=1",
        "http://host/#a",
        "http://[::1",
        "http://ho\nst",
        "http://user:secret@",
    ],
)
def test_what_is_no_address_is_said_without_repeating_it(url: str) -> None:
    with pytest.raises(GrobidError, match=r"^PAPER_TRAIL_GROBID_URL is no address such as http") as caught:
        GrobidServer(url)
    assert "secret" not in str(caught.value)


def test_a_login_in_the_address_is_used_and_never_shown(standin: StandinGrobid, pdf: Path) -> None:
    address = standin.url.replace("://", "://ada:canary-6b1f@")
    server = GrobidServer(address, patience=QUICK)
    assert server.url == standin.url
    server.fulltext(pdf)
    assert standin.requests[0].headers["Authorization"].startswith("Basic ")
    gone = GrobidServer(f"http://ada:canary-6b1f@127.0.0.1:{closed_port()}", patience=QUICK)
    error = problem(gone, pdf)
    assert "canary" not in f"{error}{error.__cause__}{gone.status()}"


def test_neither_proxies_nor_redirects_are_followed_and_logging_stays(
    standin: StandinGrobid, pdf: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, f"http://127.0.0.1:{closed_port()}")
    monkeypatch.delenv("NO_PROXY", raising=False)
    monkeypatch.delenv("no_proxy", raising=False)
    assert client(standin).fulltext(pdf)
    with StandinGrobid() as elsewhere:
        to = (("Location", f"{elsewhere.url}/api/processFulltextDocument"),)
        standin.script.append(Behaviour(status=307, body=b"", headers=to))
        problem(client(standin), pdf)
        assert not elsewhere.requests
    root = logging.getLogger()
    before = (root.level, list(root.handlers))
    client(standin)
    assert (root.level, list(root.handlers)) == before


# TEI that is kept


@pytest.fixture
def kept(tmp_path: Path) -> KeptTei:
    return KeptTei(tmp_path / "tei")


SHA = "ab" * 32


def test_kept_tei_is_found_by_paper_and_version_and_the_newest_last(kept: KeptTei, tmp_path: Path) -> None:
    kept.keep(SHA, "0.9.1", b"<TEI>one</TEI>")
    assert kept.of_version(SHA, "0.9.1") == b"<TEI>one</TEI>"
    assert kept.of_version(SHA, "0.9.2") is None
    assert kept.of_version("cd" * 32, "0.9.1") is None
    assert kept.newest("cd" * 32) is None
    for age, version in enumerate(("0.8.2", "0.9.1", "0.7.0")):
        kept.keep(SHA, version, version.encode())
        (path,) = (tmp_path / "tei").rglob(f"*.{version}.*")
        os.utime(path, (1000 - age, 1000 - age))
    assert kept.newest(SHA) == b"0.8.2"


def test_what_was_asked_otherwise_does_not_count_as_the_same(tmp_path: Path) -> None:
    KeptTei(tmp_path, ["s"]).keep(SHA, "0.9.1", b"old")
    assert KeptTei(tmp_path, ["s", "p"]).of_version(SHA, "0.9.1") is None
    assert KeptTei(tmp_path, ["s", "p"]).newest(SHA) == b"old"


@given(data=st.data())
def test_damaged_files_are_absent(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    folder = tmp_path_factory.mktemp("tei")
    kept, tei = KeptTei(folder), b"<TEI>" + bytes(range(256)) * 4 + b"</TEI>"
    kept.keep(SHA, "0.9.1", tei)
    (path,) = folder.rglob("*.gz")
    whole = path.read_bytes()
    length = data.draw(st.integers(0, len(whole) - 1))
    path.write_bytes(whole[:length])
    assert kept.of_version(SHA, "0.9.1") in (None, b"")
    # The first ten bytes are a header that holds no content.
    place = data.draw(st.integers(10, len(whole) - 1))
    path.write_bytes(whole[:place] + bytes([whole[place] ^ 0x55]) + whole[place + 1 :])
    assert kept.of_version(SHA, "0.9.1") in (None, tei)


def test_a_folder_that_cannot_be_written_costs_no_paper(tmp_path: Path, caplog) -> None:
    (tmp_path / "tei").write_text("a file in the way")
    kept = KeptTei(tmp_path / "tei")
    kept.keep(SHA, "0.9.1", b"tei")
    assert "could not be kept" in caplog.text
    assert kept.newest(SHA) is None


def test_a_file_that_unpacks_without_end_or_is_half_written_counts_as_absent(
    kept: KeptTei, tmp_path: Path
) -> None:
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda _: kept.keep(SHA, "0.9.1", b"<TEI/>" * 1000), range(40)))
    assert len([path for path in tmp_path.rglob("*") if path.is_file()]) == 1
    assert kept.newest(SHA) == b"<TEI/>" * 1000
    kept.keep(SHA, "0.9.1", b"x")
    (path,) = tmp_path.rglob("*.gz")
    path.write_bytes(gzip.compress(b" " * (LARGEST_TEI + 1)))
    assert kept.of_version(SHA, "0.9.1") is None


# Server and kept TEI together


def parser(standin: StandinGrobid, tmp_path: Path, timeout: float = 60.0) -> GrobidParser:
    return GrobidParser(client(standin, timeout), KeptTei(tmp_path / "kept"))


def test_a_rebuild_parses_for_a_new_version_only(standin: StandinGrobid, pdf: Path, tmp_path: Path) -> None:
    first = parser(standin, tmp_path).tei(pdf, file_sha256(pdf))
    assert parser(standin, tmp_path).tei(pdf, file_sha256(pdf)) == first
    assert len(standin.requests) == 1
    standin.version = "0.9.2"
    assert b'version="0.9.2"' in parser(standin, tmp_path).tei(pdf, file_sha256(pdf))
    assert len(standin.requests) == 2


def test_kept_tei_serves_without_a_server(standin: StandinGrobid, pdf: Path, tmp_path: Path) -> None:
    kept = parser(standin, tmp_path).tei(pdf, file_sha256(pdf))
    gone = GrobidServer(f"http://127.0.0.1:{closed_port()}", patience=QUICK)
    absent = GrobidParser(gone, KeptTei(tmp_path / "kept"))
    assert absent.tei(pdf, file_sha256(pdf)) == kept
    with pytest.raises(GrobidUnreachableError, match="cannot be reached"):
        absent.tei(pdf, SHA)


def test_kept_tei_serves_where_the_server_is_lost(standin: StandinGrobid, pdf: Path, tmp_path: Path) -> None:
    kept = parser(standin, tmp_path).tei(pdf, file_sha256(pdf))
    standin.version = "0.9.2"
    standin.script.extend([lost()] * QUICK.lost_attempts)
    assert parser(standin, tmp_path).tei(pdf, file_sha256(pdf)) == kept
    standin.script.append(failure("NO_BLOCKS"))
    with pytest.raises(GrobidError, match="NO_BLOCKS"):
        parser(standin, tmp_path).tei(pdf, file_sha256(pdf))


def test_the_settings_open_a_parser_that_keeps_tei_without_a_version_too(
    standin: StandinGrobid, pdf: Path, tmp_path: Path
) -> None:
    standin.checks["version"] = (404, b"", "text/plain")
    for _ in range(2):
        parser(standin, tmp_path).tei(pdf, file_sha256(pdf))
    assert len(standin.requests) == 1
    settings = Settings(home=tmp_path, grobid_url=standin.url, grobid_concurrency=2)
    opened = open_grobid(settings)
    assert opened.at_once == 2
    opened.tei(pdf, file_sha256(pdf))
    assert list((settings.home / "tei").rglob("*.tei.gz"))


@pytest.mark.live
def test_a_real_server_parses_a_small_paper(pdf: Path) -> None:
    url = os.environ.get("GROBID_URL")
    if not url:
        pytest.skip("set GROBID_URL to the address of a GROBID server, such as http://127.0.0.1:8070")
    server = GrobidServer(url)
    status = server.status()
    assert status.ready, status.problem
    assert status.version
    assert server.concurrency >= 1
    assert "cats" in read_tei(server.fulltext(pdf)).title.lower()
