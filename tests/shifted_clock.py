"""A system clock that a test sets: a library in front of the C library's, for processes started with it."""

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

COMPILER = shutil.which("cc") if sys.platform.startswith("linux") else None
_SOURCE = r"""
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>
static long long seconds_ahead(void) {
    char text[32];
    int file = open(getenv("CLOCK_SECONDS_AHEAD"), O_RDONLY);
    long length = file < 0 ? 0 : read(file, text, sizeof text - 1);
    if (file >= 0) close(file);
    text[length > 0 ? length : 0] = 0;
    return atoll(text);
}
int clock_gettime(clockid_t clock, struct timespec *now) {
    int failed = syscall(SYS_clock_gettime, clock, now);
    if (!failed && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE))
        now->tv_sec += seconds_ahead();
    return failed;
}
int gettimeofday(struct timeval *now, void *zone) {
    struct timespec found;
    clock_gettime(CLOCK_REALTIME, &found);
    now->tv_sec = found.tv_sec;
    now->tv_usec = found.tv_nsec / 1000;
    return 0;
}
time_t time(time_t *now) {
    struct timespec found;
    clock_gettime(CLOCK_REALTIME, &found);
    if (now) *now = found.tv_sec;
    return found.tv_sec;
}
"""


@dataclass(frozen=True, slots=True)
class ShiftedClock:
    """The clock of processes that have `environment`; monotonic clocks are left alone."""

    folder: Path

    @classmethod
    def make(cls, folder: Path) -> "ShiftedClock":
        """Build the library; to be skipped where there is no COMPILER."""
        assert COMPILER
        source, clock = folder / "clock.c", cls(folder)
        source.write_text(_SOURCE)
        command = [COMPILER, "-shared", "-fPIC", "-O1", "-o", str(clock._library), str(source)]
        subprocess.run(command, check=True)
        clock.set_ahead(0)
        return clock

    def set_ahead(self, seconds: int) -> None:
        self.file.write_text(str(seconds))

    @property
    def file(self) -> Path:
        """Return the file that holds how many seconds the clock is ahead; any process may write it."""
        return self.folder / "seconds_ahead"

    @property
    def environment(self) -> dict[str, str]:
        return os.environ | {"LD_PRELOAD": str(self._library), "CLOCK_SECONDS_AHEAD": str(self.file)}

    @property
    def _library(self) -> Path:
        return self.folder / "clock.so"
