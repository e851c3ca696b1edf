"""What a reader waits for in Chromium: a citation's passage, and the list of papers."""

import statistics
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import cycle, islice
from math import ceil
from typing import TypedDict

from playwright.sync_api import Browser, Error, Page, sync_playwright

from evaluation.input_files import EvaluationError

ARGUMENTS = (
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
)  # fmt: skip
LOADS, MOST_LINKS = 5, 8
PATIENCE_MS = 30_000

# Waits for a state of the page from frame to frame, and not for ever.
_UNTIL = f"""const until = async (reached) => {{
    const begun = performance.now();
    while (!reached()) {{
      if (performance.now() - begun > {PATIENCE_MS}) throw new Error(`never: ${{reached}}`);
      await new Promise(requestAnimationFrame);
    }}
  }};
  const rests = () => document.querySelector('[data-testid=stApp]')
      ?.getAttribute('data-test-script-state') === 'notRunning';
  const panel = () => {{
    const text = document.querySelector('.st-key-evidence_panel')?.textContent ?? '';
    return text.includes('Evidence for') ? text : '';
  }};
  const click = (link) => document.querySelector(`a[href="${{link}}"]`).click();"""
# A list is there when its script has ended and its search can be typed into.
_INTERACTIVE = f"""async () => {{
  {_UNTIL}
  await until(() => rests() && document.querySelector('.st-key-q input'));
  return performance.now();
}}"""
# What the panel shows when nothing of it has changed for a while; the first click may come before whoever
# listens to it.
_AT_REST = f"""async (link) => {{
  {_UNTIL}
  const before = panel();
  let clicked = -Infinity;
  await until(() => {{
    if (panel() === before && performance.now() - clicked > 2000) {{
      clicked = performance.now();
      click(link);
    }}
    return panel() !== before;
  }});
  let seen = '', since = 0;
  await until(() => {{
    if (panel() !== seen || !rests()) {{ seen = panel(); since = performance.now(); }}
    return performance.now() - since > 500;
  }});
  return seen;
}}"""
_CLICK = f"""async ([link, wanted]) => {{
  {_UNTIL}
  const begun = performance.now();
  click(link);
  await until(() => panel() === wanted);
  return performance.now() - begun;
}}"""
_LINKS = "() => [...document.querySelectorAll('a[href^=\"#cite-\"]')].map(one => one.getAttribute('href'))"


class BrowserFigures(TypedDict):
    """Milliseconds until what was asked for can be used.

    From a click on a citation until its passage stands beside the answer, and from going to the list of
    papers until it can be searched, in a browser that has never been there and in one that has.
    """

    clicks: int
    click_ms_p50: float
    click_ms_p95: float
    list_first_ms_p50: float
    list_again_ms_p50: float
    list_again_ms_max: float


def measure_in_browser(chromium: str, address: str, conversation: str, count: int) -> BrowserFigures:
    """Measure `count` clicks, and some loads, in the browser at a path; raises EvaluationError."""
    try:
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(
                executable_path=chromium, headless=True, args=list(ARGUMENTS)
            )
            clicks = _clicks(browser, f"{address}/ask?conversation={conversation}", count)
            first, again = _loads(browser, f"{address}/collection", min(LOADS, count))
            browser.close()
    except Error as error:
        raise EvaluationError(f"The browser did not show what was measured: {error.message}") from error
    return BrowserFigures(
        clicks=len(clicks),
        click_ms_p50=statistics.median(clicks),
        click_ms_p95=p95(clicks),
        list_first_ms_p50=statistics.median(first),
        list_again_ms_p50=statistics.median(again),
        list_again_ms_max=max(again),
    )


@contextmanager
def _opened(browser: Browser) -> Iterator[Page]:
    context = browser.new_context(viewport={"width": 1440, "height": 900}, reduced_motion="reduce")
    page = context.new_page()
    page.set_default_timeout(PATIENCE_MS)
    yield page
    context.close()


def _clicks(browser: Browser, address: str, count: int) -> Sequence[float]:
    """Return the milliseconds of clicks on an answer's citations, each opened once before."""
    with _opened(browser) as page:
        page.goto(address)
        page.locator('a[href^="#cite-"]').first.wait_for()
        links = list(dict.fromkeys(page.evaluate(_LINKS)))[: min(MOST_LINKS, count + 1)]
        shown = {link: page.evaluate(_AT_REST, link) for link in links}
        # The one that is open does not open again.
        return [page.evaluate(_CLICK, [link, shown[link]]) for link in islice(cycle(links), count)]


def _loads(browser: Browser, address: str, count: int) -> tuple[list[float], list[float]]:
    """Return the milliseconds of loads by newcomers, and by one who has been there."""
    first = [_first_load(browser, address) for _ in range(count)]
    with _opened(browser) as page:
        loads = [_load(page, address) for _ in range(count + 1)]
    return first, loads[1:]


def _first_load(browser: Browser, address: str) -> float:
    with _opened(browser) as page:
        return _load(page, address)


def _load(page: Page, address: str) -> float:
    page.goto(address, wait_until="commit")
    milliseconds: float = page.evaluate(_INTERACTIVE)
    return milliseconds


def p95(milliseconds: Sequence[float]) -> float:
    """Return what 95 of 100 do not exceed, by the nearest rank."""
    return sorted(milliseconds)[ceil(0.95 * len(milliseconds)) - 1]
