"""What happens once, when the server starts."""

import asyncio
import gc
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import streamlit as st

from assistant.attribution import score_attribution
from corpus.errors import CorpusError
from explorer.resources import open_library

logger = logging.getLogger(__name__)

FREEZE_SECONDS = 0.25


@asynccontextmanager
async def lifespan(_app: st.App) -> AsyncIterator[None]:
    """Let the server answer at once, and load encoder and corpus beside it."""
    loading = asyncio.create_task(_load())
    yield
    loading.cancel()


async def _load() -> None:
    """Load what every question needs, keeping the garbage collector away from it.

    Streamlit collects garbage after every run of a screen, which takes longer the more objects live: with the
    encoder's libraries half a second each time. Frozen objects are left alone; freezing while they are still
    being loaded keeps the first question from waiting for its own progress display.
    """
    loading = asyncio.create_task(asyncio.to_thread(warm_up))
    while not loading.done():
        gc.freeze()
        await asyncio.wait([loading], timeout=FREEZE_SECONDS)
    gc.collect()
    gc.freeze()
    await loading


def warm_up() -> None:
    """Open the corpus and use encoder and scorer once; without a corpus there is nothing to open yet."""
    try:
        library = open_library()
        library.encoder.encode_query("warm up")
    except CorpusError as error:
        logger.warning("%s", error)
    score_attribution("warm up", "warm up")
