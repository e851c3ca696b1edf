"""The Paper screen in Chromium: its pages by keyboard, and the PDF viewer under the security policy."""

from collections.abc import Callable
from typing import Any

from tests.browser.conftest import settled


def test_pages_are_turned_by_keyboard_and_opened_in_the_viewer(open_page: Callable[..., Any]) -> None:
    """Regression: imported before the server ran, the viewer was a component that the server did not know."""
    page = open_page("/paper?id=field-notes-retrieval%2Fbm25")
    number = page.locator(".st-key-page_wanted input")
    page.get_by_role("img", name="Page 1 of the PDF").wait_for()
    page.get_by_role("img", name="Formula, as printed on page 1").wait_for()
    page.keyboard.press("ArrowRight")
    page.get_by_role("img", name="Page 2 of the PDF").wait_for()
    assert number.input_value() == "2"
    assert page.locator("iframe").count() == 0
    page.get_by_role("button", name="Open in viewer").click()
    viewer = page.frame_locator("iframe")
    viewer.locator("#canvas_page_2").wait_for()
    assert viewer.locator("#canvas_page_1").count() == 0
    page.get_by_role("button", name="Close the viewer").click()
    page.get_by_role("img", name="Page 2 of the PDF").wait_for()
    number.press("ArrowLeft")
    settled(page)
    assert number.input_value() == "2", "a key that is typed into a field turned the page"
