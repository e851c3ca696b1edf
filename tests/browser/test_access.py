"""For everybody: what axe finds on every screen and what is too wide, and the whole way by keyboard."""

import re
from collections.abc import Callable
from importlib.resources import files
from typing import Any

import pytest

from tests.browser.conftest import fits, go, settled
from tests.browser.test_reading_room import answered, ask

OpenPage = Callable[..., Any]
RULES = ["wcag2a", "wcag2aa", "wcag21aa", "wcag22aa"]
# A screen is found one's way through by its headings: none leaves a level out.
HEADINGS = "heading-order"
# Of 255, than the page, are the words of what cannot be used yet in the dark.
LIGHTER = 40
PAPER = "/paper?id=field-notes-retrieval%2Fbm25"
# Our style has come, and nothing fades any more: before that a text is paler than it will be.
STANDS = """() => getComputedStyle(document.documentElement).getPropertyValue('--pt-weak')
  && !document.querySelector('[data-stale=true]') && document.getAnimations().every(
  (one) => one.playState !== 'running' || one.effect?.getComputedTiming().endTime === Infinity)"""
# Where there is something to look at, and what is drawn there last.
DRAWN = {
    "/collection?view=Map": ".st-key-map canvas",
    f"{PAPER}&passage=8&sentence=1": '[class*="st-key-marked_sentence"]',
    "/about": "h1, h2, h3",
    "/about?part=Who+writes": "h1, h2, h3",
}
COMPARED = "/compare?papers=field-notes-retrieval/bm25,field-notes-retrieval/dense-retrieval"
ABOUT = "We choose between dense and lexical retrieval for a search engine of our own."


@pytest.fixture(scope="session")
def axe() -> str:
    """Return the source of axe-core, as a package brings it."""
    pytest.importorskip("axe_playwright_python", reason="axe-core is not installed")
    return files("axe_playwright_python").joinpath("axe.min.js").read_text(encoding="utf-8")


def faults(page: Any, axe: str) -> list[str]:
    """Return the serious faults that axe finds on a page, a line each, and those of headings.

    With it comes whether the page is too wide.
    """
    settled(page)
    page.wait_for_function(STANDS)
    if not page.evaluate("typeof axe === 'object'"):
        page.evaluate(axe)
    asked = {"runOnly": {"type": "tag", "values": RULES}, "rules": {HEADINGS: {"enabled": True}}}
    found = page.evaluate("(asked) => axe.run(document, asked)", asked)["violations"]
    too_wide = [] if fits(page) else ["wider than the window"]
    return too_wide + [
        f"{fault['id']}: {node['html'][:300]} ({node['failureSummary'].splitlines()[-1].strip()[:200]})"
        for fault in found
        if fault["impact"] in ("serious", "critical") or fault["id"] == HEADINGS
        for node in fault["nodes"]
    ]


@pytest.mark.parametrize(("size", "scheme"), [("wide", "light"), ("phone", "dark")])
def test_nothing_of_ours_keeps_anybody_out(open_page: OpenPage, axe: str, size: str, scheme: str) -> None:
    page = open_page("/collection?overview=true", size=size, scheme=scheme)
    page.locator(".stCheckbox label").first.click()
    page.locator(".st-key-picked").wait_for()
    assert faults(page, axe) == []
    for path, sign in DRAWN.items():
        go(page, path)
        page.locator(sign).first.wait_for()
        assert faults(page, axe) == []
    go(page, COMPARED)
    assert faults(page, axe) == []
    page.get_by_label("What your own work is about").fill(ABOUT)
    page.get_by_role("button", name="Compare", exact=True).click()
    page.get_by_text("References", exact=True).wait_for()
    assert faults(page, axe) == []
    go(page, "/ask")
    assert faults(page, axe) == []
    ask(page)
    answered(page)
    page.locator('a[href="#cite-1-1"]').click()
    page.locator('[class*="st-key-marked_sentence"]').first.wait_for()
    assert faults(page, axe) == []
    if size == "phone":
        page.get_by_role("dialog").get_by_role("button", name="Close").click()
    page.get_by_role("button", name="What was sent").click()
    page.get_by_role("dialog").get_by_text("Received").first.wait_for()
    assert faults(page, axe) == []


def test_a_button_that_cannot_be_used_yet_can_be_read_in_the_dark(open_page: OpenPage) -> None:
    """Regression: its words had the colour of the page. Of such buttons axe says nothing."""
    page = open_page("/compare", scheme="dark")
    button = page.get_by_role("button", name="Compare", exact=True)
    assert button.is_disabled()
    words = button.locator("p").evaluate("one => getComputedStyle(one).color")
    ground = page.locator(".stApp").evaluate("one => getComputedStyle(one).backgroundColor")
    assert _light(words) - _light(ground) > LIGHTER


def _light(colour: str) -> float:
    """Return the lightness of "rgba(236, 233, 225, 0.4)", 0..255, on black."""
    red, green, blue, *opacity = map(float, re.findall(r"[\d.]+", colour))
    return (red + green + blue) / 3 * (opacity[0] if opacity else 1.0)


def test_the_whole_way_is_gone_by_keyboard(open_page: OpenPage) -> None:
    """It rests on what is waited for, each a state of the screen, and on what `opening` complains of."""
    page = open_page("/collection")
    _tab_to(page, "input[type=checkbox]")
    page.keyboard.press("Space")
    page.locator(".st-key-picked").wait_for()
    settled(page)
    _tab_to(page, ".st-key-ask_these button")
    page.keyboard.press("Enter")
    page.wait_for_url("**/ask*")
    settled(page)
    _tab_to(page, "[data-testid=stChatInputTextArea]")
    page.keyboard.type("How does ROUGE score a summary?")
    page.keyboard.press("Enter")
    answered(page)
    _tab_to(page, 'a[href="#cite-1-1"]')
    page.keyboard.press("Enter")
    _read(page, "1 of ")
    page.keyboard.press("n")
    _read(page, "2 of ")
    _tab_to(page, "[data-testid=stChatInputTextArea]")


def _read(page: Any, place: str) -> None:
    """Wait for a citation and its picture: one that is left before it has come is not there any more."""
    page.locator(".st-key-side_head").get_by_text(place).wait_for()
    settled(page)
    page.locator('[class*="st-key-strip_side"] img').evaluate("image => image.decode()")


def _tab_to(page: Any, wanted: str, most: int = 80) -> None:
    """Press Tab until what is wanted, once it is there, has the focus."""
    page.locator(wanted).first.wait_for(state="attached")
    for _ in range(most):
        if page.evaluate("(wanted) => document.activeElement.matches(wanted)", wanted):
            return
        page.keyboard.press("Tab")
    raise AssertionError(f"{wanted} cannot be reached by keyboard")
