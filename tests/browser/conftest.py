"""The app on a port of its own with the demonstration corpus, and pages of Chromium that look at it."""

import os
import shutil
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from corpus.encoders.base import Encoder
from deployment.site import free_ports
from tests.demo_home import PROJECT
from tests.explorer.studied_corpus import build_studied_home
from tests.standin_chat import Received, StandinChat, reply

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or ""
ARGUMENTS = [
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
]  # fmt: skip
SIZES = {
    "wide": {"width": 1440, "height": 900},
    "phone": {"width": 390, "height": 844},
    "narrow window": {"width": 390, "height": 844},
}
PHONE = (
    "Mozilla/5.0 (Linux; Android 15; Pixel 9) AppleWebKit/537.36 (KHTML, like Gecko) "
    "Chrome/140.0.0.0 Mobile Safari/537.36"
)
IN_VIEW = """([key, words]) => [...document.querySelectorAll(`[class*="st-key-${key}"]`)]
  .filter((one) => one.innerText.includes(words)).slice(0, 1)
  .some((one) => { const { top, bottom } = one.getBoundingClientRect();
    return top >= 0 && bottom <= innerHeight; })"""
# Links in texts are followed in the same tab from then on; screens without scripts of ours have none.
FOLLOWS = "() => window.paperTrailFollows || !document.querySelector('[class*=_listener]')"
# Those of the test that runs.
_contexts: list[Any] = []
SLOW_ANSWER = (
    "BM25 ranks passages by weighted words [1]. Dense retrieval compares vectors [2]. "
    "![x](http://203.0.113.9/a.png) <img src='http://203.0.113.9/b.png'> http://203.0.113.9/c "
    ":green-badge[0.99 strong] [y](http://203.0.113.9/d) ```mermaid graph TD;``` "
    "This sentence goes on for a while so that there is time to click on something else [1]."
)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark every test of this folder, and skip it where there is no browser."""
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.browser)
            if not CHROMIUM:
                item.add_marker(pytest.mark.skip(reason="chromium is not installed"))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    """Say what the pages showed when a test of them failed."""
    try:
        yield
    except Exception as error:
        for page in (page for context in _contexts for page in context.pages):
            with suppress(Exception):
                error.add_note(f"{page.url} showed: {page.inner_text('body')[:2000]}")
        raise


def play_model(request: Received) -> Any:
    """Play a model: a search query at once, an answer slowly."""
    asked = request.body["messages"][-1]["content"]
    if "paper 1" in asked:
        return reply(SLOW_ANSWER, wait_between=0.03)
    return reply("BM25 dense retrieval")


@pytest.fixture(scope="session")
def model() -> Iterator[StandinChat]:
    with StandinChat(default=play_model) as server:
        yield server


@pytest.fixture(scope="session")
def app(demo_home: Path, model: StandinChat, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Start the app once on the demonstration; return its address."""
    with serving(demo_home, model.url, tmp_path_factory) as address:
        yield address


@contextmanager
def serving(
    home: Path,
    model_url: str,
    tmp_path_factory: pytest.TempPathFactory,
    secrets: Callable[[str], str] | None = None,
) -> Iterator[str]:
    """Run the app on a home, at a port of its own; yield its address, of which `secrets` are made."""
    models = tmp_path_factory.mktemp("models") / "models.toml"
    models.write_text('[[models]]\nid = "standin"\nlabel = "Stand-in"\ncontext = 32768\n')
    (port,) = free_ports(1)
    environment = {
        **{key: value for key, value in os.environ.items() if key != "TOGETHER_API_KEY"},
        "PAPER_TRAIL_HOME": str(home),
        "PAPER_TRAIL_CONVERSATIONS": f"sqlite:///{models.with_name('conversations.sqlite')}",
        "PAPER_TRAIL_MODEL_URL": model_url,
        "PAPER_TRAIL_MODELS_FILE": str(models),
    }
    command = [sys.executable, "-m", "streamlit", "run", "streamlit_app.py", "--server.port", str(port)]
    address = f"http://127.0.0.1:{port}"
    if secrets:
        file = models.with_name("secrets.toml")
        file.write_text(secrets(address))
        command += ["--secrets.files", str(file)]
    log = tmp_path_factory.mktemp("server") / "log.txt"
    with log.open("w") as output:
        server = subprocess.Popen(command, cwd=PROJECT, env=environment, stdout=output, stderr=output)
        try:
            _wait_for(address, server, log)
            yield address
        finally:
            server.terminate()
            server.wait(60)


def _wait_for(address: str, server: "subprocess.Popen[bytes]", log: Path) -> None:
    deadline = time.monotonic() + 180
    while time.monotonic() < deadline and server.poll() is None:
        try:
            with urllib.request.urlopen(f"{address}/_stcore/health", timeout=1) as health:
                if health.status == 200:
                    return
        except OSError:
            time.sleep(0.2)
    raise AssertionError(f"the app did not start: {log.read_text()}")


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    """Run Chromium for one file of tests: its event loop would be in the way of others'."""
    sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, headless=True, args=ARGUMENTS)
        yield browser
        browser.close()


@pytest.fixture
def open_page(chromium: Any, app: str) -> Iterator[Callable[..., Any]]:
    """Open pages of the app, each a visitor of their own; fail on foreign requests and console errors."""
    with opening(chromium, app) as open_one:
        yield open_one


@pytest.fixture(scope="session")
def studied_app(
    encoder: Encoder, model: StandinChat, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[str]:
    """Start the app on the corpus of papers with topics; return its address."""
    home = build_studied_home(tmp_path_factory.getbasetemp() / "studied-home", encoder)
    with serving(home, model.url, tmp_path_factory) as address:
        yield address


@pytest.fixture
def open_studied(chromium: Any, studied_app: str) -> Iterator[Callable[..., Any]]:
    """Open pages on the corpus of papers with topics, citations and places."""
    with opening(chromium, studied_app) as open_one:
        yield open_one


@contextmanager
def opening(chromium: Any, address: str) -> Iterator[Callable[..., Any]]:
    """Open pages of the app at an address; fail at the end on foreign requests and console errors."""
    complaints: list[str] = []

    def open_one(path: str = "/", size: str = "wide", scheme: str = "light") -> Any:
        context = chromium.new_context(**looking(size, scheme), accept_downloads=True)
        _contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(120_000)
        page.on("request", lambda request: complaints.extend(_foreign(request.url)))
        page.on("pageerror", lambda error: complaints.append(f"page error: {error}"))
        page.on("console", lambda message: complaints.extend(_console(message)))
        page.goto(address + path)
        settled(page)
        # Scripts are mounted after the screen is drawn; what holds them is there at once. What they report
        # of the window is drawn a moment later: a click in between may be lost.
        page.wait_for_function(FOLLOWS)
        page.wait_for_timeout(500)
        settled(page)
        return page

    yield open_one
    while _contexts:
        _contexts.pop().close()
    assert complaints == []


def looking(size: str, scheme: str) -> dict[str, Any]:
    """Return the options of a Chromium context for a screen of this size, in light or dark."""
    agent = {"user_agent": PHONE} if size == "phone" else {}
    return {"viewport": SIZES[size], "color_scheme": scheme, "reduced_motion": "reduce", **agent}


def settled(page: Any) -> None:
    """Wait until the script of the screen has run to its end."""
    page.wait_for_function(
        "() => document.querySelector('[data-testid=stApp]')"
        "?.getAttribute('data-test-script-state') === 'notRunning'"
    )


def in_view(page: Any, key: str, words: str = "") -> None:
    """Wait until the first container of a key, of those that hold these words, is wholly in the window."""
    page.wait_for_function(IN_VIEW, arg=[key, words])


def fits(page: Any) -> bool:
    """Return True if nothing on the page is wider than its window."""
    return bool(page.evaluate("document.documentElement.scrollWidth <= innerWidth"))


def go(page: Any, path: str) -> None:
    """Go to another address of the app, in the same tab."""
    page.goto("/".join(page.url.split("/")[:3]) + path)
    settled(page)


def downloaded(page: Any, name: str, menu: str = "trail_1") -> Path:
    """Take a file away from a menu, as somebody does who clicks again where nothing comes."""
    entry = page.get_by_role("button", name=name)
    found: list[Any] = []

    def note(download: Any) -> None:
        found.append(download)

    page.once("download", note)
    for _ in range(3):
        _open_menu(page, menu, entry)
        # Not by the mouse: a menu that opens while the page settles may lie outside the window.
        entry.dispatch_event("click")
        until = time.monotonic() + 40
        while not found and time.monotonic() < until:
            page.wait_for_timeout(50)
        if found:
            break
    assert found, f"{name!r} was clicked three times, and no file came"
    download = found[0]
    path = Path(download.path()).with_name(download.suggested_filename)
    download.save_as(path)
    page.keyboard.press("Escape")
    # Until it is closed it would be taken for open by whoever takes the next file, and a click there is lost.
    with suppress(Exception):
        entry.wait_for(state="hidden", timeout=10_000)
    return path


def _open_menu(page: Any, menu: str, entry: Any) -> None:
    for _ in range(10):
        # A menu that is opened while the page still scrolls closes again.
        if entry.is_visible():
            break
        page.locator(f"[class*='st-key-{menu}'] button").first.click()
        with suppress(Exception):
            entry.wait_for(timeout=2000)


def _foreign(url: str) -> list[str]:
    own = ("http://127.0.0.1:", "ws://127.0.0.1:", "data:", "blob:")
    return [] if url.startswith(own) else [f"request to {url}"]


def _console(message: Any) -> list[str]:
    # Streamlit looks for its own routes below each page's address first; those are not there. And a picture
    # that another has taken the place of is gone before a browser that is slow has asked for it.
    address = str(message.location.get("url", ""))
    is_gone = "404" in message.text and ("_stcore/" in address or "/media/" in address)
    is_known = is_gone or ("Image source error" in message.text and "/media/" in message.text)
    return [f"console: {message.text}"] if message.type == "error" and not is_known else []
