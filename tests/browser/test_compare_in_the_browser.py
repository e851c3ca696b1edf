"""Papers compared in Chromium: chosen, followed to their passages, taken away; on a desk and on a phone."""

from collections.abc import Callable
from typing import Any

from assistant.trail.comparison_file import comparison_from_json
from tests.browser.conftest import downloaded, fits, settled

OpenPage = Callable[..., Any]
CHOSEN = "/compare?papers=field-notes-retrieval/bm25,field-notes-retrieval/dense-retrieval"
ABOUT = "We choose between dense and lexical retrieval for a search engine of our own."
MENU = "comparison_trail"


def compare(page: Any) -> None:
    page.get_by_label("What your own work is about").fill(ABOUT)
    page.get_by_role("button", name="Compare", exact=True).click()
    page.get_by_text("References", exact=True).wait_for()
    settled(page)


def test_two_papers_are_compared_read_and_taken_away(open_page: OpenPage) -> None:
    page = open_page(CHOSEN)
    compare(page)
    assert "/compare?comparison=" in page.url and "papers=" not in page.url
    page.locator('a[href="#cite-1-1"]').click()
    page.locator('.st-key-evidence_panel [class*="st-key-marked_sentence"]').wait_for()
    page.locator('[class*="st-key-strip_side"] img').wait_for()
    _choose_a_cell(page)
    comparison = comparison_from_json(downloaded(page, "JSON, complete", MENU).read_text(encoding="utf-8"))
    assert comparison.about == ABOUT and len(comparison.evidence.papers) == 2
    assert "\\cite{" in downloaded(page, "LaTeX, with", MENU).read_text(encoding="utf-8")
    address = page.url
    page.goto(address)
    page.locator('a[href="#cite-1-1"]').wait_for()


def _choose_a_cell(page: Any) -> None:
    """Choose a cell of the grid by keyboard, and read it below the table."""
    grid = page.get_by_role("region", name="Key elements of the description and of each paper")
    cell = grid.locator('tbody button[data-cell^="1-"]').first
    cell.press("Enter")
    shown = page.locator('[class*="st-key-cell_shown_1"]').first
    shown.wait_for()
    assert shown.locator("[data-testid=stText]").first.inner_text()
    grid.locator("button[aria-current=true]").wait_for()
    assert cell.evaluate("(one) => one.getRootNode().activeElement === one"), "the focus was lost"
    settled(page)


def test_an_answer_to_an_own_question_leads_to_its_sentence_on_the_page(open_page: OpenPage) -> None:
    page = open_page(CHOSEN)
    page.get_by_role("textbox", name="Your own questions").fill(
        "What batch size was used for training?\n<b>Who won?</b>"
    )
    compare(page)
    grid = page.get_by_role("region", name="Key elements of the description and of each paper")
    assert grid.locator("th[scope=col]").nth(9).inner_text() == "<b>Who won?</b>"
    grid.locator('button[data-cell="2-question_1"]').click()
    shown = page.locator('[class*="st-key-cell_shown_2_question_1"]').first
    assert "batch size of 128" in shown.inner_text()
    settled(page)
    shown.get_by_text("Show it in the paper").click()
    page.wait_for_url("**/paper?**passage=4**sentence=1**")
    page.get_by_text("batch size of 128").first.wait_for()


def test_a_phone_compares_too(open_page: OpenPage) -> None:
    page = open_page(CHOSEN, size="phone", scheme="dark")
    assert fits(page)
    compare(page)
    page.locator('a[href="#cite-1-1"]').click()
    drawer = page.get_by_role("dialog")
    drawer.locator('[class*="st-key-marked_sentence"]').wait_for()
    drawer.get_by_role("button", name="Close").click()
    for part in ("Differences", "Key elements"):
        page.get_by_role("radio", name=part).click()
        settled(page)
        assert fits(page)
    page.locator(".st-key-element_shown").wait_for()
