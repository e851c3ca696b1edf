"""The whole way in Chromium: ask, read the evidence, take the trail away; on a desk and on a phone."""

import base64
import http.client
import json
import time
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from assistant.transcript import from_json
from tests.browser.conftest import settled

OpenPage = Callable[..., Any]
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


def test_an_answer_leads_to_passage_and_page_and_downloads(open_page: OpenPage) -> None:
    page = open_page("/")
    page.get_by_role("button", name=QUESTION).click()
    answered(page)
    assert "/ask?conversation=" in page.url
    link = page.locator('a[href="#cite-1-1"]')
    sentence = page.locator(".st-key-reading_answer_1 p").first.inner_text().split("[")[0].strip()
    begun = time.monotonic()
    link.click()
    marked = page.locator('[class*="st-key-marked_sentence"]')
    marked.wait_for()
    assert time.monotonic() - begun < 3
    assert sentence[:60] in " ".join(marked.inner_text().split())
    picture = page.locator('[class*="st-key-strip_side"] img')
    picture.wait_for()
    assert picture.evaluate("image => image.decode().then(() => image.naturalWidth)") > 600
    assert "evidence boxed" in picture.get_attribute("alt")
    page.get_by_role("img", name="Overlap with the passage: ").wait_for()
    assert "#" not in page.url
    assert _downloaded(page, "JSON, complete").suffix == ".json"


def _downloaded(page: Any, name: str) -> Path:
    page.locator("[class*='st-key-trail_1'] button").first.click()
    with page.expect_download() as waiting:
        page.get_by_role("button", name=name).click()
    download = waiting.value
    path = Path(download.path()).with_name(download.suggested_filename)
    download.save_as(path)
    page.keyboard.press("Escape")
    return path


def test_the_trail_reads_back_from_what_was_downloaded(open_page: OpenPage) -> None:
    page = open_page("/ask")
    ask(page)
    answered(page)
    conversation = from_json(_downloaded(page, "JSON, complete").read_text(encoding="utf-8"))
    assert conversation.turns[0].question == QUESTION
    assert "What was sent" in _downloaded(page, "Markdown").read_text(encoding="utf-8")
    assert _downloaded(page, "Web page").read_text(encoding="utf-8").lower().startswith("<!doctype html>")
    assert _downloaded(page, "BibTeX").read_text(encoding="utf-8").startswith("@")
    page.locator("[class*='st-key-trail_1'] button").first.click()
    page.get_by_role("button", name="What was sent").click()
    page.get_by_role("dialog").get_by_text("Received").first.wait_for()
    page.get_by_role("button", name="BibTeX").wait_for(state="hidden")


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


def test_citations_are_opened_by_keyboard(open_page: OpenPage) -> None:
    page = open_page("/ask")
    ask(page)
    answered(page)
    page.locator('a[href="#cite-1-2"]').focus()
    page.keyboard.press("Enter")
    page.get_by_text("2 of ").wait_for()


def test_a_second_question_is_scrolled_into_view(open_page: OpenPage) -> None:
    page = open_page("/ask")
    ask(page)
    answered(page)
    ask(page, "What about its storage cost?")
    page.locator(".st-key-question_2").wait_for()
    page.wait_for_timeout(600)
    assert 0 <= page.locator(".st-key-question_2").bounding_box()["y"] < 300


def test_a_phone_reads_the_evidence_in_a_drawer(open_page: OpenPage) -> None:
    page = open_page("/ask", size="phone")
    ask(page)
    answered(page)
    page.locator('a[href="#cite-1-1"]').click()
    drawer = page.get_by_role("dialog")
    drawer.locator('[class*="st-key-marked_sentence"]').wait_for()
    drawer.get_by_text("1 of ").wait_for()
    drawer.locator("img").wait_for()
    assert _fits(page)
    drawer.get_by_role("button", name="Close").click()
    drawer.wait_for(state="hidden")
    assert page.locator('a[href="#cite-1-1"]').is_visible()


@pytest.mark.parametrize("wait", [0, 1200])
def test_a_click_on_a_phone_is_reported_once_however_late_the_screen_was_measured(
    open_page: OpenPage, wait: int
) -> None:
    page = open_page("/ask", size="phone")
    warned: list[str] = []
    page.on("console", lambda message: warned.append(message.text))
    page.wait_for_timeout(wait)
    ask(page, "How is ROUGE criticised?")
    answered(page)
    page.wait_for_timeout(wait)
    page.locator('a[href="#cite-1-1"]').click()
    page.get_by_role("dialog").locator('[class*="st-key-marked_sentence"]').wait_for(timeout=10_000)
    assert [text for text in warned if "fragmentId" in text] == []


def test_the_scope_of_a_question_is_not_forgotten_on_a_phone(open_page: OpenPage) -> None:
    page = open_page("/ask", size="phone")
    page.get_by_role("button", name="How does ColBERTv2 compress").click()
    answered(page)
    page.get_by_placeholder("Ask about these 8 papers").wait_for()


@pytest.mark.parametrize("path", ["/collection", "/ask", "/about", "/paper?id=field-notes-retrieval%2Fbm25"])
def test_nothing_is_wider_than_a_phone(open_page: OpenPage, path: str) -> None:
    page = open_page(path, size="phone", scheme="dark")
    page.wait_for_timeout(500)
    assert _fits(page)


def test_a_phone_shows_the_passage_that_was_come_for_at_once(open_page: OpenPage) -> None:
    page = open_page("/paper?id=field-notes-retrieval%2Fbm25&passage=8&sentence=1", size="phone")
    page.wait_for_function(
        "() => { const top = (key) => document.querySelector('.st-key-' + key)?.getBoundingClientRect().top;"
        " return top('meant') < 400 && top('meant') < top('ask_about'); }"
    )
    assert page.get_by_text("The passage you came for").count() == 1


def test_a_conversation_is_deleted_at_the_second_click(open_page: OpenPage) -> None:
    page = open_page("/ask")
    choose_the_model(page)
    ask(page)
    answered(page)
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


def test_a_reload_shows_the_conversation_at_the_same_place_and_another_browser_goes_on(
    open_page: OpenPage,
) -> None:
    page = open_page("/ask")
    choose_the_model(page)
    ask(page)
    answered(page)
    page.locator("[class*='st-key-edit_query_1'] button").first.click()
    page.get_by_label("Search query").fill("reciprocal rank fusion")
    page.keyboard.press("Enter")
    page.get_by_text("your own search query").wait_for()
    page.locator(".st-key-actions_2").wait_for()
    settled(page)
    page.get_by_label("Search query").wait_for(state="hidden")
    page.reload()
    page.locator(".st-key-reading_answer_2").wait_for()
    page.wait_for_function(f"() => {PLACE} > 100")
    other = open_page(page.url.removeprefix(_origin(page)))
    assert other.locator(".st-key-question_1, .st-key-question_2").count() == 2
    ask(other, "What about its storage cost?")
    other.locator(".st-key-actions_3").wait_for(timeout=60_000)
    page.reload()
    page.locator(".st-key-question_3").wait_for()
    page.get_by_test_id("stExpandSidebarButton").click()
    page.get_by_text("3 answers").wait_for()
    assert not page.evaluate("document.cookie").count("paper_trail_owner")


def test_a_reload_while_it_is_written_goes_on(open_page: OpenPage) -> None:
    page = open_page("/ask")
    choose_the_model(page)
    ask(page)
    page.locator('a[href="#cite-1-1"]').wait_for()
    page.reload()
    page.locator(".st-key-stop button").wait_for()
    answered(page)
    assert "click on something else" in page.locator(".st-key-reading_answer_1").inner_text()


def _origin(page: Any) -> str:
    return "/".join(page.url.split("/")[:3])


def _fits(page: Any) -> bool:
    return bool(page.evaluate("document.documentElement.scrollWidth <= innerWidth"))


def test_the_collection_is_searched_while_typing(open_page: OpenPage) -> None:
    page = open_page("/collection")
    page.get_by_placeholder("Search titles").press_sequentially("rank fusion", delay=20)
    page.get_by_text("match, best first").wait_for()
    page.locator(".st-key-papers strong", has_text="fusion").first.wait_for()
    page.wait_for_url("**/collection?q=rank+fusion")
    page.get_by_role("link", name="Rank Fusion for Hybrid Search").first.click()
    page.wait_for_url("**/paper?id=*")
    page.get_by_role("heading", name="Abstract").wait_for()


def test_an_address_with_a_collection_shows_it(open_page: OpenPage) -> None:
    page = open_page("/collection?collection=field-notes-evaluation")
    page.get_by_text("8 papers · 2026").wait_for()


def test_two_visitors_do_not_see_each_other(open_page: OpenPage) -> None:
    first, second = open_page("/ask"), open_page("/ask")
    ask(first)
    answered(first)
    second.reload()
    settled(second)
    assert second.locator('a[href^="#cite-"]').count() == 0
    assert second.get_by_text("Ask the papers").is_visible()


@pytest.mark.parametrize(
    "route", ["/", "/ask", "/_stcore/health", "/_stcore/host-config", "/favicon.png", "/nothing"]
)
def test_every_route_carries_the_security_headers(app: str, route: str) -> None:
    with urllib.request.urlopen(app + route) as reply:
        assert "default-src 'self'" in reply.headers["content-security-policy"]
        assert reply.headers["x-content-type-options"] == "nosniff"
        assert reply.headers["referrer-policy"] == "no-referrer"


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
