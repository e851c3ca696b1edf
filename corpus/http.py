"""Retries of HTTP requests for every client: which replies to retry, and how long to wait."""

import math
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

from tenacity import RetryCallState
from tenacity.wait import wait_base

_MAY_PASS = {408, 425, 429}


def is_busy(status: int) -> bool:
    """Return True if the same request may be answered later."""
    return status in _MAY_PASS or status >= 500


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Return the seconds that a Retry-After header asks for, as seconds or as a date."""
    value = headers.get("Retry-After") or headers.get("retry-after") or ""
    try:
        seconds = float(value)
    except ValueError:
        seconds = _seconds_until(value)
    return max(seconds, 0.0) if math.isfinite(seconds) else None


def _seconds_until(date: str) -> float:
    try:
        moment = parsedate_to_datetime(date)
    except ValueError:
        return math.nan
    return (moment.replace(tzinfo=moment.tzinfo or UTC) - datetime.now(UTC)).total_seconds()


def wait_as_asked(back_off: wait_base, longest: float) -> Callable[[RetryCallState], float]:
    """Return a wait of the `retry_after` seconds of an error, at most `longest`, at least `back_off`."""

    def wait(state: RetryCallState) -> float:
        error = state.outcome and state.outcome.exception()
        asked: float = getattr(error, "retry_after", None) or 0.0
        return max(min(asked, longest), back_off(state))

    return wait
