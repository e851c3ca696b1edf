"""Visitors who reload and leave in the middle of a page, each with a conversation that is theirs alone."""

import asyncio
import random
import tempfile
import time
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from assistant.records import Conversation
from assistant.storage.conversations import ConversationStore
from corpus.settings import Settings
from evaluation.bench.visitor import VisitError, connected
from explorer.app.owner import OWNER_COOKIE, OwnerTokens, owner_of, server_key
from tests.demo_home import build_demo_home
from tests.explorer.turns import make_turn
from tests.served_site import is_ready, until
from tests.torture.asking import Asking
from tests.torture.counts import Counts
from tests.torture.running_app import RunningApp, running_app

PAGES = ("ask", "ask", "collection", "paper", "compare", "reading", "about", "")
# The share of visits that end before the page can have loaded.
LEAVES, LONGEST_STAY = 0.3, 0.3
LONGEST_THOUGHT = 0.5


def reload_storm(seed: int, visitors: int, seconds: float, home: Path | None = None) -> Counts:
    """Send visitors to the app of a home, by default the demonstration's, for `seconds` seconds."""
    counts = Counts("visitors in a reload storm")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with running_app(home or build_demo_home(folder), folder) as app:
            storm = _Storm(app, counts, [_Visitor.new(app, number) for number in range(visitors)])
            asyncio.run(storm.rage(random.Random(seed), seconds))
            until(lambda: is_ready(app.address))
            _read_log(app.log.read_text(), counts)
    return counts


@dataclass(frozen=True, slots=True)
class _Visitor:
    """Whoever has the token sees the title in the list of conversations, and nobody else does."""

    token: str
    title: str

    @classmethod
    def new(cls, app: RunningApp, number: int) -> "_Visitor":
        token = OwnerTokens(server_key(app.home / "server.key"), lambda _: False).new()
        title = f"canary{number:03} of {random.Random(number).randbytes(4).hex()}"
        with closing(ConversationStore.open(Settings(conversations=app.database))) as store:
            conversation = Conversation("", title, (make_turn(f"Nobody else is told of {title}."),))
            store.put(owner_of(token), conversation, from_file=False)
        return cls(token, title)


@dataclass(frozen=True, slots=True)
class _Storm:
    app: RunningApp
    counts: Counts
    visitors: list[_Visitor]

    async def rage(self, drawn: random.Random, seconds: float) -> None:
        end = time.monotonic() + seconds
        own = [random.Random(drawn.random()) for _ in self.visitors]
        visits = (
            self.visit(visitor, choosing, end) for visitor, choosing in zip(self.visitors, own, strict=True)
        )
        await asyncio.gather(*visits)

    async def visit(self, visitor: _Visitor, drawn: random.Random, end: float) -> None:
        while time.monotonic() < end:
            page, leaves = drawn.choice(PAGES), drawn.random() < LEAVES
            stay = drawn.uniform(0.0, LONGEST_STAY) if leaves else None
            try:
                await self.look(visitor, page, stay)
            except VisitError as error:
                self.counts.note("unexplained", str(error)[:200])
            self.counts.tried += 1
            await asyncio.sleep(drawn.uniform(0.0, LONGEST_THOUGHT))

    async def look(self, visitor: _Visitor, page: str, stay: float | None) -> None:
        """Look at a page, all of it or for `stay` seconds; it may hold no title of another visitor."""
        async with connected(self.app.address, f"{OWNER_COOKIE}={visitor.token}") as connection:
            looking = Asking(connection, self.app.address, page)
            try:
                async with asyncio.timeout(stay):
                    await looking.show("")
            except TimeoutError:
                return
            finally:
                self.compare(visitor, looking.seen)
        if page == "ask" and visitor.title.encode() not in looking.seen:
            self.counts.note("lost", f"{visitor.title} is not in the list of its owner")

    def compare(self, visitor: _Visitor, seen: bytes) -> None:
        others = (owner.title for owner in self.visitors if owner is not visitor)
        self.counts.look_for(others, seen.decode(errors="replace"), f"the pages of {visitor.title}")


def _read_log(log: str, counts: Counts) -> None:
    if (place := log.find("Traceback")) >= 0:
        counts.note("unexplained", log[place:][:500])
