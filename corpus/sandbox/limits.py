"""Limits on the time and memory of a process, enforced by the system."""

import signal

try:
    import resource
except ImportError:  # not on every system
    resource = None  # type: ignore[assignment]

# The wall-clock limit as a multiple of the processor time, as a waiting process uses none.
PATIENCE = 10


def bound_memory(most_bytes: int) -> None:
    """Limit the memory of this process for good, and disable core files."""
    if resource:
        _limit(resource.RLIMIT_AS, most_bytes)
        _limit(resource.RLIMIT_CORE, 0)


def bound_all_processor_time(seconds: int) -> None:
    """End this process after `seconds` of processor time, even if it resets its timers."""
    if resource:
        _limit(resource.RLIMIT_CPU, seconds)


def _limit(kind: int, most: int) -> None:
    hard = resource.getrlimit(kind)[1]
    most = most if hard < 0 else min(most, hard)
    resource.setrlimit(kind, (most, most))


def bound(seconds: int, memory_mib: int) -> None:
    """End this process after `seconds` by the clock, also in native code, and limit its memory."""
    if hasattr(signal, "alarm"):
        signal.alarm(seconds)
    bound_memory(memory_mib * 2**20)


def bound_processor_time(seconds: int, by_clock: int) -> None:
    """End this process after `seconds` of processor time or `by_clock` seconds, whichever comes first."""
    if hasattr(signal, "setitimer"):
        signal.setitimer(signal.ITIMER_PROF, seconds)
        signal.alarm(by_clock)


def grant(seconds: int) -> None:
    """Give this process `seconds` more, of processor time or by the clock, depending on its limit."""
    by_clock = seconds
    if hasattr(signal, "setitimer") and (left := signal.getitimer(signal.ITIMER_PROF)[0]):
        signal.setitimer(signal.ITIMER_PROF, left + seconds)
        by_clock = seconds * PATIENCE
    if hasattr(signal, "alarm") and (remaining := signal.alarm(0)):
        signal.alarm(remaining + by_clock)
