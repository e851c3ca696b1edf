"""Files that a folder, an export or a database names: they are read only where they lie in their folder."""

import os
from pathlib import Path


def file_within(folder: Path, name: str | Path) -> Path | None:
    """Return the resolved path of a file named from `folder`; None where it leads out, or is no path.

    The folder itself may be a link; links in it count as what they lead to.
    """
    try:
        # Unlike Path.resolve it does not raise for a loop of links, which whoever opens it is told of.
        path = Path(os.path.realpath(folder / name))
        return path if path.is_relative_to(os.path.realpath(folder)) else None
    except (OSError, ValueError):
        return None


def is_file(path: Path) -> bool:
    """Return True for a file that is there; a name that no file can have is none."""
    try:
        return path.is_file()
    except (OSError, ValueError):
        return False


def is_link(path: Path) -> bool:
    """Return True for a symbolic link that can be looked at."""
    try:
        return path.is_symlink()
    except (OSError, ValueError):
        return False
