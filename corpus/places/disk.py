"""Free disk space, and the minimum below which no files of visitors are stored."""

import logging
import shutil
import time
from pathlib import Path
from threading import Lock

from corpus.errors import CorpusError

MB = 1_000_000
LOG_SECONDS = 60.0

logger = logging.getLogger(__name__)


class NoRoomError(CorpusError):
    """No more files of visitors can be stored at the moment; the message says why."""


class RefusalLog:
    """Logs refusals, each message at most once a minute."""

    def __init__(self) -> None:
        self._told: dict[str, float] = {}
        self._lock = Lock()

    def warn(self, message: str, *arguments: object) -> None:
        text = message % arguments
        with self._lock:
            now = time.monotonic()
            if now - self._told.get(text, -LOG_SECONDS) < LOG_SECONDS:
                return
            self._told[text] = now
        logger.warning("%s", text)


refusals = RefusalLog()


def nearest_existing(path: Path) -> Path:
    """Return a path, or the first of its parents that exists."""
    absolute = path.absolute()
    return next((place for place in (absolute, *absolute.parents) if place.exists()), absolute)


def free_bytes(path: Path) -> int:
    """Return the free bytes on the disk of a path, which need not exist; raises OSError."""
    return shutil.disk_usage(nearest_existing(path)).free


def check_free_disk(path: Path, floor_megabytes: int, size: int = 0) -> None:
    """Raise NoRoomError if `size` more bytes would leave less than the floor free; 0 is no floor."""
    if not floor_megabytes:
        return
    try:
        free = free_bytes(path) - size
    except OSError as error:
        raise NoRoomError(f"The disk of this server cannot be examined: {error.strerror}.") from error
    if free < floor_megabytes * MB:
        refusals.warn(
            "Nothing of visitors' is stored: less than %d MB would be free on the disk of %s. Make room, or "
            "change PAPER_TRAIL_FREE_DISK_MEGABYTES.",
            floor_megabytes,
            path,
        )
        raise NoRoomError(
            "The disk of this server is nearly full, so nothing more of visitors is stored at the moment. "
            "What was stored before is still there. Whoever runs the server has to make room."
        )
