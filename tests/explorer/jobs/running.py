"""Helpers that run jobs, and look at them while they run."""

import time
from collections.abc import Callable
from typing import Any


class Clock:
    """A clock that is put forward by hand."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


def wait_until(job: Any, is_reached: Callable[[Any], bool] = lambda view: view.is_over) -> Any:
    """Return the view of a job once `is_reached`, by default once it is over."""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        if is_reached(job.view()):
            return job.view()
        time.sleep(0.01)
    raise AssertionError("the job did not get there")
