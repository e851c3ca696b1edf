"""The whole way in Chromium: ask, read the evidence, take the trail away; on a desk and on a phone."""

import base64
import http.client
import json
import re
import time
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from assistant.trail.transcript import from_json
from tests.browser.conftest import SIZES, downloaded, fits, settled

OpenPage = Callable[..., Any]
NAME_OF_CITATION = re.compile(r"^\[\d+\] support (weak|partial|strong), [01]\.\d\d$")
PLACE = "document.querySelector('[data-testid=stMain]').scrollTop"
QUESTION = "How do dense retrieval and BM25 compare, and where does each of them fail?"


def ask(page: Any, question: str = QUESTION) -> None:
    page.get_by_test_id("stChatInputTextArea").fill(question)
    page.keyboard.press("Enter")


def answered(page: Any) -> None:
    page.get_by_text("References", exact=True).last.wait_for()
    settled(page)


def choose_the_model(page: Any) -> None:
    page.locator(".st-key-writer input").click()
    page.get_by_role("option", name="Stand-in").click()
    settled(page)


def test_a_newcomer_asks_reads_the_evidence_and_takes_the_trail_away_in_a_minute(open_page: OpenPage) -> None:
    page = open_page("/")
    begun = time.monotonic()
    page.get_by_text("leads to the passage that carries it").wait_for()
    page.get_by_role("button", name=QUESTION).click()
    answered(page)
    assert "/ask?conversation=" in page.url
    link = page.locator('a[href="#cite-1-1"]')
    sentence = page.locator(".st-key-reading_answer_1 :is(p, li)").first.inner_text().split("[")[0].strip()
    page.get_by_role("link", name=NAME_OF_CITATION).first.wait_for()
    link.click()
    marked = page.locator('[class*="st-key-marked_sentence"]')
    marked.wait_for()
    assert sentence[:60] in " ".join(marked.inner_text().split())
    picture = page.locator('[class*="st-key-strip_side"] img')
    picture.wait_for()
    assert picture.evaluate("image => image.decode().then(() => image.naturalWidth)") > 600
    # Of a page in two columns less than its half is seen: the column of the passage, large enough to read.
    assert picture.evaluate("image => image.clientWidth / image.closest('.stImage').clientWidth") > 2
    assert "evidence boxed" in picture.get_attribute("alt")
    page.get_by_role("img", name="Overlap with the passage: ").wait_for()
    assert "#" not in page.url
    (turn,) = from_json(downloaded(page, "JSON, complete").read_text(encoding="utf-8")).turns
    taken = time.monotonic() - begun
    assert turn.question == QUESTION and turn.answer.cited_labels
    print(f"a newcomer's path: {taken:.1f} s")
    assert taken < 60
    _every_file_is_taken_away_and_what_was_sent_is_read(page)
    _a_second_question_is_scrolled_into_view(page)


def _every_file_is_taken_away_and_what_was_sent_is_read(page: Any) -> None:
    assert "What was sent" in downloaded(page, "Markdown").read_text(encoding="utf-8")
    assert downloaded(page, "Web page").read_text(encoding="utf-8").lower().startswith("<!doctype html>")
    assert downloaded(page, "BibTeX").read_text(encoding="utf-8").startswith("@")
    page.get_by_role("button", name="What was sent").click()
    page.get_by_role("dialog").get_by_text("Received").first.wait_for()
    page.keyboard.press("Escape")
    page.get_by_role("dialog").wait_for(state="hidden")


def _a_second_question_is_scrolled_into_view(page: Any) -> None:
    ask(page, "What about its storage cost?")
    page.locator(".st-key-actions_2").wait_for()
    settled(page)
    is_in_view(page, 2)


def is_in_view(page: Any, number: int) -> None:
    """Wait until the latest turn, of this number, stands at the top of the screen."""
    page.wait_for_function(
        "(key) => { const { top } = document.querySelector(key).getBoundingClientRect();"
        " return 0 <= top && top < 300; }",
        arg=f".st-key-latest_{number}",
    )


def test_a_click_while_it_is_written_stops_nothing_and_no_payload_acts(open_page: OpenPage) -> None:
    page = open_page("/ask")
    choose_the_model(page)
    ask(page)
    page.locator('a[href="#cite-1-1"]').click()
    page.get_by_text("Evidence for [1]").wait_for()
    assert page.locator(".st-key-stop button").is_visible()
    answered(page)
    answer = page.locator(".st-key-reading_answer_1")
    assert "click on something else" in answer.inner_text()
    page.get_by_text("The reply held markup").wait_for()
    assert answer.locator("img, iframe, svg").count() == 0
    links = answer.locator("a").evaluate_all("all => all.map(one => one.getAttribute('href'))")
    assert links == ["#cite-1-1", "#cite-1-2", "#cite-1-3"]
    assert answer.locator('[class*="badge"], [data-testid*="Badge"]').count() == 0


def test_a_question_is_stopped_and_kept(open_page: OpenPage) -> None:
    page = open_page("/ask")
    choose_the_model(page)
    ask(page)
    page.locator('a[href="#cite-1-1"]').wait_for()
    page.locator(".st-key-stop button").click()
    page.get_by_text("Stopped.").wait_for()
    assert page.get_by_role("button", name="Retry").is_visible()


def test_a_click_on_a_phone_is_reported_once(open_page: OpenPage) -> None:
    """Regression: of a click and a width that were reported together one was lost.

    Another was that a question forgot on a phone which papers it was asked of; a third that a drawer whose
    closing was lost so stood over the screen when that became narrow again.
    """
    page = open_page("/ask", size="phone")
    warned: list[str] = []
    page.on("console", lambda message: warned.append(message.text))
    page.get_by_role("button", name="How does ColBERTv2 compress").click()
    answered(page)
    page.get_by_placeholder("Ask about these 8 papers").wait_for()
    _read_in_the_drawer(page)
    page.locator('a[href="#cite-1-1"]').click()
    drawer = page.get_by_role("dialog")
    drawer.wait_for()
    page.set_viewport_size(SIZES["wide"])
    folded = page.locator(".st-key-choices_folded")
    folded.wait_for(state="detached")
    drawer.wait_for(state="detached")
    settled(page)
    page.set_viewport_size(SIZES["phone"])
    _read_in_the_drawer(page)
    folded.wait_for(state="attached")
    assert [text for text in warned if "fragmentId" in text] == []


def _read_in_the_drawer(page: Any) -> None:
    page.locator('a[href="#cite-1-1"]').click()
    drawer = page.get_by_role("dialog")
    drawer.locator('[class*="st-key-marked_sentence"]').wait_for()
    drawer.get_by_text("1 of ").wait_for()
    drawer.locator("img").wait_for()
    assert fits(page)
    drawer.get_by_role("button", name="Close").click()
    drawer.wait_for(state="hidden")
    assert page.locator('a[href="#cite-1-1"]').is_visible()


def test_fault_a_phone_was_drawn_twice_and_what_was_tapped_in_between_lost_its_address(
    open_page: OpenPage,
) -> None:
    """Only a window that was not taken for a phone's is measured and drawn anew."""
    runs: dict[str, int] = {}
    for size in ("phone", "narrow window"):
        page = open_page("/collection", size=size)
        page.locator(".st-key-filters_popover").first.wait_for()
        asked: list[object] = []
        page.on(
            "websocket", lambda socket, asked=asked: socket.on("framesent", lambda _: asked.append(socket))
        )
        page.reload()
        page.locator(".st-key-filters_popover").first.wait_for()
        page.wait_for_timeout(1000)
        runs[size] = len(asked)
    assert runs == {"phone": 1, "narrow window": 2}


@pytest.mark.parametrize("size", ["phone", "narrow window"])
def test_fault_every_second_turn_of_a_screen_left_it_as_it_was(open_page: OpenPage, size: str) -> None:
    """The script that measures was not told that it had been heard: the way back was no change to it."""
    page = open_page("/collection", size=size)
    behind_a_button, in_a_row = page.locator(".st-key-filters_popover"), page.locator(".st-key-facets")
    behind_a_button.wait_for()
    for _ in range(2):
        page.set_viewport_size(SIZES["wide"])
        in_a_row.wait_for()
        behind_a_button.wait_for(state="detached")
        page.set_viewport_size(SIZES[size])
        behind_a_button.wait_for()
        in_a_row.wait_for(state="detached")


def test_a_phone_shows_the_passage_that_was_come_for_at_once(open_page: OpenPage) -> None:
    page = open_page("/paper?id=field-notes-retrieval%2Fbm25&passage=8&sentence=1", size="phone")
    page.wait_for_function(
        "() => { const top = (key) => document.querySelector('.st-key-' + key)?.getBoundingClientRect().top;"
        " return top('meant') < 400 && top('meant') < top('ask_about'); }"
    )
    # While the screen is drawn anew what was there before stands beside it.
    page.wait_for_function("() => document.body.innerText.split('The passage you came for').length === 2")


def test_a_reload_keeps_its_place_and_another_browser_goes_on(open_page: OpenPage) -> None:
    other = open_page("/ask")
    page = open_page("/ask")
    choose_the_model(page)
    ask(page)
    answered(page)
    page.locator("[class*='st-key-edit_query_1'] button").first.click()
    page.get_by_label("Search query").fill("BM25 and dense retrieval")
    page.keyboard.press("Enter")
    page.get_by_text("your own search query").wait_for()
    page.locator(".st-key-actions_2").wait_for()
    settled(page)
    page.get_by_label("Search query").wait_for(state="hidden")
    page.reload()
    page.locator(".st-key-reading_answer_2").wait_for()
    page.wait_for_function(f"() => {PLACE} > 100")
    other.reload()
    settled(other)
    assert other.get_by_text("Ask the papers").is_visible()
    assert other.locator('a[href^="#cite-"]').count() == 0, "a visitor sees what another asked"
    other.goto(page.url)
    settled(other)
    assert other.locator(".st-key-turn_1, .st-key-latest_2").count() == 2
    ask(other, "What about its storage cost?")
    other.locator(".st-key-actions_3").wait_for(timeout=120_000)
    page.reload()
    page.locator(".st-key-latest_3").wait_for()
    page.get_by_test_id("stExpandSidebarButton").click()
    page.get_by_text("3 answers").wait_for()
    assert not page.evaluate("document.cookie").count("paper_trail_owner")


def test_a_reload_while_writing_goes_on_and_the_second_click_deletes(open_page: OpenPage) -> None:
    page = open_page("/ask")
    choose_the_model(page)
    ask(page)
    page.locator('a[href="#cite-1-1"]').wait_for()
    page.reload()
    page.locator(".st-key-stop button").wait_for()
    answered(page)
    assert "click on something else" in page.locator(".st-key-reading_answer_1").inner_text()
    address = page.url
    page.locator(".st-key-clear_menu button").first.click()
    remove = page.get_by_role("button", name="Delete this conversation")
    remove.wait_for()
    assert page.locator(".st-key-reading_answer_1").is_visible()
    remove.click()
    page.get_by_text("Ask the papers").wait_for()
    page.wait_for_function("() => !location.search")
    page.goto(address)
    page.get_by_text("No conversation is at this address").wait_for()


def test_the_collection_is_searched_while_typing(open_page: OpenPage) -> None:
    """It rests on what is waited for, each a state of the screen, and on what `opening` complains of."""
    page = open_page("/collection")
    page.get_by_placeholder("Search titles").press_sequentially("rank fusion", delay=20)
    page.get_by_text("match, best first").wait_for()
    page.locator(".st-key-papers strong", has_text="fusion").first.wait_for()
    page.wait_for_url("**/collection?q=rank+fusion")
    page.get_by_role("link", name="Rank Fusion for Hybrid Search").first.click()
    page.wait_for_url("**/paper?id=*")
    page.get_by_role("heading", name="Abstract").wait_for()


@pytest.mark.parametrize(
    "route", ["/", "/ask", "/_stcore/health", "/_stcore/host-config", "/favicon.png", "/nothing"]
)
def test_every_route_carries_the_security_headers(app: str, route: str) -> None:
    with urllib.request.urlopen(app + route) as reply:
        assert "default-src 'self'" in reply.headers["content-security-policy"]
        assert reply.headers["x-content-type-options"] == "nosniff"
        assert reply.headers["referrer-policy"] == "no-referrer"


def test_the_picture_of_the_tab_is_ours(open_page: OpenPage, root: Path) -> None:
    page = open_page("/ask")
    page.get_by_role("heading", name="Ask the papers").wait_for()
    shown = page.locator('link[rel="shortcut icon"]').evaluate("one => one.href")
    with urllib.request.urlopen(shown) as reply:
        assert reply.headers.get_content_type() == "image/png"
        assert reply.read() == (root / "explorer/app/images/favicon.png").read_bytes()


def test_the_agent_interface_is_off(app: str) -> None:
    request = urllib.request.Request(
        f"{app}/_stcore/agent/interact",
        data=json.dumps({}).encode(),
        headers={"content-type": "application/json"},
    )
    with pytest.raises(urllib.error.HTTPError):
        urllib.request.urlopen(request)


def test_a_name_that_another_site_has_for_this_server_opens_no_session(app: str) -> None:
    connection = http.client.HTTPConnection(app.removeprefix("http://"), timeout=10)
    upgrade = {
        "Connection": "Upgrade",
        "Upgrade": "websocket",
        "Sec-WebSocket-Version": "13",
        "Sec-WebSocket-Key": base64.b64encode(b"0123456789abcdef").decode(),
        "Sec-WebSocket-Protocol": "streamlit",
    }
    connection.request("GET", "/_stcore/stream", headers={**upgrade, "Host": "rebound.example"})
    assert connection.getresponse().status == 403
