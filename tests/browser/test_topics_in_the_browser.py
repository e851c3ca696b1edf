"""Topics, aspects and links between papers in Chromium: what an address restores and where links lead."""

import time
from collections.abc import Callable
from typing import Any

import pytest

from tests.browser.conftest import fits, go, in_view, settled
from tests.explorer.studied_corpus import TITLES

OpenPage = Callable[..., Any]
TOKENS = "/paper?id=studied%2Ftokens"


def test_topics_are_chosen_and_their_address_restores_them(open_studied: OpenPage) -> None:
    """It rests on what is waited for, each a state of the screen, and on what `opening` complains of."""
    page = open_studied("/collection")
    page.locator(".st-key-facet_field").get_by_role("button", name="Efficiency 2").click()
    page.get_by_text("2 papers", exact=True).wait_for()
    page.locator(".st-key-facet_menu_metric button").click()
    page.locator(".st-key-facet_metric").get_by_role("button", name="F1 1").click()
    page.get_by_text("1 paper", exact=True).wait_for()
    page.wait_for_url("**/collection?topic=field*Efficiency&topic=metric*F1")
    page.reload()
    page.get_by_text("1 paper", exact=True).wait_for()
    page.get_by_role("link", name=TITLES["heads"]).wait_for()
    page.get_by_role("button", name="Field: Efficiency").click()
    page.get_by_text("2 papers", exact=True).wait_for()
    page.wait_for_url(lambda url: "Efficiency" not in url and "F1" in url)


@pytest.mark.parametrize("size", ["phone", "narrow window"])
def test_topics_are_chosen_on_a_phone_behind_the_one_button(open_studied: OpenPage, size: str) -> None:
    page = open_studied("/collection", size=size, scheme="dark")
    # A narrow window is drawn as a wide one until it has been measured.
    page.locator("[data-testid=stMainBlockContainer] [class*=st-key-facet_]").first.wait_for(state="detached")
    page.locator(".st-key-filters_popover button").first.click()
    page.get_by_role("button", name="Summarization 1", exact=True).click()
    page.get_by_role("button", name="Field: Summarization").wait_for()
    assert fits(page)


@pytest.mark.parametrize("size", ["wide", "phone"])
def test_where_it_says_so_brings_the_sentence_into_view(open_studied: OpenPage, size: str) -> None:
    page = open_studied(TOKENS, size=size)
    page.locator(".st-key-says_so_approach a").click()
    in_view(page, "marked_sentence", "It is dropped once its score is low.")
    page.wait_for_url("**passage=1&sentence=1")
    settled(page)
    page.locator(".st-key-says_so_outcome a").click()
    in_view(page, "marked_sentence", "It runs twice as fast.")


def test_a_reference_leads_to_its_paper_and_back(open_studied: OpenPage) -> None:
    """It rests on what is waited for, each a state of the screen, and on what `opening` complains of."""
    page = open_studied("/paper?id=studied%2Fheads")
    page.locator(".st-key-references summary").click()
    page.locator(".st-key-references").get_by_role("link", name=TITLES["tokens"]).click()
    page.get_by_role("heading", name=TITLES["tokens"]).wait_for()
    # Streamlit leaves the address as it is where a link leads from a page to itself.
    page.wait_for_url(f"**{TOKENS}")
    page.get_by_text("Cited here by 3 papers").wait_for()
    page.go_back()
    page.get_by_role("heading", name=TITLES["heads"]).wait_for()
    page.wait_for_url("**/paper?id=studied%2Fheads")


def test_a_reference_in_the_text_opens_its_entry_and_that_its_paper(open_studied: OpenPage) -> None:
    """It rests on what is waited for, each a state of the screen, and on what `opening` complains of."""
    page = open_studied("/paper?id=studied%2Fsummaries", size="phone")
    drawer = page.get_by_role("dialog")
    _click_until(page.get_by_role("link", name="[3]"), drawer)
    drawer.get_by_text("Cited in: 1 Introduction").wait_for()
    drawer.get_by_role("link", name="Open paper").click()
    page.get_by_role("heading", name=TITLES["tokens"]).wait_for()
    page.get_by_role("dialog").wait_for(state="detached")


def _click_until(link: Any, opened: Any) -> None:
    """Click on a link until what it opens is there: the first click may come before whoever listens to it."""
    for _ in range(12):
        link.click()
        until = time.monotonic() + 10
        while time.monotonic() < until:
            if opened.is_visible():
                return
            link.page.wait_for_timeout(50)
    raise AssertionError("the click was never heard")


def test_nothing_hostile_is_fetched_or_too_wide(open_studied: OpenPage) -> None:
    page = open_studied("/collection", size="phone")
    for path in ("/collection?view=Cards", "/paper?id=studied%2Fhostile"):
        assert fits(page)
        assert page.locator('main img, [class*="badge"]').count() == 0
        go(page, path)
    assert fits(page)
    assert page.locator('main img, [class*="badge"]').count() == 0


@pytest.mark.parametrize("size", ["wide", "phone", "narrow window"])
def test_cards_can_be_asked(open_studied: OpenPage, size: str) -> None:
    """Regression: with the view in the address, as once always on a phone, going to Ask was an error."""
    page = open_studied("/collection?view=Cards&topic=field%3AEfficiency", size=size)
    page.get_by_role("button", name="Ask these 2 papers").click()
    page.wait_for_url("**/ask")
    go(page, "/collection?view=Cards")
    page.locator("[class*=st-key-example] button").first.click()
    # A question that is answered at once has put its conversation into the address already.
    page.wait_for_url("**/ask*")
