"""Writes that survive a power loss: content is synced before its name, and names after it."""

import errno
import os
from pathlib import Path

# Some file systems, mostly network ones, cannot sync a folder.
_NOTHING_TO_SYNC = {errno.EINVAL, errno.ENOTSUP}


def replace_durably(temporary: Path, target: Path) -> None:
    """Replace `target` by a written file; after a power loss, one of the two is there and complete."""
    sync(temporary)
    temporary.replace(target)
    sync(target.parent)


def sync_tree(folder: Path) -> None:
    """Sync every file below a folder, and each folder after its contents."""
    for root, _, names in os.walk(folder, topdown=False):
        for path in (*(Path(root, name) for name in names), Path(root)):
            sync(path)


def sync_parents(folder: Path) -> None:
    """Sync all folders above a folder: any of them may be new."""
    for parent in folder.absolute().parents:
        sync(parent)


def sync(path: Path) -> None:
    """Sync a file's content or a folder's names; skip missing files and folders we may not open."""
    is_folder = path.is_dir()
    try:
        # Windows syncs only writable files, and opens no folder.
        handle = os.open(path, os.O_RDWR if os.name == "nt" and not is_folder else os.O_RDONLY)
    except FileNotFoundError:
        return
    except PermissionError:
        if is_folder:
            return
        raise
    try:
        os.fsync(handle)
    except OSError as error:
        if not (is_folder and error.errno in _NOTHING_TO_SYNC):
            raise
    finally:
        os.close(handle)
