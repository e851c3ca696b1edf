"""Visitors at once, in a process of their own: it is told in lines of JSON and tells in lines of JSON."""

import asyncio
import json
import random
import sys
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from evaluation.app_process import cpu_seconds
from evaluation.app_visit import VisitError, visiting


@dataclass(frozen=True, slots=True)
class Page:
    """A page, looked at with one query after the other; `expected` is part of what comes."""

    path: str
    queries: tuple[str, ...]
    expected: str


@dataclass(frozen=True, slots=True)
class Load:
    """So many visitors who look at a page of a server for some seconds, and think between two looks."""

    address: str
    pid: int
    page: Page
    sessions: int
    seconds: float
    think: float

    @classmethod
    def from_json(cls, raw: Mapping[str, Any]) -> "Load":
        page = Page(**{**raw["page"], "queries": tuple(raw["page"]["queries"])})
        return cls(**{**raw, "page": page})


@dataclass(slots=True)
class Looks:
    """What visitors saw: milliseconds of each run but their first ones, the most that came, what failed.

    `cpu_seconds` is what the server took from when all had come in, None where that cannot be known.
    """

    ms: list[float] = field(default_factory=list)
    messages: int = 0
    bytes: int = 0
    errors: list[str] = field(default_factory=list)
    cpu_seconds: float | None = None


async def look(load: Load) -> Looks:
    """Have all visitors look, each beginning at another moment of the time they think."""
    looks = Looks()
    everybody_is_in = asyncio.Barrier(load.sessions)
    await asyncio.gather(*(_visit(load, number, everybody_is_in, looks) for number in range(load.sessions)))
    after = cpu_seconds(load.pid)
    if after is not None and looks.cpu_seconds is not None:
        looks.cpu_seconds = after - looks.cpu_seconds
    return looks


async def _visit(load: Load, number: int, everybody_is_in: asyncio.Barrier, looks: Looks) -> None:
    """Look once with everybody, unmeasured, then for the seconds that are measured."""
    thinking, queries = random.Random(number), load.page.queries
    try:
        async with visiting(load.address, load.page.path) as visitor:
            await visitor.show(queries[number % len(queries)], load.page.expected)
            if await everybody_is_in.wait() == 0:
                looks.cpu_seconds = cpu_seconds(load.pid)
            until = time.perf_counter() + load.seconds
            await asyncio.sleep(load.think * number / load.sessions)
            turn = number
            while time.perf_counter() < until:
                turn += 1
                shown = await visitor.show(queries[turn % len(queries)])
                looks.ms.append(1000 * shown.seconds)
                looks.messages = max(looks.messages, shown.messages)
                looks.bytes = max(looks.bytes, shown.size)
                await asyncio.sleep(load.think * thinking.uniform(0.7, 1.3))
    except VisitError as error:
        looks.errors.append(str(error))
        await everybody_is_in.abort()
    except asyncio.BrokenBarrierError:
        # Another could not come in, and has said so.
        return


if __name__ == "__main__":
    for line in sys.stdin:
        print(json.dumps(asdict(asyncio.run(look(Load.from_json(json.loads(line)))))), flush=True)
