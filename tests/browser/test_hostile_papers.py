"""Papers, a model and addresses that try all they can: screens show them as text, and nobody is asked."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

import pytest

from assistant.exports.registry import COMPARISON_FORMATS, CONVERSATION_FORMATS, PAPER_FORMATS
from assistant.trail.comparison_file import comparison_from_json
from assistant.trail.transcript import from_json
from corpus.encoders.base import Encoder
from tests.browser.conftest import downloaded, go, opening, serving, settled
from tests.browser.test_reading_room import answered, ask, choose_the_model
from tests.exported_text import exported_text
from tests.hostile_corpus import IDS, QUESTION, build_hostile_home, plain_address
from tests.hostile_files import assert_harmless_file
from tests.hostile_listener import Listener
from tests.hostile_model import UNANSWERABLE, HostileModel
from tests.hostile_texts import payloads
from tests.standin_chat import StandinChat

OpenPage = Callable[..., Any]
# The room below the places of the map.
BELOW = 20
# All of a page, its open shadow roots too, that a text of papers or models must never have become.
ACTING = """(allowed) => {
  const found = [], addresses = ['src', 'href', 'action', 'srcset', 'data', 'poster', 'formaction'];
  const drawn = '.stMarkdownBadge, .katex, .mermaid, [id^=mermaid], form:not(.vega-bindings), b, ' +
    'object, embed, [data-testid=stMarkdownContainer] ' +
    ':is(img, svg:not([aria-hidden]), table, blockquote, input, iframe)';
  const look = (root) => {
    for (const one of root.querySelectorAll(drawn)) found.push(one.outerHTML.slice(0, 200));
    for (const one of root.querySelectorAll('*')) {
      if (one.shadowRoot) look(one.shadowRoot);
      for (const name of addresses) {
        const value = one.getAttribute(name);
        if (!value || allowed.includes(value)) continue;
        const url = new URL(value, location.href);
        const inside = name === 'src' && ['data:', 'blob:'].includes(url.protocol);
        if (url.origin !== location.origin && !inside) found.push(one.outerHTML.slice(0, 200));
      }
      for (const name of one.getAttributeNames()) if (name.startsWith('on')) found.push(name);
      if (one.tagName === 'STYLE' && /@import|url\\(["']?http/.test(one.textContent)) found.push('style');
      if (one.dataset?.testid === 'stIconMaterial' && one.textContent === 'home') found.push('icon');
    }
  };
  look(document);
  return found;
}"""


@pytest.fixture(scope="module")
def listener() -> Iterator[Listener]:
    with Listener() as server:
        yield server


@pytest.fixture(scope="module")
def hostile_app(
    encoder: Encoder, listener: Listener, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[str]:
    """Start the app on the hostile corpus with the hostile model; return its address."""
    home = build_hostile_home(tmp_path_factory.mktemp("hostile-home"), encoder, listener.address)
    with (
        StandinChat(default=HostileModel(listener.address)) as model,
        serving(home, model.url, tmp_path_factory) as address,
    ):
        yield address


@pytest.fixture
def open_hostile(chromium: Any, hostile_app: str, listener: Listener) -> Iterator[OpenPage]:
    """Open pages on the hostile corpus; fail at the end if any asked another host, or the listener."""
    with opening(chromium, hostile_app) as open_one:
        yield open_one
    assert listener.heard == []


def harmless(page: Any, listener: Listener) -> None:
    """Assert that nothing on the page is more than text, but the one plain address of the papers."""
    settled(page)
    assert page.get_by_text("This screen could not be drawn").count() == 0
    assert page.evaluate(ACTING, [plain_address(listener.address)]) == []


def test_hostile_papers_are_text_where_they_are_browsed(open_hostile: OpenPage, listener: Listener) -> None:
    """It rests on `harmless`, and on `open_hostile`, which fails if anything was asked of another host."""
    page = open_hostile("/collection?overview=true")
    page.get_by_text("Most cited here").wait_for()
    harmless(page, listener)
    _open_every_menu(page)
    harmless(page, listener)
    go(page, "/collection?view=Cards&q=hostile+retrieval")
    page.locator(".st-key-cards strong").first.wait_for()
    harmless(page, listener)
    go(page, "/collection?view=Map")
    _hover_in_the_middle(page)
    harmless(page, listener)
    page.locator(".st-key-group_1 button").click()
    page.locator(".st-key-map_papers a").first.wait_for()
    harmless(page, listener)


def test_hostile_papers_are_text_and_their_pdf_a_picture(open_hostile: OpenPage, listener: Listener) -> None:
    page = open_hostile(f"/paper?id={quote(IDS[0], safe='')}")
    page.get_by_role("img", name="Page 1 of the PDF").wait_for()
    page.locator(".st-key-cite button").first.click()
    page.locator(".st-key-cite_files").wait_for()
    harmless(page, listener)
    page.keyboard.press("Escape")
    page.locator('a[href^="#cite-"]').first.click()
    page.get_by_role("dialog").wait_for()
    harmless(page, listener)
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Open in viewer").click()
    page.frame_locator("iframe").locator("#canvas_page_1").wait_for()
    page.frame_locator("iframe").locator("#canvas_page_1").click(force=True)
    for identifier in IDS[1:]:
        go(page, f"/paper?id={quote(identifier, safe='')}&passage=1&sentence=3")
        page.get_by_role("img", name="Page 1 of the PDF").wait_for()
        harmless(page, listener)
    assert len(page.context.pages) == 1, "a link of the PDF was followed"


def test_hostile_addresses_and_documents_are_text(open_hostile: OpenPage, listener: Listener) -> None:
    """It rests on `harmless`, and on `open_hostile`, which fails if anything was asked of another host."""
    page = open_hostile("/about?part=How+it+was+built")
    harmless(page, listener)
    every = payloads(listener.address)
    wanted = {
        "collection": ("collection", "topic", "author", "venue", "q", "view", "page", "group"),
        "paper": ("id",),
        "ask": ("conversation",),
        "compare": ("papers", "comparison"),
        "about": ("part",),
    }
    for name, parameters in wanted.items():
        query = [(parameter, payload) for parameter in parameters for payload in (every[0], every[11])]
        go(page, f"/{name}?{urlencode(query)}")
        harmless(page, listener)
    go(page, "/ask")
    page.locator(".st-key-open_documents button").click()
    files = page.locator(".st-key-own_documents input[type=file]")
    files.set_input_files(
        {"name": f"{every[0]}.md", "mimeType": "text/markdown", "buffer": "\n\n".join(every).encode()}
    )
    page.locator(".st-key-ask_own button").wait_for()
    harmless(page, listener)


def test_hostile_answers_are_text(open_hostile: OpenPage, listener: Listener, tmp_path: Path) -> None:
    page = open_hostile("/ask")
    choose_the_model(page)
    ask(page, QUESTION)
    answered(page)
    links = page.locator(".st-key-reading_answer_1 a")
    found = links.evaluate_all("all => all.map(one => one.getAttribute('href'))")
    assert len(found) > 20
    assert found == [f"#cite-1-{number}" for number in range(1, len(found) + 1)]
    harmless(page, listener)
    page.locator('a[href="#cite-1-2"]').click()
    page.locator('[class*="st-key-strip_side"] img').wait_for()
    page.get_by_role("button", name="Wrong citation").click()
    harmless(page, listener)
    page.keyboard.press("Escape")
    conversation = from_json(downloaded(page, "JSON, complete").read_text(encoding="utf-8"))
    page.get_by_role("button", name="What was sent").click()
    page.get_by_role("dialog").get_by_text("Received").first.wait_for()
    harmless(page, listener)
    page.keyboard.press("Escape")
    ask(page, UNANSWERABLE)
    page.get_by_text("Not answered").wait_for()
    harmless(page, listener)
    papers = [paper.paper for paper in conversation.turns[0].evidence.papers]
    assert len(papers) == len(IDS)
    files = {
        f"answer.{export.ending}": exported_text(export.write(conversation))
        for export in CONVERSATION_FORMATS
    }
    files |= {export.file_name: exported_text(export.write(papers)) for export in PAPER_FORMATS}
    _check_files(page, files, listener, tmp_path)


@pytest.mark.long
def test_hostile_comparisons_are_text(open_hostile: OpenPage, listener: Listener, tmp_path: Path) -> None:
    page = open_hostile(f"/compare?papers={quote(','.join(IDS[:2]), safe='')}")
    choose_the_model(page)
    page.get_by_label("What your own work is about").fill(" ".join(payloads(listener.address)))
    page.get_by_role("button", name="Compare", exact=True).click()
    page.get_by_text("References", exact=True).wait_for()
    harmless(page, listener)
    page.locator('tbody button[data-cell^="1-"]').first.press("Enter")
    page.locator('[class*="st-key-cell_shown_1"]').first.wait_for()
    harmless(page, listener)
    for part in ("Differences", "How it was written"):
        page.get_by_role("radio", name=part).click()
        harmless(page, listener)
    written = downloaded(page, "JSON, complete", "comparison_trail").read_text(encoding="utf-8")
    comparison = comparison_from_json(written)
    page.locator("[class*='st-key-comparison_trail'] button").first.click()
    page.get_by_role("button", name="What was sent").dispatch_event("click")
    page.get_by_role("dialog").get_by_text("Received").first.wait_for()
    harmless(page, listener)
    files = {export.file_name: exported_text(export.write(comparison)) for export in COMPARISON_FORMATS}
    _check_files(page, files, listener, tmp_path)


def _check_files(page: Any, files: dict[str, str], listener: Listener, folder: Path) -> None:
    """Check what was taken away, and open the web page of it; nothing in it is more than text."""
    allowed = plain_address(listener.address)
    for name, text in files.items():
        assert_harmless_file(name, text, allowed)
        if name.endswith(".html"):
            file = folder / name
            file.write_text(text, encoding="utf-8")
            asked: list[str] = []
            own = page.context.new_page()
            own.on("request", lambda request, asked=asked: asked.append(request.url))
            own.goto(file.as_uri())
            assert asked == [file.as_uri()]
            assert (
                own.locator("img, iframe, form, script, svg:not([aria-hidden]), b, object, [onerror]").count()
                == 0
            )
            leading = own.locator("a").evaluate_all("all => all.map(one => one.href)")
            foreign = [
                request for request in leading if not request.startswith("file:") and request != allowed
            ]
            assert [request for request in foreign if not request.startswith("https://doi.org/")] == []


def _open_every_menu(page: Any) -> None:
    """Open each menu of filters in turn, and leave the last one open."""
    for menu in page.locator("[class*=st-key-facet_menu_] button").all():
        menu.click()
        settled(page)


def _hover_in_the_middle(page: Any) -> None:
    """Move the mouse along the middle of the map until the name of a paper is shown."""
    box, name = page.locator(".st-key-map canvas").bounding_box(), page.locator("#vg-tooltip-element.visible")
    for step in range(3 * 140):
        # The chart is drawn some time after its canvas is there, so it may take another round.
        x = box["x"] + box["width"] * (step % 140) / 140
        page.mouse.move(x, box["y"] + (box["height"] - BELOW) / 2)
        if name.count():
            return
    raise AssertionError("no paper was named")
