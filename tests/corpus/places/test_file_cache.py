"""Files of a bucket are kept on this machine up to a bound, those not used for longest go first."""

import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from corpus.places.cache import FileCache

OLD = 3700.0


def _age(path: Path, seconds: float = OLD) -> Path:
    os.utime(path, times=(time.time() - seconds,) * 2)
    return path


def test_what_was_not_used_for_longest_goes_first(tmp_path: Path) -> None:
    cache = FileCache(tmp_path, 100)
    first, second = (_age(cache.get(f"s3://bucket/{name}", lambda: bytes(40))) for name in "ab")
    assert cache.get("s3://bucket/a", bytes) == first
    _age(first, OLD - 100)
    third = cache.get("s3://bucket/c", lambda: bytes(40))
    assert set(tmp_path.iterdir()) == {first, third}
    assert not second.exists()


def test_what_was_given_out_a_moment_ago_stays(tmp_path: Path) -> None:
    cache = FileCache(tmp_path, 10)
    paths = [cache.get(f"s3://bucket/{name}", lambda: bytes(40)) for name in "abc"]
    assert set(tmp_path.iterdir()) == set(paths)


def test_a_file_is_fetched_once_and_one_that_fails_leaves_nothing(tmp_path: Path) -> None:
    def fail() -> bytes:
        raise OSError("cut off")

    with pytest.raises(OSError, match="cut off"):
        FileCache(tmp_path, 100).get("s3://bucket/a", fail)
    assert list(tmp_path.iterdir()) == []
    cache, fetched = FileCache(tmp_path / "cache", 100), []

    def fetch() -> bytes:
        fetched.append(1)
        return b"content"

    paths = {cache.get("s3://bucket/a.pdf", fetch) for _ in range(3)}
    (path,) = paths
    assert (path.read_bytes(), path.suffix, len(fetched)) == (b"content", ".pdf", 1)


def test_what_a_killed_process_was_writing_is_tidied_and_never_given_out(tmp_path: Path) -> None:
    program = (
        "import os, signal, sys\n"
        "from pathlib import Path\n"
        "import corpus.places.cache as cache\n"
        "cache.replace_durably = lambda *_: os.kill(os.getpid(), signal.SIGKILL)\n"
        "cache.FileCache(Path(sys.argv[1]), 100).get('s3://bucket/a', lambda: b'half')\n"
    )
    assert subprocess.run([sys.executable, "-c", program, str(tmp_path)], check=False).returncode == -9
    (left,) = tmp_path.iterdir()
    cache = FileCache(tmp_path, 100)
    path = cache.get("s3://bucket/a", lambda: b"whole")
    assert path.read_bytes() == b"whole"
    _age(left)
    other = cache.get("s3://bucket/b", lambda: b"other")
    assert set(tmp_path.iterdir()) == {path, other}


def test_several_at_once_get_whole_files(tmp_path: Path) -> None:
    cache, found = FileCache(tmp_path, 3000), []

    def get(number: int) -> None:
        for turn in range(40):
            name = str((number + turn) % 7)
            path = cache.get(f"s3://bucket/{name}", lambda name=name: name.encode() * 1000)
            found.append(path.read_bytes() == name.encode() * 1000)

    threads = [threading.Thread(target=get, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 160
    assert all(found)
