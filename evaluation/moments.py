"""How long something took; of the standard library alone, for other environments measure with it too."""

import time
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Moment:
    """Seconds by the clock, and of the processor for this process, which other processes hardly change."""

    clock: float
    processor: float

    @classmethod
    def now(cls) -> "Moment":
        return cls(time.perf_counter(), time.process_time())

    def since(self) -> "Moment":
        """Return how long ago this was."""
        now = Moment.now()
        return Moment(now.clock - self.clock, now.processor - self.processor)
