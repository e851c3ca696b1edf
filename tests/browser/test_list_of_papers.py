"""The papers of a list: each tick stands beside its own paper, which the style alone sees to."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.browser.conftest import fits, settled
from tests.explorer.studied_corpus import TITLES

OpenPage = Callable[..., Any]

# For every paper the name of each tick that lies within the height of its text, not behind another's.
BESIDE = """() => {
  const list = document.querySelector('.st-key-papers, .st-key-cards');
  const ticks = [...list.querySelectorAll('input[type=checkbox]')].map((tick) => {
    const box = tick.closest('label').getBoundingClientRect();
    return [tick.getAttribute('aria-label') ?? tick.closest('label').textContent, box];
  });
  return [...list.querySelectorAll('li')].map((item) => {
    const text = item.getBoundingClientRect();
    const beside = ([, box]) => box.top >= text.top && box.bottom <= text.bottom
      && box.left >= text.left - 40 && box.left < text.left + 40;
    return [item.querySelector('a').textContent, ticks.filter(beside).map(([name]) => name)];
  });
}"""

# The script that draws ticks may arrive after the text of the papers.
ALL_TICKS = """() => {
  const list = document.querySelector('.st-key-papers, .st-key-cards');
  return list.querySelectorAll('input[type=checkbox]').length === list.querySelectorAll('li').length;
}"""


@pytest.mark.parametrize(
    ("address", "size"),
    [
        ("/collection", "wide"),
        ("/collection?view=Cards", "wide"),
        ("/collection?view=Table", "phone"),
        ("/collection?view=Cards&q=layers", "phone"),
    ],
)
def test_every_tick_stands_beside_its_paper(open_studied: OpenPage, address: str, size: str) -> None:
    page = open_studied(address, size=size)
    page.locator(":is(.st-key-papers, .st-key-cards) li").first.wait_for()
    settled(page)
    page.wait_for_function(ALL_TICKS)
    beside = page.evaluate(BESIDE)
    assert len(beside) > 1
    assert all(names == [f"Select {title}"] for title, names in beside), beside
    assert fits(page)


def test_a_tick_selects_the_paper_it_stands_beside(open_studied: OpenPage) -> None:
    page = open_studied("/collection")
    page.get_by_role("checkbox", name=f"Select {TITLES['heads']}").check(force=True)
    page.get_by_text("1 paper selected").wait_for()
    page.get_by_role("button", name="Ask these").click()
    page.get_by_role("button", name=TITLES["heads"]).first.wait_for()
