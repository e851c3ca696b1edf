"""A comparison begun, stopped, gone on with and taken out of its worker again."""

from assistant.provenance import provenance_of
from assistant.records import AssistantError
from corpus.errors import CorpusError
from explorer.comparing.desk import Desk, Order, new_identifier
from explorer.comparing.jobs import ComparisonJob
from explorer.comparing.keeping import UNKEPT, Keeper
from explorer.parts.allowance import COMPARISON_COST
from explorer.reader import Reader, current_owner
from explorer.resources import Library, allowance, comparison_jobs

STOPPED = "Stopped. What is done of it is kept."
LOST = "It does not run any more: it was stopped, or the server was. What is done of it is kept."


def begin(library: Library, reader: Reader, desk: Desk, order: Order) -> None:
    """Give a comparison to a worker, stored from its first call on; or say why it cannot begin."""
    desk.failure = ""
    try:
        comparer = library.comparer(order.writer, order.parameters, current_owner(reader))
        comparer.plan(order.request)
        allowance(library.settings).take(current_owner(reader), COMPARISON_COST)
    except (AssistantError, CorpusError) as error:
        desk.failure = str(error)
        return
    _start(library, reader, desk, order, _stored(library, reader, desk, order))


def _stored(library: Library, reader: Reader, desk: Desk, order: Order) -> Keeper:
    """Put a comparison into the store and on the desk; where it cannot be stored it runs all the same."""
    versions = provenance_of(library.corpus, order.writer, "").corpus
    try:
        store = library.comparisons()
        begun = store.start(current_owner(reader), order.request, order.writer, order.parameters, versions)
    except AssistantError as error:
        desk.turn_to(new_identifier(), order)
        return Keeper(desk.identifier, problem=f"{error} {UNKEPT}")
    desk.turn_to(begun.id, order)
    desk.title, desk.is_kept = begun.title, True
    return Keeper(begun.id, store)


def go_on(library: Library, reader: Reader, desk: Desk) -> None:
    """Have a stopped comparison go on from what is done of it; or say why it cannot."""
    if desk.order is None or desk.is_running:
        return
    try:
        keeper = _keeper_of(library, desk)
    except AssistantError as error:
        desk.failure, desk.can_go_on = str(error), True
        return
    _start(library, reader, desk, desk.order, keeper)


def _keeper_of(library: Library, desk: Desk) -> Keeper:
    """Return what keeps a comparison that goes on: in the store, or in the memory of its job before."""
    if desk.is_kept:
        return Keeper(desk.identifier, library.comparisons())
    job = comparison_jobs().get(desk.identifier)
    return job.keeper if job else Keeper(desk.identifier, problem=UNKEPT)


def _start(library: Library, reader: Reader, desk: Desk, order: Order, keeper: Keeper) -> None:
    identifier = desk.identifier
    job = ComparisonJob(identifier, order.request, keeper, current_owner(reader))
    try:
        comparer = library.comparer(order.writer, order.parameters, current_owner(reader))
        journal = keeper.journal()
        comparison_jobs().start(job, lambda: comparer.compare(order.request, journal, identifier))
    except (AssistantError, CorpusError) as error:
        desk.failure, desk.can_go_on = str(error), True
        return
    desk.is_running, desk.failure, desk.view = True, "", None


def may_stop(reader: Reader, desk: Desk) -> bool:
    """Tell whether the comparison is the reader's own, or was set going by them."""
    job = comparison_jobs().get(desk.identifier)
    return not desk.is_anothers or (job is not None and job.starter == current_owner(reader))


def stop(desk: Desk) -> None:
    """Tell the comparison to stop; the screen follows when it has."""
    if job := comparison_jobs().get(desk.identifier):
        job.stop()
    settle(desk)


def settle(desk: Desk) -> bool:
    """Take a comparison that is over out of its job; tell whether it was."""
    if not desk.is_running:
        return False
    job = comparison_jobs().get(desk.identifier)
    if job is None:
        desk.is_running, desk.failure = False, LOST
        return True
    view = job.view()
    if not view.is_over:
        return False
    desk.is_running, desk.view, desk.comparison = False, view, view.comparison
    desk.notes = (view.problem,) if view.problem else ()
    desk.failure = {"stopped": STOPPED, "failed": view.error}.get(view.state, "")
    return True
