"""No network for a process that reads foreign files: the system refuses it, whatever a parser is made to do.

On Linux by a filter of system calls (seccomp): sockets are refused but those within the machine, and so is
what could open them unseen (io_uring, the calls of other architectures). It holds for all threads, for what
the process starts, and for good.
"""

import ctypes
import errno
import platform
import socket
import struct
import sys
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class _Machine:
    """How a machine is called in filters, and the numbers of its system calls."""

    architecture: int
    socket: int
    seccomp: int


_MACHINES = {
    "x86_64": _Machine(0xC000003E, socket=41, seccomp=317),
    "aarch64": _Machine(0xC00000B7, socket=198, seccomp=277),
}
_IO_URING_SETUP = 425
# System calls by another convention have numbers from here on.
_OTHER_CONVENTION = 0x40000000
_SET_NO_NEW_PRIVILEGES = 38
_SET_FILTER, _FOR_ALL_THREADS = 1, 1
_ALLOW, _REFUSE = 0x7FFF0000, 0x00050000 | errno.EACCES
# Of the filter's own machine: load a word, compare with a number, return.
_LOAD, _IF_EQUAL, _IF_AT_LEAST, _RETURN = 0x20, 0x15, 0x35, 0x06
_NUMBER_AT, _ARCHITECTURE_AT, _FIRST_ARGUMENT_AT = 0, 4, 16


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("steps", ctypes.c_char_p))


def cut_off_network() -> bool:
    """Have this process open no connection from now on; return False where the system cannot see to it."""
    machine = _MACHINES.get(platform.machine())
    if not sys.platform.startswith("linux") or machine is None or sys.byteorder != "little":
        return False
    libc = ctypes.CDLL(None, use_errno=True)
    steps = _steps(machine)
    program = _Program(len(steps), b"".join(struct.pack("<HBBI", *step) for step in steps))
    libc.prctl(_SET_NO_NEW_PRIVILEGES, 1, 0, 0, 0)
    return bool(libc.syscall(machine.seccomp, _SET_FILTER, _FOR_ALL_THREADS, ctypes.byref(program)) == 0)


def _steps(machine: _Machine) -> list[tuple[int, int, int, int]]:
    """Return the filter: each step with how many to pass over where its comparison holds, and where not."""
    return [
        (_LOAD, 0, 0, _ARCHITECTURE_AT),
        (_IF_EQUAL, 0, 6, machine.architecture),
        (_LOAD, 0, 0, _NUMBER_AT),
        (_IF_AT_LEAST, 4, 0, _OTHER_CONVENTION),
        (_IF_EQUAL, 3, 0, _IO_URING_SETUP),
        (_IF_EQUAL, 0, 3, machine.socket),
        (_LOAD, 0, 0, _FIRST_ARGUMENT_AT),
        (_IF_EQUAL, 1, 0, socket.AF_UNIX),
        (_RETURN, 0, 0, _REFUSE),
        (_RETURN, 0, 0, _ALLOW),
    ]
