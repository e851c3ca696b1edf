"""Builds onto a disk that is full, and into a bucket whose storage fails at random."""

import os
import random
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from corpus.errors import CorpusError
from tests.indexer.build.killable_build import build
from tests.s3_server import FaultyS3, Kind, s3_server
from tests.torture.counts import Counts
from tests.torture.killed_builds import Rows, Site, compare, write_papers

KINDS: tuple[Kind, ...] = ("slow down", "error", "error after", "cut", "cut after", "slow")
METHODS = ("GET", "PUT", "HEAD", "POST", "DELETE")
# With as many as this one request fails beyond all that is tried again.
MOST_FAULTS, MOST_TIMES = 3, 15
# Of what a whole home takes, a disk has at least and at most so much.
LEAST_ROOM, MOST_ROOM = 0.05, 1.3
_PLENTY_KB = 1 << 18


def on_a_full_disk(seed: int, builds: int) -> Counts:
    """Build where there is not room enough, and then where there is; nothing where nothing can be mounted."""
    drawn, counts = random.Random(seed), Counts("builds on a full disk")
    with tempfile.TemporaryDirectory() as folder, _small_disk(Path(folder, "disk")) as has_room:
        if has_room is None:
            return counts
        site = Site(Path(folder), str(Path(folder, "disk", "home")), counts)

        def hinder() -> None:
            used = _kb(Path(folder, "disk"))
            most = _kb(Path(folder, f"whole-{counts.tried}"))
            has_room(int(used + most * drawn.uniform(LEAST_ROOM, MOST_ROOM)))

        _torture(site, builds, hinder, lambda: has_room(_PLENTY_KB))
    return counts


def in_a_failing_bucket(seed: int, builds: int) -> Counts:
    """Build into a bucket that refuses, breaks off and dawdles, and then into one that does not."""
    drawn, counts = random.Random(seed), Counts("builds, failing storage")
    with tempfile.TemporaryDirectory() as folder, s3_server() as server, FaultyS3(server) as s3:
        os.environ.update(s3.environment())
        site = Site(Path(folder), s3.home, counts)

        def hinder() -> None:
            for _ in range(drawn.randint(1, MOST_FAULTS)):
                times = drawn.randint(1, MOST_TIMES)
                s3.fault(drawn.choice(KINDS), drawn.choice(METHODS), times=times)

        _torture(site, builds, hinder, s3.faults.clear)
    return counts


def _torture(site: Site, builds: int, hinder: Callable[[], None], clear: Callable[[], object]) -> None:
    """Have each state of the papers built under a hindrance, and then without."""
    os.environ["PAPER_TRAIL_LOCAL"] = str(site.folder / "local")
    published: Rows = {}
    while site.counts.tried < builds:
        papers = write_papers(site.folder / "papers", site.counts.tried)
        whole = site.whole(papers, site.counts.tried)
        hinder()
        try:
            build(site.home, papers, site.log)
        except CorpusError as error:
            site.counts.told += 1
            if not str(error).strip():
                site.counts.note("unexplained", "a build ended without a word")
        except Exception as error:  # noqa: BLE001 - this is what is looked for
            site.counts.note("unexplained", f"{type(error).__name__}: {str(error)[:200]}")
        clear()
        if (found := site.contents(site.home)) != whole:
            compare(found, published, site.counts)
        site.go_on(papers)
        compare(site.contents(site.home), whole, site.counts)
        published = whole
        site.counts.tried += 1


@contextmanager
def _small_disk(place: Path) -> Iterator[Callable[[int], None] | None]:
    """Mount a small disk and yield a function that sets its size in KB; None where that is not allowed."""
    place.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o"]
    first = [*mount, f"size={_PLENTY_KB}k", "tmpfs", place]
    if not shutil.which("mount") or subprocess.run(first, check=False).returncode:
        yield None
        return

    def resize(kb: int) -> None:
        subprocess.run([*mount, f"remount,size={kb}k", "tmpfs", place], check=True)

    try:
        yield resize
    finally:
        subprocess.run(["umount", "--lazy", place], check=True)


def _kb(folder: Path) -> float:
    # A disk allocates whole blocks.
    return sum(4 * -(-file.stat().st_size // 4096) for file in folder.rglob("*") if file.is_file())
