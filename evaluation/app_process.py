"""What a process has taken so far, where the system tells: Linux does."""

import os
from pathlib import Path


def memory_mb(pid: int) -> int | None:
    """Return the resident memory of a process."""
    status = _read(pid, "status").splitlines()
    found = [line.split()[1] for line in status if line.startswith("VmRSS:")]
    return int(found[0]) // 1024 if found else None


def cpu_seconds(pid: int) -> float | None:
    """Return the processor time that all threads of a process have had."""
    _, _, after_name = _read(pid, "stat").rpartition(")")
    if not after_name:
        return None
    user, system = after_name.split()[11:13]
    return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")


def _read(pid: int, name: str) -> str:
    try:
        return Path(f"/proc/{pid}/{name}").read_text(encoding="utf-8")
    except OSError:
        return ""
