"""A library of one's own in Chromium: kept, there after a reload, taken away, unseen in another browser."""

import io
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.browser.conftest import settled

OpenPage = Callable[..., Any]
NOTES = (
    b"# On whispering maps\n\nAda Lovelace\n\nWhispering maps speak when they are unfolded by a walker.\n\n"
    b"## Results\n\nOn a quiet hill 42 walkers heard whispering maps speak before noon."
)


def test_a_library_is_kept_reopened_exported_and_seen_in_no_other_browser(open_page: OpenPage) -> None:
    page = open_page("/ask")
    page.locator(".st-key-open_documents button").click()
    note = {"name": "maps.md", "mimeType": "text/markdown", "buffer": NOTES}
    page.locator(".st-key-own_documents input[type=file]").set_input_files(files=[note])
    page.locator(".st-key-keep_own button").click()
    page.get_by_label("Name of the library").fill("Whispers")
    page.locator(".st-key-keep_surely button").click()
    page.locator(".st-key-ask_library").wait_for()
    with page.expect_download() as download:
        page.get_by_role("link", name="Export").last.click()
    names = zipfile.ZipFile(io.BytesIO(Path(download.value.path()).read_bytes())).namelist()
    assert sorted(names) == ["documents/001-maps.md", "library.json", "papers.bib"]
    page.locator(".st-key-ask_library button").click()
    page.get_by_role("heading", name="Ask “Whispers”").wait_for()
    page.wait_for_url("**/ask?library=*")
    page.reload()
    page.get_by_role("heading", name="Ask “Whispers”").wait_for()
    page.get_by_test_id("stChatInputTextArea").fill("How many walkers heard whispering maps speak?")
    page.keyboard.press("Enter")
    page.get_by_text("References", exact=True).wait_for()
    settled(page)
    page.wait_for_function("location.search.includes('conversation=')")

    page.reload()
    page.get_by_text("In the library “Whispers”").wait_for()
    page.get_by_text("References", exact=True).wait_for()
    other = open_page("/ask")
    assert "Whispers" not in other.inner_text("body")
    assert other.locator("[class*=st-key-place_menu_]").count() == 0
    settled(page)
    page.locator('a[href="#cite-1-1"]').first.click()
    page.get_by_role("link", name="Open paper").click()
    page.locator(".st-key-way_back").wait_for()
    stranger = open_page(page.url[page.url.index("/paper") :])
    stranger.get_by_text("There is no such paper here").wait_for()
