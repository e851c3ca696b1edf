"""Publishing survives power loss: whenever it comes, the corpus is the old one or the new one, and whole.

A disk keeps of a file what it was told to sync, and of a folder the names it was told to sync. `Disk` writes
that down, in the order in which the build asks for it, and gives back what would be found after each step.
"""

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path

import pytest

from corpus.errors import CorpusError
from corpus.settings import Settings
from corpus.store.corpus import Corpus
from indexer.maintenance.compact import compact_home
from indexer.maintenance.verify import verify
from tests.indexer.build.killable_build import HashEncoder, build
from tests.indexer.build.small_papers import write_paper_pdf, write_tei


@dataclass
class Disk:
    """The durable content of a folder; a disk of `names_first` keeps names at once, content when synced."""

    home: Path
    morgue: Path
    names_first: bool = False
    content: dict[int, bytes] = field(default_factory=dict)
    names: dict[int, dict[str, int]] = field(default_factory=dict)
    events: list[str] = field(default_factory=list)

    def note(self, kind: str, path: Path) -> None:
        if path.is_relative_to(self.home):
            self.events.append(f"{kind} {path.relative_to(self.home)}")

    def synced(self, path: Path) -> None:
        """Keep a file's content or a folder's names as they are now; no number of a file is used again.

        The folders above it are synced too, and hold what is none of its concern: a link to nowhere, say.
        """
        if not path.is_relative_to(self.home):
            return
        if path.is_dir():
            self.names[path.stat().st_ino] = {child.name: child.stat().st_ino for child in path.iterdir()}
            for child in path.iterdir():
                self._hold(child)
        else:
            self._hold(path)
            self.content[path.stat().st_ino] = path.read_bytes()

    def _hold(self, path: Path) -> None:
        held = self.morgue / str(path.stat().st_ino)
        if path.is_file() and not held.exists():
            held.hardlink_to(path)

    def safe(self) -> dict[str, bytes | None]:
        """Return the files, with content, and folders, with None, that would survive a power loss now."""
        return dict(self._safe(self.home.stat().st_ino, self.home, ""))

    def _safe(self, number: int, now: Path, place: str) -> Iterator[tuple[str, bytes | None]]:
        yield place, None
        names = self.names.get(number, {})
        if self.names_first:
            names = {path.name: path.stat().st_ino for path in now.iterdir()}
        for name, inode in names.items():
            if inode in self.names or (now / name).is_dir():
                yield from self._safe(inode, now / name, f"{place}{name}/")
            else:
                yield place + name, self.content.get(inode, b"")


@pytest.fixture(params=[False, True], ids=["names as synced", "names at once"])
def disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> Iterator[Disk]:
    home = tmp_path / "home"
    (tmp_path / "morgue").mkdir()
    home.mkdir()
    disk = Disk(home, tmp_path / "morgue", request.param)
    sync, replace, unlink = os.fsync, os.replace, os.unlink

    def fsync(handle: int) -> None:
        sync(handle)
        path = Path(f"/proc/self/fd/{handle}").resolve()
        disk.synced(path)
        disk.note("sync", path)

    def replaced(old: Path, new: Path) -> None:
        replace(old, new)
        disk.note("replace", Path(new))

    def unlinked(path: Path, **options: int) -> None:
        unlink(path, **options)
        disk.note("unlink", Path(path))

    monkeypatch.setattr(os, "fsync", fsync)
    monkeypatch.setattr(os, "replace", replaced)
    monkeypatch.setattr(os, "unlink", unlinked)
    yield disk


@pytest.fixture
def papers(tmp_path: Path) -> Path:
    folder = tmp_path / "papers"
    write_tei(folder / "1.tei.xml", "On cats")
    write_paper_pdf(folder / "printed.pdf", "On dogs")
    return folder


def _titles(home: Path, log: Path) -> list[str]:
    """Return the titles of a corpus that is whole, none where there is no corpus; raises for any other."""
    settings = Settings(home=home)
    try:
        corpus = Corpus.open(settings.corpus_path, HashEncoder(log))
    except CorpusError as error:
        if "There is no corpus" not in str(error):
            raise
        return []
    assert list(verify(corpus, settings.pdf_path)) == []
    return sorted(paper.title for paper in corpus.papers())


def _restored(state: Iterable[tuple[str, bytes | None]], target: Path) -> Path:
    for place, content in sorted(state, key=lambda entry: entry[0]):
        if content is None:
            (target / place).mkdir()
        else:
            (target / place).write_bytes(content)
    return target


def _at_each_step(disk: Disk, log: Path, monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """Have the power lost after each step that matters from now on, and some others; return what is found.

    What is found again as it was is looked at once: that takes most of the time.
    """
    found: list[list[str]] = []
    seen: dict[frozenset[tuple[str, bytes | None]], list[str]] = {}
    note = disk.note

    def note_and_lose(kind: str, path: Path) -> None:
        note(kind, path)
        if not path.is_relative_to(disk.home):
            return
        step = len(disk.events)
        if path.parent in (disk.home, disk.home / "corpus") or step % 60 == 0:
            state = frozenset(disk.safe().items())
            if state not in seen:
                seen[state] = _titles(_restored(state, disk.morgue / f"found-{step}"), log)
            found.append(seen[state])

    monkeypatch.setattr(disk, "note", note_and_lose)
    return found


def test_publishing_and_compacting_survive_power_loss(
    tmp_path: Path, papers: Path, disk: Disk, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = tmp_path / "log"
    found = _at_each_step(disk, log, monkeypatch)
    build(disk.home, papers, log)
    assert found[0] == []
    assert found[-1] == ["On cats", "On dogs"]
    assert [titles for titles in found if titles not in ([], found[-1])] == []
    _assert_tables_are_synced_before_the_manifest(disk.events)
    write_tei(papers / "1.tei.xml", "On mice")
    write_tei(papers / "2.tei.xml", "On owls")
    before = len(found)
    build(disk.home, papers, log)
    old, new = ("On cats", "On dogs"), ("On dogs", "On mice", "On owls")
    assert {tuple(titles) for titles in found[before:]} == {old, new}
    assert tuple(found[-1]) == new
    # Old versions are dropped only when the new ones are published.
    before = len(found)
    compact_home(Settings(home=disk.home), HashEncoder(log), timedelta(milliseconds=1))
    assert {tuple(titles) for titles in found[before:]} == {new}


def _assert_tables_are_synced_before_the_manifest(events: list[str]) -> None:
    publishing = events.index("replace corpus/manifest.json")
    before, after = events[:publishing], events[publishing + 1 :]
    for folder in ("corpus/papers.lance/_versions", "corpus/passages.lance/data", "corpus/links.lance", "."):
        assert f"sync {folder}" in before
    pdf = next(event for event in before if event.startswith("replace pdf/"))
    assert before.index("sync pdf") > before.index(pdf)
    assert after[0] == "sync corpus"
    discarded = [number for number, event in enumerate(events) if event.startswith("unlink staging/")]
    assert discarded and min(discarded) > publishing + 1


def test_a_torn_copy_of_a_pdf_is_made_again(tmp_path: Path, papers: Path) -> None:
    home, log = tmp_path / "home", tmp_path / "log"
    build(home, papers, log)
    (kept,) = (home / "pdf").glob("*.pdf")
    whole = kept.read_bytes()
    kept.write_bytes(whole[:100])
    corpus = Corpus.open(Settings(home=home).corpus_path, HashEncoder(log))
    assert any("its PDF is another file" in problem.text for problem in verify(corpus, kept.parent))
    build(home, papers, log)
    assert kept.read_bytes() == whole
