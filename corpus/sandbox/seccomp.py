"""Restriction of a process's system calls, enforced by the kernel (Linux, seccomp).

A filter is a program in classic BPF: each step loads a word of the call, compares it, or returns a verdict.
Filters apply to all threads and started programs, for good; of several, the strictest verdict counts.
"""

import ctypes
import errno
import os
import platform
import struct
import sys
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from socket import AF_INET, AF_INET6
from typing import Literal

Group = Literal["privileges", "processes", "files", "network", "programs"]

# The architectures' numbers in filters, in the order of system_calls.toml.
_ARCHITECTURES = {"x86_64": (0, 0xC000003E), "aarch64": (1, 0xC00000B7)}
# Calls of the x32 ABI have numbers from here on.
_OTHER_CONVENTION = 0x40000000
_SET_NO_NEW_PRIVILEGES = 38
_GET_ACTION_AVAILABLE, _SET_FILTER, _FOR_ALL_THREADS = 2, 1, 1
_ALLOW, _REFUSE, _NOT_THERE = 0x7FFF0000, 0x00050000 | errno.EACCES, 0x00050000 | errno.ENOSYS
_LOAD, _IF_EQUAL, _IF_AT_LEAST, _IF_ANY_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_NUMBER_AT, _ARCHITECTURE_AT = 0, 4
_IPV4, _IPV6, _NETLINK = int(AF_INET), int(AF_INET6), 16
# Flags of clone that make a thread, or a namespace in which a process gains rights.
_A_THREAD, _A_NAMESPACE = 0x00010000, 0x7E020000

Step = tuple[int, int, int, int]
"""Operation, steps to skip if its comparison holds, steps to skip if it does not, operand."""


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("steps", ctypes.c_char_p))


def has_seccomp() -> bool:
    """Return True if the kernel filters system calls and this module knows their numbers."""
    if not sys.platform.startswith("linux") or sys.byteorder != "little":
        return False
    if platform.machine() not in _ARCHITECTURES:
        return False
    action = ctypes.c_uint32(_REFUSE & 0x7FFF0000)
    libc = ctypes.CDLL(None, use_errno=True)
    return bool(libc.syscall(_number("seccomp"), _GET_ACTION_AVAILABLE, 0, ctypes.byref(action)) == 0)


def restrict_calls(*, network: bool = False, programs: bool = False) -> bool:
    """Refuse calls that reach other processes, gain rights or change files without opening them.

    Without `network` no socket can be opened, connected or addressed; with it, IPv4 and IPv6 sockets can.
    Without `programs` no process can be started. Refused calls fail with EACCES. Returns False if the system
    has no seccomp; raises OSError if it rejects the filter.
    """
    if not has_seccomp():
        return False
    steps = list(_filter(network=network, programs=programs))
    program = _Program(len(steps), b"".join(struct.pack("<HBBI", *step) for step in steps))
    libc = ctypes.CDLL(None, use_errno=True)
    libc.prctl(_SET_NO_NEW_PRIVILEGES, 1, 0, 0, 0)
    if libc.syscall(_number("seccomp"), _SET_FILTER, _FOR_ALL_THREADS, ctypes.byref(program)) != 0:
        raise OSError(ctypes.get_errno(), "seccomp: the filter of system calls was rejected")
    return True


def refused_calls(*, network: bool = False, programs: bool = False) -> dict[str, int]:
    """Return the numbers of the calls that `restrict_calls` refuses with any arguments, by name."""
    groups: list[Group] = ["privileges", "processes", "files"]
    groups += [] if network else ["network"]
    groups += [] if programs else ["programs"]
    return {name: number for group in groups for name in _table()[group] if (number := _number(name, group))}


def _filter(*, network: bool, programs: bool) -> Iterator[Step]:
    _, architecture = _ARCHITECTURES[platform.machine()]
    yield _LOAD, 0, 0, _ARCHITECTURE_AT
    yield _IF_EQUAL, 1, 0, architecture
    yield _RETURN, 0, 0, _REFUSE
    yield _LOAD, 0, 0, _NUMBER_AT
    yield _IF_AT_LEAST, 0, 1, _OTHER_CONVENTION
    yield _RETURN, 0, 0, _REFUSE
    for number in refused_calls(network=network, programs=programs).values():
        yield from _for_call(number, [(_RETURN, 0, 0, _REFUSE)])
    # A filter cannot read its arguments, which are in memory; the C library then falls back to clone.
    yield from _for_call(_number("clone3"), [(_RETURN, 0, 0, _NOT_THERE)])
    this_process = os.getpid()
    checks: dict[str, list[Step]] = {
        # Only to this process, and with kill to its process group.
        "kill": [(_LOAD, 0, 0, _argument(0)), (_IF_EQUAL, 2, 0, this_process), (_IF_EQUAL, 1, 0, 0)],
        "tgkill": [(_LOAD, 0, 0, _argument(0)), (_IF_EQUAL, 1, 0, this_process)],
        # Only reading the limits of this process.
        "prlimit64": [
            *_unless_zero(0),
            *_unless_zero(2),
            *_unless_zero(2, high=True),
            (_RETURN, 0, 0, _ALLOW),
        ],
    }
    if programs:
        checks["clone"] = [(_LOAD, 0, 0, _argument(0)), (_IF_ANY_BIT, 0, 1, _A_NAMESPACE)]
    else:
        checks["clone"] = [(_LOAD, 0, 0, _argument(0)), (_IF_ANY_BIT, 1, 0, _A_THREAD)]
    if network:
        families = [
            (_IF_EQUAL, 3 - place, 0, family) for place, family in enumerate((_IPV4, _IPV6, _NETLINK))
        ]
        checks["socket"] = [(_LOAD, 0, 0, _argument(0)), *families]
    else:
        # Only without an address, over a socket pair.
        checks["sendto"] = [*_unless_zero(4), *_unless_zero(4, high=True), (_RETURN, 0, 0, _ALLOW)]
    for name, steps in checks.items():
        group: Literal["network", "arguments"] = "network" if name == "socket" else "arguments"
        yield from _for_call(
            _number(name, group), [*steps, (_RETURN, 0, 0, _REFUSE), (_RETURN, 0, 0, _ALLOW)]
        )
    yield _RETURN, 0, 0, _ALLOW


def _for_call(number: int, steps: list[Step]) -> Iterator[Step]:
    """Yield steps for one call, which must end in a return, as they replace the loaded number."""
    yield _IF_EQUAL, 0, len(steps), number
    yield from steps


def _unless_zero(argument: int, *, high: bool = False) -> Iterator[Step]:
    """Yield steps that refuse the call if the low (or `high`) half of an argument is not zero."""
    yield _LOAD, 0, 0, _argument(argument) + (4 if high else 0)
    yield _IF_EQUAL, 1, 0, 0
    yield _RETURN, 0, 0, _REFUSE


def _argument(place: int) -> int:
    """Return the offset of the low half of an argument in the filter's data."""
    return 16 + 8 * place


def _number(name: str, group: Group | Literal["arguments"] = "arguments") -> int:
    """Return the number of a call on this machine, 0 if it does not have the call."""
    column, _ = _ARCHITECTURES[platform.machine()]
    return _table()[group][name][column]


@cache
def _table() -> dict[str, dict[str, list[int]]]:
    return tomllib.loads(Path(__file__).with_name("system_calls.toml").read_text(encoding="utf-8"))
