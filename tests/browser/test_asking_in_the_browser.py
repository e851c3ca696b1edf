"""Asking in a browser: nothing moves while an answer is written, and keys move between citations."""

from collections.abc import Callable
from typing import Any

from tests.browser.conftest import settled
from tests.browser.test_reading_room import answered, ask, choose_the_model, is_in_view

OpenPage = Callable[..., Any]
# Where the fixed parts of a turn stand, and all that moved without anybody's doing since `watch`.
TOPS = """() => ['turn_1', 'steps_1', 'reading_answer_1'].map(
  (key) => document.querySelector('.st-key-' + key)?.getBoundingClientRect().top)"""
WATCH = """() => { window.moved = 0; new PerformanceObserver((list) => {
  for (const entry of list.getEntries()) if (!entry.hadRecentInput) window.moved += entry.value;
}).observe({ type: 'layout-shift' }); }"""

COMES_LATE = """() => {
  const hidden = document.head.appendChild(document.createElement('style'));
  hidden.textContent = '.st-key-turn_1, :is(.st-key-turn_2, .st-key-latest_2) { display: none; }';
  new MutationObserver((_, observer) => {
    if (!document.querySelector('.st-key-latest_3 .st-key-failure')) return;
    observer.disconnect();
    setTimeout(() => { hidden.remove(); window.hasCome = true; }, 300);
  }).observe(document.body, { childList: true, subtree: true });
}"""


def test_nothing_moves_while_an_answer_is_written_and_when_it_is_complete(open_page: OpenPage) -> None:
    page = open_page("/ask")
    choose_the_model(page)
    ask(page)
    page.locator('a[href="#cite-1-1"]').wait_for()
    before = page.evaluate(TOPS)
    page.evaluate(WATCH)
    page.locator(".st-key-actions_1").wait_for()
    answered(page)
    after = page.evaluate(TOPS)
    assert all(abs(earlier - other) < 2 for earlier, other in zip(before, after, strict=True)), (
        before,
        after,
    )
    # An answer that stood there twice for a moment, above itself, was 0.08.
    assert page.evaluate("window.moved") < 0.02
    _keys_lead_from_citation_to_citation_and_never_while_something_is_typed(page)


def _keys_lead_from_citation_to_citation_and_never_while_something_is_typed(page: Any) -> None:
    place = page.locator(".st-key-side_head")
    page.locator('a[href="#cite-1-1"]').click()
    place.get_by_text("1 of 3").wait_for()
    page.keyboard.press("n")
    place.get_by_text("2 of 3").wait_for()
    page.keyboard.press("p")
    place.get_by_text("1 of 3").wait_for()
    box = page.get_by_test_id("stChatInputTextArea")
    box.click()
    page.keyboard.type("nn")
    settled(page)
    assert box.input_value() == "nn"
    assert place.get_by_text("1 of 3").is_visible()


def test_what_a_window_was_made_narrow_for_stayed_when_it_was_wide_again(open_page: OpenPage) -> None:
    page = open_page("/ask")
    folded = page.locator(".st-key-choices_folded")
    for width, state in ((390, "attached"), (1440, "detached"), (390, "attached")):
        page.set_viewport_size({"width": width, "height": 844})
        folded.wait_for(state=state)


def test_fault_a_question_refused_at_once_was_left_below_the_screen(open_page: OpenPage) -> None:
    """The content above it grew after the scroll: here all of it comes a moment later."""
    page = open_page("/ask")
    ask(page)
    answered(page)
    ask(page, "What about its storage cost?")
    page.locator(".st-key-actions_2").wait_for()
    settled(page)
    page.evaluate(COMES_LATE)
    ask(page, "why " * 600)
    page.wait_for_function("() => window.hasCome")
    is_in_view(page, 3)
    page.get_by_role("button", name="Dismiss").click()
    page.locator(".st-key-latest_2").wait_for()
    settled(page)
    # Another that is the third too was not shown: a third one had been.
    ask(page)
    page.locator(".st-key-latest_3 .st-key-actions_3").wait_for()
    is_in_view(page, 3)
