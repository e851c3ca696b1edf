"""The workers that take documents in, shared by all visitors of a server."""

import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor

from explorer.documents.read import DocumentError

READ_AT_ONCE = 2
MOST_WAITING = 40


class Readers:
    """The workers of one server: so many documents are read at once, so many wait, the rest is refused."""

    def __init__(self, at_once: int = READ_AT_ONCE, most_waiting: int = MOST_WAITING) -> None:
        self._workers = ThreadPoolExecutor(at_once, thread_name_prefix="document")
        self._places = threading.BoundedSemaphore(most_waiting)

    def submit(self, work: Callable[[], None]) -> "Future[None]":
        """Have a worker do something; raises DocumentError where too much is waiting."""
        if not self._places.acquire(blocking=False):
            raise DocumentError("Too many documents are being read at the moment. Try again in a minute.")
        future = self._workers.submit(work)
        future.add_done_callback(lambda _: self._places.release())
        return future
