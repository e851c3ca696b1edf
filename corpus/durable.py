"""Writes that survive a power loss: content is synced before its name, and names after it."""

import errno
import os
from pathlib import Path

# Some file systems, mostly of networks, have nothing to sync of a folder.
_NOTHING_TO_SYNC = {errno.EINVAL, errno.ENOTSUP}


def replace_durably(temporary: Path, target: Path) -> None:
    """Put a written file in the place of `target`; after a power loss one of the two is there, and whole."""
    sync(temporary)
    temporary.replace(target)
    sync(target.parent)


def sync_tree(folder: Path) -> None:
    """Sync every file below a folder, and the folders after what is in them."""
    for root, _, names in os.walk(folder, topdown=False):
        for path in (*(Path(root, name) for name in names), Path(root)):
            sync(path)


def sync_parents(folder: Path) -> None:
    """Sync the folders above one, any of which may just have been made."""
    for parent in folder.absolute().parents:
        sync(parent)


def sync(path: Path) -> None:
    """Sync a file's content or a folder's names; what is gone or may not be opened by us is left."""
    is_folder = path.is_dir()
    try:
        # Windows syncs only what can be written, and opens no folder.
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
