"""A comparison begun, stopped, gone on with and taken out of its worker again."""

from assistant.provenance import provenance_of
from assistant.records import AssistantError
from corpus.errors import CorpusError
from explorer.app import (
    ComparisonSession,
    CurrentComparison,
    Library,
    Order,
    Visitor,
    comparison_jobs,
    current_caller,
    current_owner,
    new_id,
    questions_limit,
)
from explorer.jobs import COMPARISON_COST, UNKEPT, ComparisonJob, ComparisonKeeper

STOPPED = "Stopped. What is done of it is kept."
LOST = "It does not run any more: it was stopped, or the server was. What is done of it is kept."


def begin(library: Library, visitor: Visitor, session: CurrentComparison, order: Order) -> None:
    """Give a comparison to a worker, stored from its first call on; or say why it cannot begin."""
    session.update(ComparisonSession.refuse, "")
    try:
        comparer = library.comparer(order.writer, order.parameters, current_owner(visitor))
        comparer.plan(order.request)
        questions_limit().take(current_caller(visitor), COMPARISON_COST)
    except (AssistantError, CorpusError) as error:
        session.update(ComparisonSession.refuse, str(error))
        return
    _start(library, visitor, session, order, _stored(library, visitor, session, order))


def _stored(library: Library, visitor: Visitor, session: CurrentComparison, order: Order) -> ComparisonKeeper:
    """Put a comparison into the store and on the screen; where it cannot be stored it runs all the same."""
    versions = provenance_of(library.corpus, order.writer, "").corpus
    try:
        store = library.comparisons()
        begun = store.start(current_owner(visitor), order.request, order.writer, order.parameters, versions)
    except AssistantError as error:
        session.update(ComparisonSession.begin, new_id(), order)
        return ComparisonKeeper(session.now.identifier, problem=f"{error} {UNKEPT}")
    session.update(ComparisonSession.begin, begun.id, order, begun.title)
    return ComparisonKeeper(begun.id, store)


def go_on(library: Library, visitor: Visitor, session: CurrentComparison) -> None:
    """Have a stopped comparison go on from what is done of it; or say why it cannot."""
    if session.now.order is None or session.now.is_running:
        return
    try:
        questions_limit().take(current_caller(visitor), COMPARISON_COST)
        keeper = _keeper_of(library, session)
    except AssistantError as error:
        session.update(ComparisonSession.refuse, str(error))
        return
    _start(library, visitor, session, session.now.order, keeper)


def _keeper_of(library: Library, session: CurrentComparison) -> ComparisonKeeper:
    """Return what keeps a comparison that goes on: in the store, or in the memory of its job before."""
    if session.now.is_kept:
        return ComparisonKeeper(session.now.identifier, library.comparisons())
    job = comparison_jobs().get(session.now.identifier)
    return job.keeper if job else ComparisonKeeper(session.now.identifier, problem=UNKEPT)


def _start(
    library: Library, visitor: Visitor, session: CurrentComparison, order: Order, keeper: ComparisonKeeper
) -> None:
    identifier = session.now.identifier
    job = ComparisonJob(identifier, order.request, keeper, current_owner(visitor))
    try:
        comparer = library.comparer(order.writer, order.parameters, current_owner(visitor))
        ledger = keeper.ledger()
        comparison_jobs().start(job, lambda: comparer.compare(order.request, ledger, identifier))
    except (AssistantError, CorpusError) as error:
        session.update(ComparisonSession.refuse, str(error))
        return
    session.update(ComparisonSession.run)


def may_stop(visitor: Visitor, session: CurrentComparison) -> bool:
    """Return True if the comparison is the visitor's own, or was set going by them."""
    job = comparison_jobs().get(session.now.identifier)
    return not session.now.is_anothers or (job is not None and job.starter == current_owner(visitor))


def stop(session: CurrentComparison) -> None:
    """Tell the comparison to stop; the screen follows when it has."""
    if job := comparison_jobs().get(session.now.identifier):
        job.stop()
    settle(session)


def settle(session: CurrentComparison) -> bool:
    """Take a comparison that is over out of its job; return True if it was."""
    if not session.now.is_running:
        return False
    job = comparison_jobs().get(session.now.identifier)
    if job is None:
        session.update(ComparisonSession.refuse, LOST)
        return True
    view = job.view()
    if not view.is_over:
        return False
    failure = {"stopped": STOPPED, "failed": view.error}.get(view.state, "")
    session.update(ComparisonSession.settle, view, failure)
    return True
