"""Take the pictures of every screen in docs/screenshots: `make screenshots`. Not a test.

Only the demonstration's own papers are in them. Pictures are reduced to few colours: they are small files.
With PAPER_TRAIL_MODEL_URL the answers of that server's model are taken, and nothing else.
"""

import os
import sys
import tempfile
from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from typing import Any
from urllib.parse import urljoin

from PIL import Image

import corpus.demo
from tests.browser.conftest import ARGUMENTS, CHROMIUM, looking, play_model, serving, settled
from tests.demo_home import build_demo_home
from tests.standin_chat import StandinChat

FOLDER = Path(__file__).parents[2] / "docs" / "screenshots"
DOCUMENT = Path(corpus.demo.__file__).parent / "pdf" / "rank-fusion.pdf"
COLOURS = 96
LOOKS = (("light", "wide", "light"), ("dark", "wide", "dark"), ("phone", "phone", "light"))
QUESTION = "How do dense retrieval and BM25 compare, and where does each of them fail?"
PAPERS = "field-notes-retrieval/bm25,field-notes-retrieval/dense-retrieval,field-notes-retrieval/rank-fusion"
ABOUT = "A search engine for a small collection of papers, by words and by meaning."

# One answer of each kind: the page it is asked on, and the question.
ANSWERS = {
    "overview": ("/ask", "What is known about how reliable people are when they judge summaries?"),
    "how": ("/ask", "Why do language models lose passages in the middle of a long prompt?"),
    "paper": ("/ask?paper=field-notes-retrieval/late-interaction", "What are its limitations?"),
    "list": ("/ask", "Which papers are about combining lexical and dense retrieval?"),
    "comparison": ("/ask", "What sets RAG apart from FiD?"),
    "definition": ("/ask", "What is a risk-coverage curve?"),
    "fact": ("/ask", "How many unanswerable questions does SQuAD 2.0 have?"),
}

MODEL_QUESTION = "What is a risk-coverage curve?"

Scene = Callable[[Any, bool], None]


class Folders:
    """Makes folders for the app, as pytest does for tests."""

    def __init__(self, base: Path) -> None:
        self._base = base

    def mktemp(self, name: str) -> Path:
        return Path(tempfile.mkdtemp(prefix=name, dir=self._base))


def collection(page: Any, is_phone: bool) -> None:
    page.locator(":is(.st-key-papers, .st-key-cards)").wait_for()


def search(page: Any, is_phone: bool) -> None:
    page.locator(":is(.st-key-papers, .st-key-cards)").wait_for()


def map_of_papers(page: Any, is_phone: bool) -> None:
    page.locator("[data-testid=stVegaLiteChart] canvas, [data-testid=stVegaLiteChart] svg").first.wait_for()


def paper(page: Any, is_phone: bool) -> None:
    page.locator("[class*=st-key-marked_sentence]").first.wait_for()


def ask(page: Any, is_phone: bool) -> None:
    _answered(page, QUESTION)
    page.locator('a[href^="#cite-1-"]').nth(1).click()
    page.locator("[class*=st-key-marked_sentence]").first.wait_for()


def answer(question: str) -> Scene:
    """Return the scene of a question answered, on a wide screen beside the first passage that is cited."""

    def scene(page: Any, is_phone: bool) -> None:
        _answered(page, question)
        if not is_phone:
            page.locator('a[href^="#cite-1-"]').first.click()
            page.locator("[class*=st-key-marked_sentence]").first.wait_for()

    return scene


def _answered(page: Any, question: str) -> None:
    page.get_by_test_id("stChatInputTextArea").fill(question)
    page.get_by_test_id("stChatInputTextArea").press("Enter")
    page.locator('a[href^="#cite-1-"]').first.wait_for()
    settled(page)


def documents(page: Any, is_phone: bool) -> None:
    if is_phone:
        page.get_by_text("Where to look, and how").click()
    page.get_by_role("button", name="Your documents").click()
    dialog = page.get_by_role("dialog")
    dialog.locator("input[type=file]").set_input_files(DOCUMENT)
    dialog.get_by_text("passages").wait_for()


def compare(page: Any, is_phone: bool) -> None:
    page.get_by_label("What your own work is about").fill(ABOUT)
    page.get_by_role("button", name="Compare", exact=True).click()
    page.get_by_text("References", exact=True).wait_for()
    settled(page)
    if not is_phone:
        page.locator('a[href^="#cite-1-"]').first.click()
        page.locator("[class*=st-key-marked_sentence]").first.wait_for()


def reading(page: Any, is_phone: bool) -> None:
    for paper in ("late-interaction", "chunking"):
        page.goto(urljoin(page.url, f"/paper?id=field-notes-retrieval/{paper}"))
        settled(page)
        page.get_by_role("button", name="Read later").click()
        settled(page)
    page.goto(urljoin(page.url, "/collection?q=dense+retrieval"))
    settled(page)
    page.get_by_role("button", name="Follow", exact=True).click()
    settled(page)
    page.goto(urljoin(page.url, "/reading"))


def about(page: Any, is_phone: bool) -> None:
    page.get_by_text("About Paper Trail").first.wait_for()


def quick_answer(page: Any, is_phone: bool) -> None:
    """Show the extractive answer, which stands there while a slow model writes."""
    _ask_model(page, is_phone)
    page.get_by_text("Quick answer, without the model.").wait_for()


def model_answer(page: Any, is_phone: bool) -> None:
    """Show the model's own answer, on a wide screen beside the passage that it cites first."""
    _ask_model(page, is_phone)
    page.get_by_text("References", exact=True).wait_for()
    settled(page)
    if not is_phone:
        page.locator('a[href^="#cite-1-"]').first.click()
        page.locator("[class*=st-key-marked_sentence]").first.wait_for()


def _ask_model(page: Any, is_phone: bool) -> None:
    if is_phone:
        page.get_by_text("Where to look, and how").click()
        page.wait_for_timeout(1000)  # it unfolds
    page.locator(".st-key-writer input").click()
    page.get_by_role("option").last.click()
    settled(page)
    if is_phone:
        page.get_by_text("Where to look, and how").click()
    page.get_by_test_id("stChatInputTextArea").fill(MODEL_QUESTION)
    page.get_by_test_id("stChatInputTextArea").press("Enter")


MODEL_SCENES: dict[str, tuple[str, Scene]] = {
    "model-quick": ("/ask", quick_answer),
    "model-answer": ("/ask", model_answer),
}

SCENES: dict[str, tuple[str, Scene]] = {
    "collection": ("/collection", collection),
    "search": ("/collection?q=combine+lexical+and+dense+rankings", search),
    "map": ("/collection?view=Map", map_of_papers),
    "paper": ("/paper?id=field-notes-retrieval/bm25&passage=8&sentence=1", paper),
    "ask": ("/ask", ask),
    **{f"answer-{kind}": (path, answer(question)) for kind, (path, question) in ANSWERS.items()},
    "documents": ("/ask", documents),
    "compare": (f"/compare?papers={PAPERS}", compare),
    "reading": ("/collection", reading),
    "about": ("/about", about),
}


def main(wanted: list[str]) -> None:
    """Take the scenes that are named, all where none is."""
    from playwright.sync_api import sync_playwright  # noqa: PLC0415 - only who takes pictures needs it

    FOLDER.mkdir(parents=True, exist_ok=True)
    url = os.environ.get("PAPER_TRAIL_MODEL_URL")
    with (
        tempfile.TemporaryDirectory() as folder,
        StandinChat(default=play_model) as standin,
        serving(build_demo_home(Path(folder)), url or standin.url, Folders(Path(folder))) as address,
        sync_playwright() as playwright,
    ):
        browser = playwright.chromium.launch(executable_path=CHROMIUM, headless=True, args=ARGUMENTS)
        for name, (path, scene) in (MODEL_SCENES if url else SCENES).items():
            if wanted and name not in wanted:
                continue
            for look in LOOKS:
                file = FOLDER / f"{name}-{look[0]}.png"
                _take(browser, address + path, scene, look, file)
                print(f"{file.name}: {file.stat().st_size // 1024} KB")


def _take(browser: Any, address: str, scene: Scene, look: tuple[str, str, str], file: Path) -> None:
    _, size, scheme = look
    context = browser.new_context(**looking(size, scheme))
    page = context.new_page()
    page.set_default_timeout(90_000)
    page.goto(address)
    settled(page)
    scene(page, size == "phone")
    settled(page)
    page.wait_for_timeout(1200)  # pictures of pages and maps come after the script has ended
    picture = Image.open(BytesIO(page.screenshot())).convert("RGB")
    picture.quantize(COLOURS, dither=Image.Dither.NONE).save(file, optimize=True)
    context.close()


if __name__ == "__main__":
    main(sys.argv[1:])
