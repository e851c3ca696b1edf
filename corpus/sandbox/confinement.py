"""Confinement of a process that reads foreign files: no other files, connections or processes."""

import contextlib
import sys
import sysconfig
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from corpus.sandbox.landlock import landlock_version, restrict_files
from corpus.sandbox.seccomp import has_seccomp, restrict_calls

_CODE = Path(__file__).resolve().parents[2]
# The product's own code; other files beside it may be data or secrets.
_PACKAGES = ("corpus", "indexer", "assistant")
_PROGRAMS = (
    "/usr/bin",
    "/bin",
    "/usr/local/bin",
    "/usr/lib",
    "/lib",
    "/lib64",
    "/usr/lib64",
    "/usr/local/lib",
)
# Files that libraries look up: shared objects, time zones, fonts, tesseract's data, processor features.
_SYSTEM = (
    *("/etc/ld.so.cache", "/etc/localtime", "/etc/fonts", "/etc/mime.types"),
    *("/usr/share/zoneinfo", "/usr/share/fonts", "/usr/share/tesseract-ocr", "/usr/share/tessdata"),
    *("/dev/urandom", "/dev/random", "/dev/zero"),
    *("/proc/cpuinfo", "/proc/meminfo", "/proc/self", "/proc/sys/vm", "/sys/devices/system"),
)
# Files needed to find and reach a host.
_FOR_NETWORK = (
    *("/etc/resolv.conf", "/etc/hosts", "/etc/nsswitch.conf", "/etc/host.conf", "/etc/gai.conf"),
    *("/etc/ssl", "/etc/pki", "/etc/services", "/usr/share/ca-certificates", "/run/systemd/resolve"),
)


class ConfinementError(Exception):
    """A process could not be confined, although its system supports it or requires it."""


@dataclass(frozen=True, slots=True)
class Confinement:
    """The confinement that a system supports: refusing other `files`, and dangerous system `calls`."""

    files: bool
    calls: bool

    def __bool__(self) -> bool:
        return self.files and self.calls

    @property
    def missing(self) -> str:
        """Return the names of what the system lacks, "" if it lacks nothing."""
        lacking = [name for name, has in (("Landlock", self.files), ("seccomp", self.calls)) if not has]
        return " and ".join(lacking)


@cache
def offered_confinement() -> Confinement:
    """Return the confinement that this system supports, without changing this process."""
    return Confinement(landlock_version() > 0, has_seccomp())


def unconfined(offered: Confinement) -> str:
    """Describe what a malicious file could do on a system without full confinement."""
    ways = [] if offered.files else ["open any file of the server's user"]
    ways += [] if offered.calls else ["open connections and reach other processes"]
    return (
        f"This system has no {offered.missing}: a malicious file that takes over the process that reads it "
        f"could {' and '.join(ways)}."
    )


def confine(
    readable: Iterable[Path] = (),
    writable: Iterable[Path] = (),
    *,
    programs: Sequence[Path] = (),
    network: bool = False,
    required: bool = False,
) -> Confinement:
    """Confine this process for good to its own code and the given files; return the confinement in force.

    `programs` are folders of programs that it may start besides the system's; without any it can start none.
    `network` allows connections until `forbid_network`. Call it before other threads start. Raises
    ConfinementError if a supported protection fails, or, if `required`, if one is not supported.
    """
    offered = offered_confinement()
    if required and not offered:
        raise ConfinementError(
            f"this system cannot confine what reads foreign files: it has no {offered.missing}"
        )
    if has_other_threads():
        raise ConfinementError("it has other threads already, which would not be confined")
    try:
        files = restrict_files(
            [*_own_files(), *map(Path, _SYSTEM), *(map(Path, _FOR_NETWORK) if network else ()), *readable],
            [*writable, Path("/dev/null")],
            [*map(Path, _PROGRAMS), *programs] if programs else (),
            network=network,
        )
        calls = restrict_calls(network=network, programs=bool(programs))
    except OSError as error:
        raise ConfinementError(str(error)) from error
    return Confinement(files, calls)


def forbid_network() -> None:
    """Forbid this process to open connections from now on; raises ConfinementError."""
    try:
        restrict_calls(programs=True)
    except OSError as error:
        raise ConfinementError(str(error)) from error


def _own_files() -> Iterator[Path]:
    """Yield the paths of the interpreter, its packages and the product's code."""
    yield from (_CODE / name for name in _PACKAGES)
    yield from (Path(sysconfig.get_path(name)) for name in ("stdlib", "platstdlib", "purelib", "platlib"))
    yield from (Path(path) for path in sys.path if Path(path).name in ("site-packages", "dist-packages"))
    # The standard library and shared objects of a virtual environment's base.
    yield Path(sys.base_prefix, "lib")
    yield from map(Path, _PROGRAMS)
    yield Path(sys.executable)


def has_other_threads() -> bool:
    """Return True if this process has other threads, which Landlock would not confine."""
    if offered_confinement().files:
        with contextlib.suppress(OSError):
            return sum(1 for _ in Path("/proc/self/task").iterdir()) > 1
    return False
