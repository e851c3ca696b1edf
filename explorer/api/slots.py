"""Limits on concurrent API requests in this process, by key and in all."""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

from explorer.api.keys import Program
from explorer.jobs.rate_limit import TooSoonError

# Of the 40 threads in which this process answers requests: the others are for pages.
MOST_THREADS = 20
MOST_THREADS_OF_KEY = MOST_THREADS // 2
_NO_THREAD = (
    f"At most {MOST_THREADS_OF_KEY} requests of a key are answered at once, and {MOST_THREADS} of all keys. "
    "Wait for a reply before you send more."
)


class Slots:
    """The slots of a kind that are taken in this process, by owner."""

    def __init__(self) -> None:
        self._by_owner: Counter[str] = Counter()

    @contextmanager
    def slot(self, owner: str, most: int, most_of_all: int) -> Iterator[bool]:
        """Hold a slot during the block; yields False if `most` of the owner, or of all, are taken."""
        has_slot = self._by_owner[owner] < most and self._by_owner.total() < most_of_all
        # No lock: used only in the thread of the event loop.
        slot = Counter((owner,) if has_slot else ())
        self._by_owner += slot
        try:
            yield has_slot
        finally:
            self._by_owner -= slot


_threads = Slots()


@contextmanager
def thread_of(program: Program) -> Iterator[None]:
    """Reserve a thread for a request of a program; raises TooSoonError if it has as many as allowed."""
    with _threads.slot(program.owner, MOST_THREADS_OF_KEY, MOST_THREADS) as has_slot:
        if not has_slot:
            raise TooSoonError(_NO_THREAD)
        yield
