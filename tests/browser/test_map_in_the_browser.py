"""The map in Chromium: a click and a rectangle list papers, and what names them is only text."""

from collections.abc import Callable
from itertools import product
from typing import Any

from tests.browser.conftest import settled
from tests.explorer.studied_corpus import HOSTILE, PLACES, TITLES

OpenPage = Callable[..., Any]
# The radius in which a place is searched for: labels at the edge make the chart smaller.
REACH, STEP = 56, 7


def _place(page: Any, key: str) -> tuple[float, float]:
    """Return where on the screen a paper of the map is: where it is named when the pointer is there."""
    box = page.locator(".st-key-map canvas").bounding_box()
    xs, ys = ([place[axis] for place in PLACES.values()] for axis in (0, 1))
    x, y, _ = PLACES[key]
    left = box["x"] + box["width"] * (x - min(xs)) / (max(xs) - min(xs))
    top = box["y"] + box["height"] * (max(ys) - y) / (max(ys) - min(ys))
    steps = range(-REACH, REACH + 1, STEP)
    # The chart is drawn some time after its canvas is there, so it may take another round.
    for across, down in 5 * sorted(product(steps, steps), key=lambda offset: offset[0] ** 2 + offset[1] ** 2):
        page.mouse.move(left + across, top + down)
        if TITLES[key] in page.evaluate("document.querySelector('.vg-tooltip.visible')?.innerText ?? ''"):
            return left + across, top + down
    raise AssertionError(f"{key} is not on the map")


def test_papers_are_chosen_on_the_map(open_studied: OpenPage) -> None:
    page = open_studied("/collection?view=Map")
    page.set_viewport_size({"width": 1440, "height": 1100})
    page.locator(".st-key-map canvas").wait_for()
    _place(page, "hostile")
    page.locator(".vg-tooltip.visible").get_by_text(HOSTILE).wait_for()
    page.mouse.click(*_place(page, "summaries"))
    page.get_by_text("1 paper chosen on the map").wait_for()
    page.locator(".st-key-map_papers").get_by_role("link", name=TITLES["summaries"]).wait_for()
    box = page.locator(".st-key-map canvas").bounding_box()
    page.mouse.move(box["x"] + box["width"] * 0.5, box["y"] + box["height"] * 0.6)
    page.mouse.down()
    page.mouse.move(box["x"] + 2, box["y"] + box["height"] - 2, steps=4)
    page.mouse.up()
    page.get_by_text("2 papers chosen on the map").wait_for()
    page.locator(".st-key-map_papers").get_by_role("link", name=TITLES["tokens"]).wait_for()
    page.locator(".st-key-select_on_map button").click()
    page.get_by_text("2 papers selected").wait_for()
    page.locator(".st-key-facet_field").get_by_role("button", name="Efficiency 2").click()
    settled(page)
    page.get_by_text("Groups of similar papers").wait_for()
    assert page.get_by_text("chosen on the map").count() == 0
