"""A PDF of one's own in Chromium: brought, asked, read on its page, unseen by others, and gone."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.browser.conftest import settled
from tests.small_pdf import write_pdf

OpenPage = Callable[..., Any]
LINES = (
    "Singing pages",
    "Abstract",
    "Xylophonic pages sing when they are turned by a patient reader in a quiet room.",
    "1 Results",
    "In a quiet library 42 readers heard xylophonic pages sing before noon.",
)
CONTENT = "BT 60 720 Td /F 11 Tf " + " ".join(f"({line}) Tj 0 -40 Td" for line in LINES) + " ET"


def test_a_pdf_of_ones_own_is_asked_and_gone_when_it_is_removed(open_page: OpenPage, tmp_path: Path) -> None:
    page = open_page("/ask")
    page.locator(".st-key-open_documents button").click()
    pdf = write_pdf(tmp_path / "singing.pdf", [CONTENT])
    files = page.locator(".st-key-own_documents input[type=file]")
    files.set_input_files(str(pdf))
    page.locator(".st-key-own_row_1").wait_for()
    # Files handed in while another was read were lost when the field was replaced.
    files.set_input_files(files=[{"name": "empty.txt", "mimeType": "text/plain", "buffer": b""}])
    page.locator(".st-key-own_row_2").get_by_text("The file is empty.").wait_for()
    page.locator(".st-key-ask_own button").click()
    page.get_by_role("heading", name="Ask your document").wait_for()
    settled(page)

    page.get_by_test_id("stChatInputTextArea").fill("How many readers heard xylophonic pages sing?")
    page.keyboard.press("Enter")
    page.get_by_text("References", exact=True).wait_for()
    settled(page)
    page.locator('a[href="#cite-1-1"]').first.click()
    assert "xylophonic" in page.locator('[class*="st-key-marked_sentence"]').inner_text().lower()
    picture = page.locator('[class*="st-key-strip_side"] img')
    assert picture.evaluate("image => image.decode().then(() => image.naturalWidth)") > 600
    assert "conversation=" not in page.url

    page.get_by_role("link", name="Open paper").click()
    page.locator(".st-key-way_back").wait_for()
    settled(page)
    assert "id=your-documents" in page.url
    stranger = open_page(page.url[page.url.index("/paper") :])
    stranger.get_by_text("There is no such paper here").wait_for()

    page.locator(".st-key-way_back a").click()
    page.locator(".st-key-open_documents button").click()
    page.locator(".st-key-own_remove_2 button").click()
    page.locator(".st-key-own_row_2").wait_for(state="detached")
    page.locator(".st-key-own_remove_1 button").click()
    page.locator(".st-key-own_remove_surely button").click()
    page.locator("[class*=st-key-own_row_]").wait_for(state="detached")
    page.get_by_role("heading", name="Ask the papers").wait_for()
