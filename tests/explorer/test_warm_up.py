"""Work beside the screens: the garbage that Streamlit is told to leave is collected."""

import asyncio
import gc
import os
import shutil
import subprocess
import sys
import threading
import time
import tomllib
import weakref
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from pathlib import Path
from types import SimpleNamespace

import pytest
from streamlit.testing.v1 import AppTest

from corpus.settings import read_settings
from corpus.store import statistics
from explorer import warm_up
from explorer.app.navigation import SCREENS


class Knot:
    """An object that only the garbage collector can free."""

    def __init__(self) -> None:
        self.itself = self


@pytest.fixture
def old_garbage_stays() -> Iterator[None]:
    """Have Python itself never look through what is old; what is frozen is thawed afterwards."""
    thresholds = gc.get_threshold()
    gc.set_threshold(*thresholds[:2], 1_000_000)
    yield
    gc.set_threshold(*thresholds)
    gc.unfreeze()


def old_garbage() -> "weakref.ref[Knot]":
    knot = Knot()
    gc.collect(0)
    gc.collect(1)
    return weakref.ref(knot)


def test_garbage_that_no_run_of_a_screen_collects_is_collected_beside_them(
    tmp_path: Path, root: Path, monkeypatch: pytest.MonkeyPatch, old_garbage_stays: None
) -> None:
    config = tomllib.loads((root / ".streamlit" / "config.toml").read_text(encoding="utf-8"))
    assert config["runner"]["postScriptGC"] is False
    monkeypatch.setenv("PAPER_TRAIL_HOME", str(tmp_path))
    monkeypatch.setattr(warm_up, "COLLECT_SECONDS", 0.01)

    async def leave_and_wait() -> None:
        loose, others = [old_garbage()], []
        while all(step() for step in loose):
            loose.append(old_garbage())
            others += [[] for _ in range(2000)]
            await asyncio.sleep(0.02)

    async def wait_for_it() -> None:
        async with warm_up.lifespan(None), asyncio.timeout(60):  # type: ignore[arg-type]
            # The first is collected when everything is loaded; what was left before is frozen.
            for _ in range(3):
                await leave_and_wait()

    asyncio.run(wait_for_it())
    assert "explorer.paper.screen" in sys.modules


def test_a_screen_waited_for_the_garbage_of_all_that_visitors_hold(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, old_garbage_stays: None
) -> None:
    """Regression: every two seconds all conversations that are open were looked through, 4 ms for each."""
    monkeypatch.setenv("PAPER_TRAIL_HOME", str(tmp_path))
    monkeypatch.setattr(warm_up, "COLLECT_SECONDS", 0.01)
    looked_through: list[int] = []

    def note(phase: str, of: dict[str, int]) -> None:
        if phase == "stop":
            looked_through.append(of["generation"])

    async def leave_garbage() -> None:
        async with warm_up.lifespan(None), asyncio.timeout(60):  # type: ignore[arg-type]
            await asyncio.sleep(0)
            while looked_through.count(warm_up.YOUNG) < 2 * warm_up.COLLECT_ALL:
                Knot()
                gc.collect(0)
                await asyncio.sleep(0.005)

    gc.callbacks.append(note)
    try:
        asyncio.run(leave_garbage())
    finally:
        gc.callbacks.remove(note)
    # Two are those of the loading.
    assert looked_through.count(2) - 2 <= looked_through.count(warm_up.YOUNG) / (warm_up.COLLECT_ALL - 1) + 1


def test_questions_are_tried_only_while_nobody_is_served(monkeypatch: pytest.MonkeyPatch) -> None:
    tried = threading.Event()
    monkeypatch.setattr(warm_up, "TRY_FIRST_SECONDS", 0.0)
    # On a busy machine a process may rest for a twentieth of a second in the midst of its work.
    monkeypatch.setattr(warm_up, "QUIET_SECONDS", 0.5)
    monkeypatch.setattr(warm_up, "try_question", lambda: tried.set() or False)

    async def serve_and_rest() -> None:
        trying = asyncio.create_task(warm_up._try_questions())
        until = time.monotonic() + 1.5
        while time.monotonic() < until:
            sum(range(20_000))
            await asyncio.sleep(0)
        assert not tried.is_set(), "visitors waited for a question that none of them asked"
        await asyncio.wait_for(asyncio.to_thread(tried.wait), 30)
        trying.cancel()

    asyncio.run(serve_and_rest())


def test_the_first_visitor_met_modules_that_the_server_was_loading(
    screen: Callable[..., AppTest], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Regression: of two threads in modules that import each other Python fails one, here the screen's."""
    began, go_on = threading.Event(), threading.Event()

    def load(_name: str) -> None:
        began.set()
        assert go_on.wait(60)

    monkeypatch.setenv("PAPER_TRAIL_HOME", str(tmp_path))
    monkeypatch.setattr(warm_up, "_DRAWN_WITH", ("first", "last"))
    monkeypatch.setattr(warm_up, "importlib", SimpleNamespace(import_module=load))
    with ThreadPoolExecutor(2) as threads:
        warming = threads.submit(warm_up.warm_up)
        assert began.wait(60)
        drawing = threads.submit(screen, "about")
        assert not wait([drawing], timeout=2).done
        go_on.set()
        assert not drawing.result(180).exception
        warming.result(60)


def test_fault_the_first_reader_of_the_reading_screen_waited_for_its_modules(
    tmp_path: Path, root: Path
) -> None:
    """The warm-up loads whatever has a page; Reading was missing from its list."""
    code = "import sys; from explorer import warm_up; warm_up.warm_up(); print(*sys.modules)"
    environment = os.environ | {"PAPER_TRAIL_HOME": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=root, env=environment, capture_output=True, text=True, check=True
    )
    pages = {page.stem for page in (root / "explorer" / "pages").glob("*.py")} - {"__init__", "home"}
    assert pages == {screen.path for screen in SCREENS}
    assert {f"explorer.{page}.screen" for page in pages} <= set(done.stdout.split())


def test_the_first_visitor_waits_for_no_counting_or_sorting_of_all_papers(
    home: Path, tmp_path: Path, screen: Callable[..., AppTest], monkeypatch: pytest.MonkeyPatch
) -> None:
    # One that no other test has opened.
    shutil.copytree(home / "corpus", tmp_path / "corpus")
    (tmp_path / "encoder").symlink_to(home / "encoder")
    monkeypatch.setenv("PAPER_TRAIL_HOME", str(tmp_path))
    warm_up.warm_up()
    counted: list[object] = []
    monkeypatch.setattr(statistics, "scan", lambda *asked: counted.append(asked))
    shown = screen("collection")
    assert not shown.exception and len(shown.checkbox) == 16
    for order in ("title", "newest", "oldest", "cited"):
        shown.selectbox(key="order").set_value(order).run()
        assert not shown.exception and len(shown.checkbox) == 16
    assert not counted


def test_settings_follow_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PAPER_TRAIL_HOME", str(tmp_path))
    assert read_settings().home == tmp_path
    assert read_settings() is read_settings()
    monkeypatch.setenv("PAPER_TRAIL_HOME", str(tmp_path / "other"))
    assert read_settings().home == tmp_path / "other"


def test_questions_are_tried_beside(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copytree(home / "corpus", tmp_path / "corpus", ignore=shutil.ignore_patterns("questions.json"))
    (tmp_path / "encoder").symlink_to(home / "encoder")
    monkeypatch.setenv("PAPER_TRAIL_HOME", str(tmp_path))
    assert warm_up.try_question()
    assert (tmp_path / "corpus" / "questions.json").is_file()


def test_without_a_corpus_nothing_is_tried(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PAPER_TRAIL_HOME", str(tmp_path))
    assert not warm_up.try_question()
