"""History across screens ("back" and "forward"), in Chromium, which alone has one."""

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


def test_back_leads_to_the_search_with_its_own_parameters(open_studied: OpenPage) -> None:
    search = "/collection?q=layers&view=Cards"
    page = open_studied(search)
    page.get_by_role("link", name=TITLES["heads"]).click()
    page.get_by_role("heading", name=TITLES["heads"]).wait_for()
    paper = page.url
    page.go_back()
    _is_at(page, search, searched="layers")
    page.get_by_role("radio", name="Cards", checked=True).wait_for()
    settled(page)
    page.go_forward()
    page.get_by_role("heading", name=TITLES["heads"]).wait_for()
    page.locator(".st-key-authors").get_by_role("link", name="Ana Lin").click()
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


def test_fault_a_link_within_a_paper_was_two_steps_back(open_studied: OpenPage) -> None:
    page = open_studied("/paper?id=studied%2Ftokens")
    says_so = page.get_by_role("link", name="Where it says so")
    addresses = [says_so.nth(number).evaluate("link => link.href") for number in (0, 1)]
    for number, address in enumerate(addresses):
        says_so.nth(number).click()
        page.wait_for_url(address)
        # From now on there are two scripts on the page that follow links.
        page.locator('[class*="st-key-marked_sentence"]').first.wait_for()
        settled(page)
    page.go_back()
    page.wait_for_url(addresses[0])


def test_fault_a_similar_paper_was_shown_from_its_end(open_studied: OpenPage) -> None:
    page = open_studied("/paper?id=studied%2Ftokens")
    page.set_viewport_size({"width": 1280, "height": 360})
    similar = page.locator(".st-key-similar").get_by_role("link", name=TITLES["heads"])
    similar.scroll_into_view_if_needed()
    scrolled = page.locator("[data-testid=stMain]")
    assert scrolled.evaluate("main => main.scrollTop") > 0
    similar.click()
    page.get_by_role("heading", name=TITLES["heads"]).wait_for()
    settled(page)
    assert scrolled.evaluate("main => main.scrollTop") == 0


# Goes back as soon as a paper's title stands there.
BACK_AT_ONCE = """title => new MutationObserver((_, seen) => {
  if (document.querySelector('h1')?.innerText !== title) return;
  seen.disconnect();
  history.back();
  window.wentBack = true;
}).observe(document.body, { childList: true, subtree: true, characterData: true })"""


def test_fault_a_paper_that_was_left_before_its_script_came_named_itself_in_the_next_address(
    open_studied: OpenPage,
) -> None:
    search = "/collection?q=layers&view=Cards"
    page = open_studied(search)
    page.evaluate(BACK_AT_ONCE, TITLES["heads"])
    page.get_by_role("link", name=TITLES["heads"]).click()
    page.wait_for_function("() => window.wentBack")
    _is_at(page, search, searched="layers")
    page.go_forward()
    page.get_by_role("heading", name=TITLES["heads"]).wait_for()
    page.wait_for_url("**/paper?id=*")


def test_fault_a_paper_that_was_left_for_the_one_before_wrote_its_address_and_lost_the_way_forward(
    open_studied: OpenPage,
) -> None:
    page = open_studied("/paper?id=studied%2Fheads")
    page.evaluate(BACK_AT_ONCE, TITLES["tokens"])
    page.locator(".st-key-references summary").click()
    page.locator(".st-key-references").get_by_role("link", name=TITLES["tokens"]).click()
    page.wait_for_function("() => window.wentBack")
    page.get_by_role("heading", name=TITLES["heads"]).wait_for()
    settled(page)
    page.go_forward()
    page.get_by_role("heading", name=TITLES["tokens"]).wait_for()
    page.wait_for_url("**/paper?id=studied%2Ftokens")


def test_a_link_opens_a_scope_and_the_address_follows_what_is_chosen(open_page: OpenPage) -> None:
    page = open_page("/ask?collection=field-notes-evaluation&question=What+is+it%3F")
    page.wait_for_function("() => location.search === '?collection=field-notes-evaluation'")
    page.wait_for_function(
        "() => document.querySelector('[data-testid=stChatInputTextArea]')?.value === 'What is it?'"
    )
    page.locator(".st-key-scope_collections [data-testid=stMultiSelectTagsContainer] svg").first.click()
    page.wait_for_function("() => location.search === ''")
    page.locator(".st-key-ask_collection_2 button").first.click()
    page.wait_for_function("() => location.search === '?collection=field-notes-retrieval'")
    page.reload()
    page.get_by_text("Field Notes on Retrieval").first.wait_for()
    assert page.locator(".st-key-ask_collection_2").count() == 0
