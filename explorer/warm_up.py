"""Background work of the server: loading at its start, collecting garbage, trying example questions."""

import asyncio
import gc
import importlib
import logging
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from itertools import count

import streamlit as st

from assistant.checking.overlap import score_attribution
from assistant.generators.protocol import EXTRACTIVE
from assistant.records import AssistantError
from assistant.serving.spending import uncounted_models
from assistant.suggestions.offered import try_next_question
from corpus.errors import CorpusError
from corpus.records import Scope
from corpus.sandbox.confinement import offered_confinement, unconfined
from corpus.search.query import read_query
from explorer.app.navigation import SCREENS, loading_modules
from explorer.app.resources import has_corpus, open_library
from explorer.app.theme import remember_theme
from explorer.operating.figures import serving_metrics
from explorer.operating.health import note_loaded
from explorer.operating.stopping import finishing_jobs_first
from explorer.presenters.coverage import example_questions
from explorer.presenters.finding import Finding
from indexer.uploads.folders import sweep

logger = logging.getLogger(__name__)

FREEZE_SECONDS = 0.25
COLLECT_SECONDS = 2.0
# Only every 30th collection covers all generations, as with twenty conversations open that stops the server
# for a tenth of a second.
COLLECT_ALL = 30
YOUNG = 1
# The delay before questions are tried, and until they are tried again, as a build may have added others.
TRY_FIRST_SECONDS = 60.0
TRY_AGAIN_SECONDS = 300.0
# The server is idle if it used less than this share of a core for this long.
QUIET_SECONDS = 2.0
QUIET_SHARE = 0.1
# Modules that would otherwise be loaded by the first visitor to a page, and not be frozen.
_DRAWN_WITH = ("pandas", *(screen.module for screen in SCREENS))


@asynccontextmanager
async def lifespan(_app: st.App) -> AsyncIterator[None]:
    """Start the background tasks, so that the server answers while encoder and corpus are loaded."""
    remember_theme()
    tasks = [asyncio.create_task(_load_and_collect()), asyncio.create_task(_try_questions())]
    with serving_metrics(), finishing_jobs_first():
        yield
    for task in tasks:
        task.cancel()


async def _load_and_collect() -> None:
    """Run the warm-up, then collect garbage at intervals, mostly the young generations.

    Streamlit's own collection after every run of a screen (`runner.postScriptGC`) is off, as all other
    visitors wait for it.
    """
    await _load()
    for times in count(1):
        await asyncio.sleep(COLLECT_SECONDS)
        if times % COLLECT_ALL == 0:
            gc.collect()
        elif any(gc.get_count()[1:]):
            gc.collect(YOUNG)


async def _try_questions() -> None:
    """Try candidate example questions one at a time, so that a stopping server waits for one at most."""
    await asyncio.sleep(TRY_FIRST_SECONDS)
    while True:
        await _wait_until_idle()
        if not await asyncio.to_thread(try_question):
            await asyncio.sleep(TRY_AGAIN_SECONDS)


async def _wait_until_idle() -> None:
    """Wait until the server is idle, as answering a question takes as long as drawing a hundred screens."""
    worked = float("inf")
    while worked > QUIET_SHARE * QUIET_SECONDS:
        before = time.process_time()
        await asyncio.sleep(QUIET_SECONDS)
        worked = time.process_time() - before


def try_question() -> bool:
    """Try the next candidate example question on the current corpus; return False if there is none."""
    try:
        return has_corpus() and try_next_question(open_library().assistant(EXTRACTIVE))
    except (AssistantError, CorpusError) as error:
        logger.warning("%s", error)
        return False


async def _load() -> None:
    """Run the warm-up, freezing loaded objects so that the garbage collector skips them.

    A full collection takes half a second with the encoder's libraries loaded. Freezing already during the
    warm-up keeps collections from delaying the first question.
    """
    loading = asyncio.create_task(asyncio.to_thread(warm_up))
    while not loading.done():
        gc.freeze()
        await asyncio.wait([loading], timeout=FREEZE_SECONDS)
    gc.collect()
    gc.freeze()
    await loading
    note_loaded()


def warm_up() -> None:
    """Load the screens, open the corpus if there is one, and use encoder and scorer once."""
    with loading_modules:
        for module in _DRAWN_WITH:
            importlib.import_module(module)
    try:
        if not (offered := offered_confinement()):
            logger.warning("%s", unconfined(offered))
        library = open_library()
        sweep(library.settings.home)
        library.libraries().sweep(library.encoder)
        library.encoder.encode_query("warm up")
        library.corpus.load()
        read_query(library.corpus, "warm up")
        # The first view of the Collection screen: a tenth of a second for 100,000 passages.
        Finding(library.corpus, library.encoder, "", Scope()).papers("position", 1)
        summaries = library.corpus.collections()
        example_questions(library.corpus, [summary.collection.id for summary in summaries])
        library.corpus.statistics.sort_all()
        for entry in uncounted_models(library.settings):
            logger.warning("%s is not offered: spending is limited, and its price is not known.", entry.label)
    except (AssistantError, CorpusError) as error:
        logger.warning("%s", error)
    score_attribution("warm up", "warm up")
