"""One way to ask again: what may pass, what Retry-After says, and how long that is waited."""

from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest
from tenacity import Future, RetryCallState, Retrying, wait_fixed

from corpus.http import is_busy, retry_after, wait_as_asked


@pytest.mark.parametrize(
    ("value", "seconds"),
    [("3", 3.0), ("0.5", 0.5), ("-3", 0.0), ("", None), ("soon", None), ("nan", None), ("1e999", None)],
)
def test_retry_after_in_seconds_is_read_whatever_it_is(value: str, seconds: float | None) -> None:
    assert retry_after({"Retry-After": value}) == seconds
    assert retry_after({"retry-after": value}) == seconds


def test_what_may_pass_is_asked_again_at_the_date_that_is_named() -> None:
    later = datetime.now(UTC) + timedelta(minutes=2)
    assert retry_after({"retry-after": format_datetime(later)}) == pytest.approx(120, abs=10)
    assert retry_after({"retry-after": "Wed, 21 Oct 2015 07:28:00 GMT"}) == 0
    assert retry_after({}) is None
    assert [status for status in (200, 301, 400, 403, 404, 408, 425, 429, 500, 503) if is_busy(status)] == [
        *(408, 425, 429, 500, 503)
    ]


@pytest.mark.parametrize(("asked", "waited"), [(None, 2.0), (1.0, 2.0), (5.0, 5.0), (3600.0, 20.0)])
def test_what_is_asked_for_is_waited_within_bounds(asked: float | None, waited: float) -> None:
    error = RuntimeError()
    error.retry_after = asked  # type: ignore[attr-defined]
    state = RetryCallState(Retrying(), None, (), {})
    state.outcome = Future.construct(1, error, True)
    assert wait_as_asked(wait_fixed(2), 20.0)(state) == waited
