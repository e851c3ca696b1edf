"""Comparisons of API programs: started within the limits of their key, streamed, stopped, deleted."""

import asyncio
from collections.abc import AsyncGenerator
from dataclasses import dataclass
from functools import partial
from typing import Literal

from fastapi import Request
from starlette.concurrency import run_in_threadpool

from assistant.comparing.records import Comparison
from assistant.provenance import provenance_of
from assistant.records import AssistantError
from assistant.serving.comparisons import ComparisonDocument, comparison_document
from assistant.serving.operations import NotFoundError, check_papers, check_writer
from assistant.serving.requests import CompareRequest
from assistant.storage.comparisons import ComparisonStore, StoredComparison
from corpus.settings import read_settings
from explorer.api.errors import Problem, in_store
from explorer.api.keys import Program, counting_question
from explorer.api.slots import Slots, thread_of
from explorer.api.streams import EventStream, LimitedStream, as_event
from explorer.app.base_path import base_path
from explorer.app.resources import comparison_jobs, open_library
from explorer.jobs.comparison import ComparisonJob, ComparisonKeeper, ComparisonView
from explorer.jobs.rate_limit import COMPARISON_COST
from explorer.jobs.runner import is_ending

LOOK_SECONDS = 0.25
UNKEPT = "It has no trail: read its text from its status within an hour of its end."
_streams = Slots()
State = Literal["waiting", "running", "stopping", "stopped", "failed", "finished"]


@dataclass(frozen=True, slots=True)
class ComparisonStatus:
    """The state and the result of a comparison; `message` describes what went wrong."""

    id: str
    state: State
    message: str
    texts_read: int
    rounds_finished: int
    calls: int
    planned_calls: int
    trail: str
    comparison: ComparisonDocument | None


class ProgramComparison(ComparisonJob):
    """A comparison that an API program has started."""

    crash_message = (
        "Paper Trail itself failed on this comparison. Begin it again; if it happens again, tell whoever "
        "runs this server to look for {reference} in its log."
    )


def begin(form: CompareRequest, program: Program) -> ComparisonStatus:
    """Start a comparison, stored from its first call on; raises AssistantError and CorpusError."""
    library, requested = open_library(), form.comparison()
    check_writer(library.writers(), form.writer)
    check_papers(library.corpus, form.papers)
    account = library.account(form.writer, program.owner, "comparison")
    comparer = library.comparer(form.writer, None, program.owner, account.on_cost)
    price = comparer.plan(requested).budget.price or 0.0
    account.check(price)
    store = in_store(library.comparisons)
    versions = provenance_of(library.corpus, form.writer, "").corpus
    with counting_question(program, COMPARISON_COST):
        identifier = in_store(lambda: store.start(program.owner, requested, form.writer, None, versions)).id
        keeper = ComparisonKeeper(identifier, store, unkept=UNKEPT)
        job = ProgramComparison(identifier, requested, keeper, program.owner)
        try:
            compare = partial(comparer.compare, requested, keeper.ledger(), identifier)
            comparison_jobs().start(job, lambda: account.paying(price, compare))
        except AssistantError:
            in_store(lambda: store.delete(identifier))
            raise
    return _of_view(identifier, job.view())


def status(identifier: str, program: Program) -> ComparisonStatus:
    """Return the status of a program's own comparison; raises NotFoundError."""
    store = _owned(identifier, program)
    if job := comparison_jobs().get(identifier):
        return _of_view(identifier, job.view())
    return _of_stored(_read(store, identifier))


def stop(identifier: str, program: Program) -> ComparisonStatus:
    """Stop a program's own comparison, and return its status; raises NotFoundError."""
    _owned(identifier, program)
    if job := comparison_jobs().get(identifier):
        job.stop()
    return status(identifier, program)


def finished(identifier: str, program: Program) -> Comparison:
    """Return a program's own finished comparison; raises NotFoundError, also for an unfinished one."""
    comparison = _read(_owned(identifier, program), identifier).comparison
    if comparison is None:
        raise NotFoundError("This comparison is not finished, so it has no trail yet. Ask for its status.")
    return comparison


def delete(identifier: str, program: Program) -> None:
    """Stop and delete a program's own comparison; raises NotFoundError."""
    store = _owned(identifier, program)
    comparison_jobs().forget(identifier)
    in_store(lambda: store.delete(identifier))


async def events(request: Request, identifier: str, program: Program) -> LimitedStream:
    """Stream each change of a comparison, which goes on if the client disconnects."""
    with thread_of(program):
        await run_in_threadpool(_owned, identifier, program)
    settings = read_settings()
    limits = settings.api_streams_per_key, settings.api_streams
    return LimitedStream(EventStream(_lines(request, identifier, program)), _streams, program.owner, limits)


async def _lines(request: Request, identifier: str, program: Program) -> AsyncGenerator[str, None]:
    before = None
    # When the process ends, clients find the comparison at the next process.
    while not (is_ending.is_set() or await request.is_disconnected()):
        now = await run_in_threadpool(status, identifier, program)
        if now.state == "failed":
            yield as_event("error", Problem(502, "model_failed", now.message).document)
            return
        if now.state in ("finished", "stopped"):
            yield as_event("compared" if now.comparison else "stopped", now)
            return
        if now != before:
            yield as_event("progress", now)
        before = now
        await asyncio.sleep(LOOK_SECONDS)


def _of_view(identifier: str, view: ComparisonView) -> ComparisonStatus:
    comparison = view.comparison
    return ComparisonStatus(
        id=identifier,
        state=view.state,
        message=view.error or view.problem,
        texts_read=len(view.elements),
        rounds_finished=len(view.rounds),
        calls=view.working.calls if view.working else 0,
        planned_calls=view.planned.budget.calls if view.planned else 0,
        trail=_trail(identifier) if comparison and not view.problem else "",
        comparison=comparison_document(comparison) if comparison else None,
    )


def _of_stored(stored: StoredComparison) -> ComparisonStatus:
    """Return the status of a comparison without a job: finished, or stopped with the server."""
    comparison = stored.comparison
    return ComparisonStatus(
        id=stored.id,
        state="finished" if comparison else "stopped",
        message=stored.error,
        texts_read=sum(element.label > 0 for element in comparison.elements) if comparison else 0,
        rounds_finished=len(comparison.rounds) if comparison else 0,
        calls=len(comparison.calls) if comparison else 0,
        planned_calls=0,
        trail=_trail(stored.id) if comparison else "",
        comparison=comparison_document(comparison) if comparison else None,
    )


def _trail(identifier: str) -> str:
    return f"{base_path()}/api/v1/comparisons/{identifier}/trail"


def _owned(identifier: str, program: Program) -> ComparisonStore:
    """Return the store if it has the comparison and the program owns it; raises NotFoundError."""
    store = in_store(open_library().comparisons)
    if not program.owns(in_store(lambda: store.owner_of(identifier))):
        raise NotFoundError("Your key has begun no such comparison.")
    return store


def _read(store: ComparisonStore, identifier: str) -> StoredComparison:
    stored = in_store(lambda: store.get(identifier))
    if stored is None:
        raise NotFoundError("This comparison has been deleted.")
    return stored
