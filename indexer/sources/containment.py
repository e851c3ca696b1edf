"""Files named by a folder, an export or a database: only files inside their folder are read."""

import os
from pathlib import Path


def file_within(folder: Path, name: str | Path) -> Path | None:
    """Return the resolved path of a file named from `folder`; None if it is outside or no valid path.

    Links are resolved; the folder itself may be a link.
    """
    try:
        # Unlike Path.resolve, realpath accepts a loop of links; opening the file reports it.
        path = Path(os.path.realpath(folder / name))
        return path if path.is_relative_to(os.path.realpath(folder)) else None
    except (OSError, ValueError):
        return None


def is_file(path: Path) -> bool:
    """Return True for an existing file, False also for an invalid name."""
    try:
        return path.is_file()
    except (OSError, ValueError):
        return False


def is_link(path: Path) -> bool:
    """Return True for a symbolic link, False also for an invalid name."""
    try:
        return path.is_symlink()
    except (OSError, ValueError):
        return False
