"""Work at the start of the server, and beside the screens while it runs."""

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
from explorer.app.resources import Library, has_corpus, open_library
from explorer.app.theme import remember_theme
from explorer.operating.figures import serving_metrics
from explorer.operating.health import note_loaded
from explorer.operating.stopping import ending_answers_first
from explorer.presenters.coverage import example_questions
from explorer.presenters.finding import Finding
from indexer.uploads.folders import sweep

logger = logging.getLogger(__name__)

FREEZE_SECONDS = 0.25
COLLECT_SECONDS = 2.0
# Only every 30th collection covers all generations: twenty conversations are 100,000 objects, and everybody
# waits a tenth of a second.
COLLECT_ALL = 30
YOUNG = 1
# Before questions are tried, when a server's first visitors come; and until a build may have brought others.
TRY_FIRST_SECONDS = 60.0
TRY_AGAIN_SECONDS = 300.0
# For so long a process has hardly worked when nobody is served, a tenth of one core.
QUIET_SECONDS = 2.0
QUIET_SHARE = 0.1
# Modules that the first visitor to a page would wait for, and the garbage collector scan from then on.
_DRAWN_WITH = ("pandas", *(screen.module for screen in SCREENS))


@asynccontextmanager
async def lifespan(_app: st.App) -> AsyncIterator[None]:
    """Let the server answer at once, and load encoder and corpus beside it."""
    remember_theme()
    beside = asyncio.create_task(_load_and_collect())
    trying = asyncio.create_task(_try_questions())
    with serving_metrics(), ending_answers_first():
        yield
    beside.cancel()
    trying.cancel()


async def _load_and_collect() -> None:
    """Load what every question needs, and then collect garbage now and then, mostly what is young.

    Streamlit would collect it after every run of a screen (`runner.postScriptGC`), while all other visitors
    wait; without that it would pile up.
    """
    await _load()
    for times in count(1):
        await asyncio.sleep(COLLECT_SECONDS)
        if times % COLLECT_ALL == 0:
            gc.collect()
        elif any(gc.get_count()[1:]):
            gc.collect(YOUNG)


async def _try_questions() -> None:
    """Try the questions that may be offered, one at a time: a server that ends waits for one at most."""
    await asyncio.sleep(TRY_FIRST_SECONDS)
    while True:
        await _quiet()
        if not await asyncio.to_thread(try_question):
            await asyncio.sleep(TRY_AGAIN_SECONDS)


async def _quiet() -> None:
    """Wait until nobody is served: answering a question takes what a hundred screens take."""
    worked = float("inf")
    while worked > QUIET_SHARE * QUIET_SECONDS:
        before = time.process_time()
        await asyncio.sleep(QUIET_SECONDS)
        worked = time.process_time() - before


def try_question() -> bool:
    """Try the next question that may be offered on the corpus as it is now; return False for none."""
    try:
        return has_corpus() and try_next_question(open_library().assistant(EXTRACTIVE))
    except (AssistantError, CorpusError) as error:
        logger.warning("%s", error)
        return False


async def _load() -> None:
    """Load what every question needs, keeping the garbage collector away from it.

    Looking for garbage takes longer the more objects live: with the encoder's libraries half a second each
    time. Frozen objects are left alone; freezing while they are still being loaded keeps the first question
    from waiting for its own progress display.
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
        _list_all(library)
        library.corpus.statistics.sort_all()
        for entry in uncounted_models(library.settings):
            logger.warning("%s is not offered: spending is limited, and its price is not known.", entry.label)
    except (AssistantError, CorpusError) as error:
        logger.warning("%s", error)
    score_attribution("warm up", "warm up")


def _list_all(library: Library) -> None:
    """Count and sort what the Collection screen begins with: a tenth of a second for 100,000 passages."""
    collections = library.corpus.collections()
    Finding(library.corpus, library.encoder, "", Scope()).papers("position", 1)
    example_questions(library.corpus, tuple(one.collection.id for one in collections))
