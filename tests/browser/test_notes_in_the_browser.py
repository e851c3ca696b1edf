"""A sentence is marked by selecting its words, and by keyboard, and is still marked after a reload."""

from collections.abc import Callable
from typing import Any

from tests.browser.conftest import settled
from tests.browser.test_access import PAPER, _tab_to, axe, faults

__all__ = ["axe"]
OpenPage = Callable[..., Any]
SELECT = """(words) => {
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walk.nextNode()) {
    const node = walk.currentNode;
    const place = node.parentElement.closest('[class*="st-key-reading_section"]');
    if (!place || !node.data.includes(words)) continue;
    const start = node.data.indexOf(words);
    getSelection().setBaseAndExtent(node, start, node, start + words.length);
    node.parentElement.scrollIntoView({ block: 'center' });
    return true;
  }
  return false;
}"""

LIST_IS_CLOSED = """() => !document.querySelector('[role=listbox]')
  && document.activeElement.matches('[class*="st-key-note_place"] input[aria-expanded="false"]')"""


def _tab_on(page: Any, place: str, wanted: str) -> None:
    """Press Tab from a place to the next but a few; again where the place was drawn anew at that moment.

    The focus is then at the top of the page.
    """
    for _ in range(20):
        page.locator(place).focus()
        for _ in range(6):
            page.keyboard.press("Tab")
            if page.evaluate("(wanted) => document.activeElement.matches(wanted)", wanted):
                return
        page.wait_for_timeout(250)
    raise AssertionError(f"Tab does not lead from {place} to {wanted}")


def test_a_sentence_is_marked_by_mouse_or_keyboard_and_stays_so(open_page: OpenPage, axe: str) -> None:
    page = open_page(PAPER)
    page.locator('[class*="st-key-reading_section"]').first.wait_for()
    write = page.get_by_role("toolbar", name="Mark the selected words").get_by_role("button").last
    # The script that watches selections may arrive after the words are selected.
    assert page.evaluate(SELECT, "adding up one weight")
    write.click()
    page.locator(".st-key-keep_edited").wait_for()
    field = page.locator('[class*="st-key-note_text_"] textarea')
    field.fill("Is it one weight?")
    field.press("Control+Enter")
    page.get_by_text("Is it one weight?", exact=True).first.wait_for()
    settled(page)
    _tab_to(page, '[class*="st-key-notes_menu"] button')
    page.keyboard.press("Enter")
    settled(page)
    _tab_to(page, '[class*="st-key-note_place"] input')
    page.keyboard.type("robust baseline")
    # The list follows what is typed a moment later: Enter before a sentence stands out in it chooses none.
    page.locator('[class*="st-key-note_place"] input[aria-activedescendant]').wait_for()
    page.keyboard.press("Enter")
    page.locator('[class*="st-key-note_place"] input[value*="BEIR benchmark"]').wait_for()
    page.wait_for_function(LIST_IS_CLOSED)
    _tab_on(page, '[class*="st-key-note_place"] input', '[class*="st-key-note_new"] textarea')
    page.keyboard.type("By keyboard.")
    page.keyboard.press("Control+Enter")
    page.get_by_text("By keyboard.", exact=True).first.wait_for()
    page.reload()
    settled(page)
    page.get_by_text("Is it one weight?", exact=True).first.wait_for()
    assert page.locator(".stMarkdownColoredBackground").count() >= 2
    assert faults(page, axe) == []
