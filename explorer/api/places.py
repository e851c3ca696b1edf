"""Places for programs' requests in this process: counted by key, and together."""

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


class Places:
    """The places of a kind that are taken in this process."""

    def __init__(self) -> None:
        self._by_owner: Counter[str] = Counter()

    @contextmanager
    def place(self, owner: str, most: int, most_of_all: int) -> Iterator[bool]:
        """Take a place, and give it back in the end; False where as many are taken as may be."""
        has_place = self._by_owner[owner] < most and self._by_owner.total() < most_of_all
        # Counters are of the event loop's own thread: nothing is locked.
        taken = Counter((owner,) if has_place else ())
        self._by_owner += taken
        try:
            yield has_place
        finally:
            self._by_owner -= taken


_threads = Places()


@contextmanager
def thread_of(program: Program) -> Iterator[None]:
    """Take a thread for a request of a program; raises TooSoonError where it has as many as it may."""
    with _threads.place(program.owner, MOST_THREADS_OF_KEY, MOST_THREADS) as has_place:
        if not has_place:
            raise TooSoonError(_NO_THREAD)
        yield
