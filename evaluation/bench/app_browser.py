"""What a reader waits for in Chromium: a citation's passage, and the list of papers."""

import statistics
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import cycle, islice
from math import ceil
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Error, Page, sync_playwright

from evaluation.harness import Figures
from evaluation.input_files import EvaluationError

ARGUMENTS = (
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
)  # fmt: skip
LOADS, MOST_LINKS = 5, 8
PATIENCE_MS = 30_000
_SCRIPT = (
    Path(__file__).with_suffix(".js").read_text(encoding="utf-8").replace("PATIENCE_MS", str(PATIENCE_MS))
)


def _evaluate(page: Page, function: str, argument: object = None) -> Any:
    """Call a function of app_browser.js in the page."""
    script = _SCRIPT[_SCRIPT.index("(") :].strip()
    return page.evaluate(f"(argument) => {script}.{function}(argument)", argument)


def measure_in_browser(chromium: str, address: str, conversation: str, count: int) -> Figures:
    """Return milliseconds of `count` clicks on citations, and of loads of the list of papers.

    First loads are by newcomers, later ones by a browser that has been there. Raises EvaluationError.
    """

    def load(page: Page) -> float:
        page.goto(f"{address}/collection", wait_until="commit")
        return float(_evaluate(page, "interactive"))

    loads = min(LOADS, count)
    try:
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(
                executable_path=chromium, headless=True, args=list(ARGUMENTS)
            )
            with _opened(browser) as page:
                page.goto(f"{address}/ask?conversation={conversation}")
                page.locator('a[href^="#cite-"]').first.wait_for()
                links = list(dict.fromkeys(_evaluate(page, "links")))[: min(MOST_LINKS, count + 1)]
                shown = {link: _evaluate(page, "atRest", link) for link in links}
                # The link that is open does not open again.
                turns = islice(cycle(links), count)
                clicks = [float(_evaluate(page, "clickUntil", [link, shown[link]])) for link in turns]
            first = []
            for _ in range(loads):
                with _opened(browser) as page:
                    first.append(load(page))
            with _opened(browser) as page:
                again = [load(page) for _ in range(loads + 1)][1:]
            browser.close()
    except Error as error:
        raise EvaluationError(f"The browser did not show what was measured: {error.message}") from error
    return {
        "clicks": len(clicks),
        "click_ms_p50": statistics.median(clicks),
        "click_ms_p95": p95(clicks),
        "list_first_ms_p50": statistics.median(first),
        "list_again_ms_p50": statistics.median(again),
        "list_again_ms_max": max(again),
    }


@contextmanager
def _opened(browser: Browser) -> Iterator[Page]:
    context = browser.new_context(viewport={"width": 1440, "height": 900}, reduced_motion="reduce")
    page = context.new_page()
    page.set_default_timeout(PATIENCE_MS)
    yield page
    context.close()


def p95(milliseconds: list[float]) -> float:
    """Return the 95th percentile by the nearest rank."""
    return sorted(milliseconds)[ceil(0.95 * len(milliseconds)) - 1]
