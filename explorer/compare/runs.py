"""Comparisons as jobs: started, stopped, resumed, and settled when done."""

from collections.abc import Sequence

from assistant.comparing.records import WorkCall
from assistant.provenance import provenance_of
from assistant.records import AssistantError, usage_of
from assistant.serving.spending import SpendingAccount
from corpus.errors import CorpusError
from explorer.app.resources import Library, comparison_jobs, questions_limit
from explorer.app.session import CurrentComparison, Visitor, current_caller, current_owner, current_owners
from explorer.app.visitor.comparison import ComparisonSession, Order
from explorer.app.visitor.conversation import new_id
from explorer.jobs.comparison import UNKEPT, ComparisonJob, ComparisonKeeper
from explorer.jobs.rate_limit import COMPARISON_COST

STOPPED = "Stopped. What is done of it is kept."
LOST = "It does not run any more: it was stopped, or the server was. What is done of it is kept."


def begin(library: Library, visitor: Visitor, session: CurrentComparison, order: Order) -> None:
    """Start the job of a comparison, stored from its first call on; on failure show the reason."""
    session.update(ComparisonSession.refuse, "")
    try:
        price = _price(library, order)
        _account(library, visitor, order).check(price)
        with questions_limit().counting(current_caller(visitor), COMPARISON_COST):
            _start(library, visitor, session, _stored(library, visitor, session, order), price)
    except (AssistantError, CorpusError) as error:
        session.update(ComparisonSession.refuse, str(error))


def _stored(library: Library, visitor: Visitor, session: CurrentComparison, order: Order) -> ComparisonKeeper:
    """Store a new comparison and show it; if it cannot be stored, it runs all the same."""
    versions = provenance_of(library.corpus, order.writer, "").corpus
    try:
        store = library.comparisons()
        over = library.kept.id if library.kept else ""
        begun = store.start(
            current_owner(visitor), order.request, order.writer, order.parameters, versions, library=over
        )
    except AssistantError as error:
        session.update(ComparisonSession.begin, new_id(), order)
        return ComparisonKeeper(session.now.identifier, problem=f"{error} {UNKEPT}")
    session.update(ComparisonSession.begin, begun.id, order, begun.title)
    return ComparisonKeeper(begun.id, store)


def go_on(library: Library, visitor: Visitor, session: CurrentComparison) -> None:
    """Resume a stopped comparison from its recorded calls; on failure show the reason."""
    if session.now.order is None or session.now.is_running:
        return
    try:
        keeper = _keeper_of(library, visitor, session)
        account = _account(library, visitor, session.now.order)
        price = _price(library, session.now.order, keeper.recorded()) if account.on_cost else 0.0
        account.check(price)
        with questions_limit().counting(current_caller(visitor), COMPARISON_COST):
            _start(library, visitor, session, keeper, price)
    except (AssistantError, CorpusError) as error:
        session.update(ComparisonSession.refuse, str(error))


def _keeper_of(library: Library, visitor: Visitor, session: CurrentComparison) -> ComparisonKeeper:
    """Return the keeper of a stopped comparison: of the store, or of its job if it is not stored."""
    if session.now.is_kept:
        by = current_owners(visitor)
        return ComparisonKeeper(session.now.identifier, library.comparisons(), by=by)
    job = comparison_jobs().get(session.now.identifier)
    return job.keeper if job else ComparisonKeeper(session.now.identifier, problem=UNKEPT)


def _account(library: Library, visitor: Visitor, order: Order) -> SpendingAccount:
    return library.account(order.writer, current_owner(visitor), "comparison")


def _price(library: Library, order: Order, recorded: Sequence[WorkCall] = ()) -> float:
    """Return an upper bound on the price of a comparison, less the calls already made.

    Calls for elements are not subtracted: extracted elements are stored, so the plan leaves them out.
    Raises AssistantError and CorpusError.
    """
    budget = library.comparer(order.writer, order.parameters).plan(order.request).budget
    made = usage_of(work_call.call for work_call in recorded if work_call.call.step != "elements")
    return max(0.0, (budget.price or 0.0) - (made.price or 0.0))


def _start(
    library: Library, visitor: Visitor, session: CurrentComparison, keeper: ComparisonKeeper, price: float
) -> None:
    """Start the job of the session's order, with `price` reserved; raises AssistantError and CorpusError."""
    order, identifier = session.now.order, session.now.identifier
    assert order is not None, "`begin` sets it, and `go_on` requires it"
    owner = current_owner(visitor)
    job = ComparisonJob(identifier, order.request, keeper, owner)
    account = _account(library, visitor, order)
    comparer = library.comparer(order.writer, order.parameters, owner, account.on_cost)
    ledger = keeper.ledger()
    comparison_jobs().start(
        job,
        lambda: account.paying(price, lambda: comparer.compare(order.request, ledger, identifier)),
    )
    session.update(ComparisonSession.run)


def stop(session: CurrentComparison) -> None:
    """Ask the comparison to stop; the screen shows it as stopped once it has."""
    if job := comparison_jobs().get(session.now.identifier):
        job.stop()
    settle(session)


def settle(session: CurrentComparison) -> bool:
    """Move the result of a finished job into the session; return True if the job was over."""
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
