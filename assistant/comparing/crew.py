"""The threads of one comparison: many that ask at once, and one that checks meanwhile."""

import threading
from collections.abc import Callable, Collection, Hashable, Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from types import TracebackType
from typing import TypeVar

Result = TypeVar("Result")
Key = TypeVar("Key", bound=Hashable)

AT_ONCE = 16
LOOK_AGAIN_SECONDS = 0.2


class Crew:
    """Runs what is asked of models in several threads, and checks in a single one.

    For a `with` block; at its end what has not begun is dropped, and nobody waits for what is under way.
    """

    def __init__(self, at_once: int = AT_ONCE) -> None:
        self.stopped = threading.Event()
        self._asking = ThreadPoolExecutor(at_once, thread_name_prefix="compare")
        self._checking = ThreadPoolExecutor(1, thread_name_prefix="compare-check")

    def __enter__(self) -> "Crew":
        return self

    def __exit__(
        self, _kind: type[BaseException] | None, _error: BaseException | None, _where: TracebackType | None
    ) -> None:
        self.stopped.set()
        for pool in (self._asking, self._checking):
            pool.shutdown(wait=False, cancel_futures=True)

    def ask(self, work: Callable[[], Result]) -> Future[Result]:
        return self._asking.submit(work)

    def check(self, work: Callable[[], Result]) -> Future[Result]:
        """Have something checked; checks run one after the other, so what they share needs no lock."""
        return self._checking.submit(work)


def as_they_end(futures: Mapping[Key, Future[Result]]) -> Iterator[tuple[Key, Future[Result]] | None]:
    """Yield each future when it has ended, and None every now and then while none has."""
    waiting = dict(futures)
    while waiting:
        done = _ended(waiting.values())
        if not done:
            yield None
        for key in [key for key, future in waiting.items() if future in done]:
            yield key, waiting.pop(key)


def _ended(futures: Collection[Future[Result]]) -> set[Future[Result]]:
    done, _ = wait(futures, LOOK_AGAIN_SECONDS, FIRST_COMPLETED)
    return done
