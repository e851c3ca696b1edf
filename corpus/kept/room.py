"""The disk space that visitors' files take on this machine, with reservations.

The folder of each kept library and each visit has a record of its size in bytes and its owner. Before files
are added the size is increased, under one lock for all threads and processes; afterwards it is measured. So
the total is known without walking all folders, and removing a folder removes its record.
"""

import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from filelock import FileLock, Timeout

from corpus.places.disk import MB, NoRoomError, check_free_disk, refusals
from corpus.settings import Settings

RECORD = "room"
PATIENCE_SECONDS = 60.0
_FOLDERS = ("libraries/*/", "visits/server-*/visit-*/")

logger = logging.getLogger(__name__)


class OwnerFullError(NoRoomError):
    """An owner would exceed their limit; `size` is the total that they would have, in bytes."""

    def __init__(self, size: int) -> None:
        super().__init__(f"This would be {size / MB:,.0f} MB.")
        self.size = size


@dataclass(frozen=True, slots=True)
class Taken:
    """The size of a folder in bytes, and its owner, "" if it has none."""

    size: int
    owner: str = ""


@dataclass(frozen=True, slots=True)
class Room:
    """The limits of visitors' files under a `home`: all together, and what must stay free on the disk.

    Both are in megabytes; 0 is no limit.
    """

    home: Path
    megabytes: int = 0
    free_megabytes: int = 0

    @classmethod
    def of(cls, settings: Settings) -> Self:
        return cls(settings.home, settings.files_megabytes_of_all, settings.free_disk_megabytes)

    def take(self, folder: Path, size: int, owner: str = "", owner_megabytes: int = 0) -> None:
        """Reserve `size` more bytes for a folder; raises NoRoomError if they exceed a limit.

        Raises OwnerFullError if they exceed the owner's limit, `owner_megabytes`; 0 is no limit.
        """
        check_free_disk(self.home, self.free_megabytes, size)
        folder = folder.absolute()
        with self._locked():
            taken = self._taken()
            before = taken.get(folder, Taken(0))
            of_owner = (record for record in taken.values() if owner and record.owner == owner)
            all_of_owner = size + sum(record.size for record in of_owner)
            if 0 < owner_megabytes * MB < all_of_owner:
                raise OwnerFullError(all_of_owner)
            if 0 < self.megabytes * MB < size + sum(record.size for record in taken.values()):
                refusals.warn(
                    "Nothing more of visitors' files is kept at %s: they take %d MB together. Delete what is "
                    "not needed, or change PAPER_TRAIL_FILES_MEGABYTES_OF_ALL.",
                    self.home,
                    self.megabytes,
                )
                raise NoRoomError(
                    f"The documents of all visitors together take the {self.megabytes:,} MB that they may, "
                    "so no more are taken at the moment. Try again later, or delete some that are not needed."
                )
            _write(folder, Taken(before.size + size, owner or before.owner))

    def settle(self, folder: Path, owner: str = "") -> None:
        """Measure a folder and record its size, if it still exists."""
        if folder.is_dir():
            with suppress(NoRoomError), self._locked():
                _measure(folder, owner)

    def know(self, folder: Path, owner: str) -> None:
        """Record the owner of a folder that was created before owners were recorded."""
        if (record := _read(folder)) is None or record.owner != owner:
            self.settle(folder, owner)

    def size_of(self, folder: Path) -> int:
        """Return the size of a folder in bytes, with its reservations."""
        return (_read(folder) or _measure(folder)).size

    def size(self) -> int:
        """Return the size of all folders in bytes, with their reservations."""
        return sum(record.size for record in self._taken().values())

    def _taken(self) -> dict[Path, Taken]:
        home = self.home.absolute()
        folders = (folder for pattern in _FOLDERS for folder in home.glob(pattern))
        return {folder: _read(folder) or _measure(folder) for folder in folders}

    @contextmanager
    def _locked(self) -> Iterator[None]:
        # In the folder of libraries, which several machines may share.
        lock = self.home / "libraries" / "room.lock"
        try:
            lock.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            with FileLock(lock, timeout=PATIENCE_SECONDS):
                yield
        except Timeout as error:
            raise NoRoomError(
                "Many documents are being kept at the moment. Try again in a minute."
            ) from error
        except OSError as error:
            raise NoRoomError(f"Nothing can be kept on the server: {error.strerror}.") from error


def _measured(folder: Path) -> int:
    """Return the size of a folder's files in bytes, without its record."""
    total = 0
    # Not rglob, which raises for folders that are removed meanwhile.
    for place, _, names in os.walk(folder):
        for path in (Path(place, name) for name in names):
            with suppress(OSError):
                total += path.stat().st_size if path.is_file() and path != folder / RECORD else 0
    return total


def _read(folder: Path) -> Taken | None:
    """Read the record of a folder, None if it is missing or damaged."""
    try:
        size, _, owner = (folder / RECORD).read_text(encoding="utf-8").partition(" ")
        return Taken(int(size), owner)
    except (OSError, ValueError):
        return None


def _measure(folder: Path, owner: str = "") -> Taken:
    before = _read(folder)
    taken = Taken(_measured(folder), owner or (before.owner if before else ""))
    # If it cannot be recorded, it is measured again the next time.
    with suppress(OSError):
        if taken == Taken(0):
            (folder / RECORD).unlink(missing_ok=True)
        else:
            _write(folder, taken)
    return taken


def _write(folder: Path, taken: Taken) -> None:
    part = folder / f"{RECORD}.part"
    part.write_text(f"{taken.size} {taken.owner}", encoding="utf-8")
    part.replace(folder / RECORD)
