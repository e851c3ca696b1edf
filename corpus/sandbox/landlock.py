"""Restriction of the files a process may open, enforced by the kernel (Linux, Landlock)."""

import ctypes
import errno
import os
import stat
import struct
import sys
from collections.abc import Iterable
from pathlib import Path

# The numbers are the same on all architectures.
_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_VERSION_FLAG = 1
_PATH_BENEATH = 1
_SET_NO_NEW_PRIVILEGES = 38

_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR = 1 << 0, 1 << 1, 1 << 2, 1 << 3
_TRUNCATE, _IOCTL_DEVICE = 1 << 14, 1 << 15
_READ = _READ_FILE | _READ_DIR
# All rights of the first version: those above, and making and removing entries of folders.
_FIRST_VERSION = (1 << 13) - 1
# Rights added by later versions: moving between folders, truncating, controlling devices.
_ADDED = {2: 1 << 13, 3: _TRUNCATE, 5: _IOCTL_DEVICE}
_WRITE = _FIRST_VERSION & ~_EXECUTE | _TRUNCATE
_FOR_FILES = _EXECUTE | _WRITE_FILE | _READ_FILE | _TRUNCATE | _IOCTL_DEVICE
# Versions that added TCP bind and connect, and abstract sockets and signals to other processes.
_TCP_SINCE, _TCP = 4, 0b11
_SCOPES_SINCE, _SCOPES = 6, 0b11


def landlock_version() -> int:
    """Return the version of Landlock that the kernel supports, 0 for none."""
    if not sys.platform.startswith("linux"):
        return 0
    version = _libc().syscall(_CREATE_RULESET, None, ctypes.c_size_t(0), ctypes.c_uint32(_VERSION_FLAG))
    return max(0, int(version))


def restrict_files(
    readable: Iterable[Path],
    writable: Iterable[Path] = (),
    programs: Iterable[Path] = (),
    *,
    network: bool = False,
) -> bool:
    """Restrict this thread, and what it starts, to these files and folders; return False without Landlock.

    Files in `programs` may be read and executed. Paths that do not exist are skipped. If the kernel supports
    it, TCP (unless `network`), abstract sockets and signals to outside processes are refused too. Raises
    OSError.
    """
    version = landlock_version()
    if not version:
        return False
    handled = _FIRST_VERSION | sum(right for since, right in _ADDED.items() if version >= since)
    tcp = _TCP if version >= _TCP_SINCE and not network else 0
    scopes = _SCOPES if version >= _SCOPES_SINCE else 0
    attributes = struct.pack("=QQQ", handled, tcp, scopes)
    ruleset = _call(_CREATE_RULESET, attributes, ctypes.c_size_t(len(attributes)), ctypes.c_uint32(0))
    try:
        for paths, rights in ((readable, _READ), (writable, _READ | _WRITE), (programs, _READ | _EXECUTE)):
            for path in paths:
                _allow(ruleset, path, rights & handled)
        _libc().prctl(_SET_NO_NEW_PRIVILEGES, 1, 0, 0, 0)
        _call(_RESTRICT_SELF, ctypes.c_int(ruleset), ctypes.c_uint32(0))
    finally:
        os.close(ruleset)
    return True


def _allow(ruleset: int, path: Path, rights: int) -> None:
    try:
        opened = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return
    try:
        if not stat.S_ISDIR(os.fstat(opened).st_mode):
            rights &= _FOR_FILES
        rule = struct.pack("=Qi", rights, opened)
        _call(_ADD_RULE, ctypes.c_int(ruleset), ctypes.c_int(_PATH_BENEATH), rule, ctypes.c_uint32(0))
    finally:
        os.close(opened)


def _call(number: int, *arguments: object) -> int:
    result = int(_libc().syscall(number, *arguments))
    if result < 0:
        code = ctypes.get_errno()
        raise OSError(code, f"Landlock: {errno.errorcode.get(code, code)} from system call {number}")
    return result


def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)
