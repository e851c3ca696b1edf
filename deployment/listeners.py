"""The processes that listen at a port of this machine, from Linux's /proc."""

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

_PROC = Path("/proc")
_LISTENS = "0A"  # TCP_LISTEN, linux/tcp_states.h
_SUPERVISOR = " -m deployment"
_LONGEST_COMMAND = 300


@dataclass(frozen=True, slots=True)
class Listener:
    """A process that listens, or the supervisor that started it."""

    pid: int
    command: str


def listening_at(port: int) -> tuple[Listener, ...]:
    """Return the processes to end so that a port is free, none if they cannot be determined."""
    sockets = {f"socket:[{inode}]" for inode in _sockets(port)}
    pids = {int(path.name) for path in _PROC.glob("[0-9]*") if sockets & set(_open_files(path))}
    # Workers end with their master, and the processes of a site with its supervisor.
    first = {pid for pid in pids if _parent(pid) not in pids}
    supervisors = {pid: _parent(pid) for pid in first if _SUPERVISOR in _command(_parent(pid))}
    return tuple(Listener(pid, _command(pid)) for pid in sorted({supervisors.get(pid, pid) for pid in first}))


def _sockets(port: int) -> Iterator[str]:
    """Yield the inodes of the sockets that listen at a port."""
    for table in ("tcp", "tcp6"):
        with suppress(OSError):
            for line in (_PROC / "net" / table).read_text(encoding="ascii").splitlines()[1:]:
                fields = line.split()
                if fields[3] == _LISTENS and int(fields[1].rpartition(":")[2], 16) == port:
                    yield fields[9]


def _open_files(process: Path) -> Iterator[str]:
    # Files of other users' processes cannot be read, and a process may end meanwhile.
    with suppress(OSError):
        for file in (process / "fd").iterdir():
            with suppress(OSError):
                yield str(file.readlink())


def _parent(pid: int) -> int:
    """Return the id of the parent process, 0 if it cannot be read."""
    try:
        stat = (_PROC / str(pid) / "stat").read_text(encoding="utf-8", errors="replace")
        return int(stat.rpartition(")")[2].split()[1])
    except (OSError, IndexError, ValueError):
        return 0


def _command(pid: int) -> str:
    try:
        words = (_PROC / str(pid) / "cmdline").read_bytes().replace(b"\0", b" ").strip()
    except OSError:
        return ""
    printable = "".join(c if c.isprintable() else "?" for c in words.decode(errors="replace"))
    return printable[:_LONGEST_COMMAND]
