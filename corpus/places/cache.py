"""A cache of a bucket's files in a folder of limited size; the least recently used files are removed.

Several processes may share the folder: files are replaced atomically, named by a hash of their address.
"""

import hashlib
import os
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from corpus.durable import replace_durably

# A file that was just returned may not have been opened yet.
_IN_USE_SECONDS = 60.0
# The age of a part file whose writer was killed.
_ABANDONED_SECONDS = 3600.0
_UNFINISHED = ".part"


@dataclass(frozen=True, slots=True)
class FileCache:
    """A folder of at most `most_bytes`; files used in the last minute are never removed."""

    folder: Path
    most_bytes: int

    def get(self, address: str, fetch: Callable[[], bytes]) -> Path:
        """Return a file with the content of an address, fetched if it is not cached; raises OSError."""
        path = self.folder / f"{hashlib.sha256(address.encode()).hexdigest()}{Path(address).suffix}"
        with suppress(FileNotFoundError):
            os.utime(path)
            return path
        self._write(path, fetch())
        self._tidy()
        return path

    def _write(self, path: Path, content: bytes) -> None:
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=self.folder, suffix=_UNFINISHED, delete=False) as stream:
            temporary = Path(stream.name)
            try:
                stream.write(content)
                stream.flush()
                replace_durably(temporary, path)
            finally:
                temporary.unlink(missing_ok=True)

    def _tidy(self) -> None:
        now, total = time.time(), 0
        for used, size, path in sorted(self._files(), reverse=True):
            total += size
            is_abandoned = path.suffix == _UNFINISHED and used < now - _ABANDONED_SECONDS
            if is_abandoned or (total > self.most_bytes and used < now - _IN_USE_SECONDS):
                total -= size
                path.unlink(missing_ok=True)

    def _files(self) -> list[tuple[float, int, Path]]:
        """Return the time of last use, the size and the path of each file."""
        files = []
        for path in self.folder.iterdir():
            # Another process may have removed it.
            with suppress(FileNotFoundError):
                status = path.stat()
                files.append((status.st_mtime, status.st_size, path))
        return files
