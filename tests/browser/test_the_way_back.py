"""What "back" and "forward" lead to across screens, in Chromium, which alone has a history."""

from collections.abc import Callable
from typing import Any

from tests.browser.conftest import settled
from tests.explorer.studied_corpus import TITLES

OpenPage = Callable[..., Any]


def _is_at(page: Any, address: str, *, searched: str) -> None:
    page.wait_for_url(f"**{address}")
    page.wait_for_function(
        "wanted => document.querySelector('.st-key-q input')?.value === wanted", arg=searched
    )
    # Before the search is drawn the script of the page that was left may be what has come to rest.
    settled(page)


def test_back_leads_to_the_search_and_never_to_a_page_with_the_parameters_of_another(
    open_studied: OpenPage,
) -> None:
    search = "/collection?q=layers&view=Cards"
    page = open_studied(search)
    page.get_by_role("link", name=TITLES["heads"]).click()
    page.get_by_role("heading", name=TITLES["heads"]).wait_for()
    paper = page.url
    page.go_back()
    _is_at(page, search, searched="layers")
    page.get_by_role("radio", name="Cards", checked=True).wait_for()
    page.go_forward()
    page.get_by_role("heading", name=TITLES["heads"]).wait_for()
    page.locator(".st-key-author_links").get_by_role("link", name="Ana Lin").click()
    _is_at(page, "/collection?author=Ana+Lin&view=Cards", searched="")
    page.get_by_text("5 papers", exact=True).wait_for()
    page.go_back()
    page.wait_for_url(paper)
    page.get_by_role("heading", name=TITLES["heads"]).wait_for()
    page.get_by_role("button", name="Ask about this paper").click()
    page.wait_for_url("**/ask?paper=*")
    page.go_back()
    page.wait_for_url(paper)
    page.go_back()
    _is_at(page, search, searched="layers")
