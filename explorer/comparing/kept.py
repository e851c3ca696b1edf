"""Stored comparisons: found by their address, listed in the left drawer, renamed, deleted."""

from functools import partial

import streamlit as st

from assistant.comparing.admission import MOST_PAPERS
from assistant.comparing.store import StoredComparison
from assistant.comparing.transcript import comparison_from_json
from assistant.records import AssistantError
from explorer.comparing.address import papers_in_address, papers_of_address
from explorer.comparing.desk import Desk, Order
from explorer.parts.shelf import MOST_LISTED, Entry, Shelf, draw_shelf, is_id, text_of
from explorer.parts.soundness import fault_of
from explorer.parts.wording import counted, day
from explorer.reader import Reader, check_own, current_owner, is_anothers
from explorer.resources import Library, comparison_jobs

ADDRESS, PAPERS = "comparison", "papers"
ANOTHERS = (
    "This comparison was begun in another browser. You can read it and go on with it; only there can it be "
    "renamed, stopped or deleted."
)


def follow_address(library: Library, reader: Reader, desk: Desk) -> None:
    """Take the comparison and the papers that the address names, unless this visit has followed it before.

    The address follows the screen with a delay: after a click that leaves a comparison it still names it.
    """
    papers = st.query_params.get(PAPERS, "")
    if papers and papers not in desk.visited:
        desk.visited.add(papers)
        known = library.corpus.papers_by_id(papers_of_address(papers)[: 2 * MOST_PAPERS])
        desk.papers = ()
        desk.add([paper.id for paper in known])
    named = st.query_params.get(ADDRESS, "")
    if named and named not in desk.visited:
        open_comparison(library, reader, desk, named)


def address_of(desk: Desk) -> dict[str, str]:
    """Return what the page's address is to name: the comparison, or the papers while they are chosen."""
    identifier = desk.missing_id or (desk.identifier if desk.is_kept else "")
    papers = papers_in_address(desk.papers) if desk.state == "choosing" else ""
    desk.visited |= {identifier, papers}
    return {ADDRESS: identifier, PAPERS: papers}


def open_comparison(library: Library, reader: Reader, desk: Desk, identifier: str) -> None:
    """Show a stored comparison as far as it has come; or say that there is none."""
    # Before the store is read: one that is completed in between is then found in it.
    is_running = comparison_jobs().is_running(identifier)
    desk.turn_to(identifier, None)
    try:
        store = library.comparisons()
        stored = store.get(identifier) if is_id(identifier) else None
        if stored is None:
            desk.missing_id = identifier
            return
        desk.is_anothers = is_anothers(store, reader, identifier)
        desk.is_imported = store.is_imported(identifier)
        desk.recorded = 0 if stored.comparison else len(store.calls(identifier))
    except AssistantError as error:
        desk.notes = (str(error),)
        return
    _show(desk, stored)
    desk.is_running = is_running and not stored.comparison


def _show(desk: Desk, stored: StoredComparison) -> None:
    """Put a stored comparison on the desk; of one that cannot be drawn, how it was ordered."""
    desk.order = Order(stored.request, stored.generator, stored.parameters)
    desk.title, desk.is_kept = stored.title, True
    desk.comparison, desk.failure = stored.comparison, stored.error
    if stored.comparison and (fault := fault_of(stored.comparison)):
        desk.comparison, desk.can_go_on = None, False
        desk.failure = f"This comparison cannot be shown: {fault}."


def draw_missing(desk: Desk) -> None:
    """Say that the address leads to no comparison."""
    with st.container(border=True, key="missing_comparison"):
        st.markdown("No comparison is at this address. It may have been deleted, or the link is not whole.")
        st.button("Begin a new one", type="primary", key="begin_new", on_click=desk.choose_anew)


def draw_sidebar(library: Library, reader: Reader, desk: Desk) -> None:
    """Draw the left drawer: this browser's comparisons, the one last changed first."""
    draw_shelf(shelf_of(library, reader, desk))


def shelf_of(library: Library, reader: Reader, desk: Desk) -> Shelf:
    """Return the comparisons of a reader as a shelf."""
    return Shelf(
        ADDRESS,
        mark="_comparison",
        now=desk,
        identifier=desk.identifier,
        is_new=desk.state == "choosing",
        begin_new=desk.choose_anew,
        list=partial(_entries, library, reader),
        open=partial(open_comparison, library, reader, desk),
        rename=partial(_rename, library, reader),
        delete=partial(delete, library, reader, desk),
        take_in=partial(import_comparison, library, reader, desk),
        nothing="Nothing yet. What you compare is kept here, for this browser.",
        shared="Whoever has this link can read the comparison and go on with it. Only this browser "
        "can rename, stop or delete it.",
        surely="Delete this comparison for good?",
        imported="A comparison that was downloaded as JSON becomes one of yours.",
    )


def _entries(library: Library, reader: Reader) -> list[Entry]:
    return [
        Entry(
            one.id,
            one.title,
            f"{counted(one.papers, 'paper')} · {day(one.updated)}",
            " · unfinished" if one.state == "unfinished" else "",
        )
        for one in library.comparisons().list(current_owner(reader), MOST_LISTED)
    ]


def import_comparison(library: Library, reader: Reader, desk: Desk, data: bytes) -> None:
    """Store a comparison from a file as the reader's own and show it; or keep what is wrong with it."""
    try:
        read = comparison_from_json(text_of(data))
        if fault := fault_of(read):
            raise AssistantError(f"This comparison cannot be shown: {fault}.")
        stored = library.comparisons().put(current_owner(reader), read)
    except AssistantError as error:
        desk.import_problem = str(error)
        return
    desk.turn_to(stored.id, None)
    _show(desk, stored)
    desk.is_imported = True


def _rename(library: Library, reader: Reader, identifier: str, title: str) -> None:
    check_own(library.comparisons(), reader, identifier)
    library.comparisons().rename(identifier, title)


def delete(library: Library, reader: Reader, desk: Desk) -> None:
    """Delete the comparison that is open, and stop it where it runs; raises AssistantError for another's."""
    if desk.is_kept:
        check_own(library.comparisons(), reader, desk.identifier)
    if job := comparison_jobs().get(desk.identifier):
        job.stop()
    if desk.is_kept:
        library.comparisons().delete(desk.identifier)
    desk.choose_again()
