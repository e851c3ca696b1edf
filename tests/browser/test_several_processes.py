"""The app behind nginx in Chromium, while a process is told to stop: answers are ended, stored and found."""

import os
import re
import signal
import sqlite3
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.browser.conftest import SIZES, SLOW_ANSWER, settled
from tests.browser.test_reading_room import answered, ask, choose_the_model
from tests.served_site import NGINX, Served, is_ready, served, until
from tests.standin_chat import Received, StandinChat, reply

pytestmark = pytest.mark.skipif(not NGINX, reason="nginx is not installed")
COOKIE = "paper_trail_process"
# An answer under way is written to its end in it on a busy machine, and an endless one is not.
STOP_SECONDS = 25


def play_slow_model(request: Received) -> Any:
    """Play a model that writes some seconds at an answer, and for minutes at one to an endless question."""
    asked = request.body["messages"][-1]["content"]
    if "paper 1" not in asked:
        return reply("BM25 dense retrieval")
    return reply(SLOW_ANSWER, wait_between=0.4 if "endless" in asked else 0.02)


@pytest.fixture(scope="module")
def site(demo_home: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("site")
    models = folder / "models.toml"
    models.write_text('[[models]]\nid = "standin"\nlabel = "Stand-in"\ncontext = 32768\n')
    with StandinChat(default=play_slow_model) as model:
        settings = {
            "PAPER_TRAIL_CONVERSATIONS": f"sqlite:///{folder / 'conversations.sqlite'}",
            "PAPER_TRAIL_MODEL_URL": model.url,
            "PAPER_TRAIL_MODELS_FILE": str(models),
            "PAPER_TRAIL_STOP_SECONDS": str(STOP_SECONDS),
        }
        with served(demo_home, folder, **settings) as site:
            yield site


def opened_at(chromium: Any, site: Served, process: str) -> Any:
    """Return the Ask screen as a process draws it, of a visitor of its own."""
    page = chromium.new_context(viewport=SIZES["wide"], reduced_motion="reduce").new_page()
    page.set_default_timeout(90_000)
    page.context.add_cookies([{"name": COOKIE, "value": process, "url": site.address}])
    page.goto(f"{site.address}/ask")
    settled(page)
    return page


def asked_at(chromium: Any, site: Served, process: str, question: str) -> Any:
    """Ask the model a question on a screen that a process draws; return the page while it is answered."""
    page = opened_at(chromium, site, process)
    choose_the_model(page)
    ask(page, question)
    page.get_by_text("BM25 ranks passages").first.wait_for()
    assert process_of(page) == process
    return page


def process_of(page: Any) -> str:
    return next(str(cookie["value"]) for cookie in page.context.cookies() if cookie["name"] == COOKIE)


def stored(site: Served, table: str) -> int:
    with sqlite3.connect(site.log.with_name("conversations.sqlite")) as connection:
        return int(connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0])


def test_an_answer_under_way_is_stored_and_found_elsewhere(chromium: Any, site: Served) -> None:
    page = asked_at(chromium, site, "p1", "How do BM25 and dense retrieval compare?")
    os.kill(site.pids["p1"], signal.SIGTERM)
    told = httpx.get(f"{site.addresses['p1']}/readyz")
    assert (told.status_code, told.json()["process"]) == (503, "stopping")
    newcomer = httpx.get(site.address, headers={"accept": "text/html"}, cookies={COOKIE: "p1"})
    assert f"{COOKIE}=p2" in newcomer.headers["set-cookie"]
    until(lambda: stored(site, "turns") == 1)
    until(lambda: stored(site, "questions_under_way") == 0)
    until(lambda: page.wait_for_timeout(100) or process_of(page) == "p2")
    settled(page)
    page.locator('a[href^="#cite-1-"]').first.wait_for()
    page.context.close()
    until(lambda: is_ready(site.addresses["p1"]), 120)


@pytest.mark.long
def test_fault_what_was_done_first_after_a_reconnection_was_lost(chromium: Any, site: Served) -> None:
    asking, reading = opened_at(chromium, site, "p1"), opened_at(chromium, site, "p1")
    for page in (asking, reading):
        ask(page)
        answered(page)
    pid = re.findall(r"p1\b.*, process (\d+)", site.log.read_text())[-1]
    os.kill(int(pid), signal.SIGKILL)
    for page in (asking, reading):
        until(lambda page=page: page.wait_for_timeout(100) or process_of(page) == "p2")
        settled(page)
    ask(asking, "What about its storage cost?")
    asking.locator(".st-key-actions_2").wait_for()
    reading.locator('a[href="#cite-1-1"]').click()
    reading.get_by_text("Evidence for [1]").wait_for()
    for page in (asking, reading):
        page.context.close()
    until(lambda: is_ready(site.addresses["p1"]), 120)


@pytest.mark.long
def test_an_answer_that_takes_too_long_is_reported_as_left(chromium: Any, site: Served) -> None:
    page = asked_at(chromium, site, "p2", "How do BM25 and dense retrieval compare, an endless question?")
    began = time.monotonic()
    os.kill(site.pids["p2"], signal.SIGTERM)
    until(lambda: page.wait_for_timeout(100) or process_of(page) == "p1")
    assert time.monotonic() - began >= STOP_SECONDS
    settled(page)
    page.get_by_text("No answer has come of this question").first.wait_for()
    page.get_by_text("an endless question").first.wait_for()
    assert stored(site, "questions_under_way") == 1
    page.context.close()
