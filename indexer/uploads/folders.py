"""Private folders for visits: readable by the server alone, removed with the visit or after a crash."""

import contextlib
import secrets
import shutil
import tempfile
from functools import cache
from pathlib import Path

from filelock import FileLock, Timeout

from indexer.uploads.document import DocumentError

_LOCKS = ".lock"


def new_visit_folder(home: Path) -> Path:
    """Make a folder that only the server's user can read; raises DocumentError."""
    try:
        return Path(tempfile.mkdtemp(prefix="visit-", dir=_server_folder(home)))
    except OSError as error:
        raise DocumentError(
            f"No folder for your documents can be made on the server: {error.strerror}."
        ) from error


def sweep(home: Path) -> None:
    """Remove the folders of servers that have ended: a running one holds the lock of its folder."""
    for folder in _folder_of(home).glob("server-*/"):
        lock = Path(f"{folder}{_LOCKS}")
        with contextlib.suppress(OSError, Timeout), FileLock(lock, timeout=0):
            shutil.rmtree(folder, ignore_errors=True)
            lock.unlink()


def _folder_of(home: Path) -> Path:
    return home / "visits"


@cache
def _server_folder(home: Path) -> Path:
    """Return this server's folder, whose lock is held until the process ends."""
    sweep(home)
    folder = _folder_of(home) / f"server-{secrets.token_hex(16)}"
    folder.parent.mkdir(parents=True, exist_ok=True)
    lock = FileLock(f"{folder}{_LOCKS}")
    lock.acquire()
    _HELD.append(lock)
    folder.mkdir(mode=0o700)
    return folder


_HELD: list[FileLock] = []
