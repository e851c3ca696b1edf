"""Files of a bucket on this machine, as many as a folder may hold; those not used for longest go first.

Several processes may use a folder at once: a file appears in it whole, under the name that says what it is
of, and every process tidies up what it finds.
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

# Whoever was given a file a moment ago may not have opened it yet.
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
        """Return a file with what lies at an address, fetched if need be; raises OSError."""
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
        for used, size, path in sorted(self._held(), reverse=True):
            total += size
            is_abandoned = path.suffix == _UNFINISHED and used < now - _ABANDONED_SECONDS
            if is_abandoned or (total > self.most_bytes and used < now - _IN_USE_SECONDS):
                total -= size
                path.unlink(missing_ok=True)

    def _held(self) -> list[tuple[float, int, Path]]:
        """Return when each file was last used, its size and its path."""
        found = []
        for path in self.folder.iterdir():
            # Another process may have removed it.
            with suppress(FileNotFoundError):
                told = path.stat()
                found.append((told.st_mtime, told.st_size, path))
        return found
