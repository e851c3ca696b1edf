"""Stored comparisons: opened by address, listed in the sidebar, renamed, deleted, imported."""

from collections.abc import Iterable
from dataclasses import replace
from functools import partial
from urllib.parse import quote, unquote

import streamlit as st

from assistant.comparing.admission import MOST_PAPERS
from assistant.records import AssistantError
from assistant.storage.comparisons import StoredComparison
from assistant.storage.reading import keep_notes
from corpus.wording import counted
from explorer.app.imports import library_of_import, read_comparison_file
from explorer.app.resources import Library, comparison_jobs, documents_limit
from explorer.app.session import (
    CurrentComparison,
    Visitor,
    current_caller,
    current_owner,
    delete_stored,
    is_anothers,
    rename_stored,
)
from explorer.app.visitor.comparison import ComparisonSession, Order
from explorer.components.sidebar_list import MOST_LISTED, Entry, SidebarList, draw_sidebar_list, is_id
from explorer.presenters.import_validation import fault_of
from explorer.presenters.wording import day
from explorer.uploads.kept import check_may_read, library_of_papers

ADDRESS, PAPERS = "comparison", "papers"
# Characters of ids that need no percent-encoding; commas separate ids.
_AS_IT_IS = "/:._-~"
LONGEST_ADDRESS = 8_000
ANOTHERS = (
    "This comparison was begun in another browser. You can read it and go on with it; only there can it be "
    "renamed, stopped or deleted."
)


def follow_address(library: Library, visitor: Visitor, session: CurrentComparison) -> None:
    """Open the comparison and choose the papers that the address names, once a visit.

    The address lags behind the screen: after a click that leaves a comparison it still names it.
    """
    papers = st.query_params.get(PAPERS, "")
    if papers and papers not in session.now.visited:
        session.update(ComparisonSession.visit, papers)
        paper_ids = papers_of_address(papers)[: 2 * MOST_PAPERS]
        papers_here = library_of_papers(library, visitor, paper_ids).corpus.papers_by_id(paper_ids)
        session.update(ComparisonSession.replace_papers, [paper.id for paper in papers_here])
    named = st.query_params.get(ADDRESS, "")
    if named and named not in session.now.visited:
        open_comparison(library, visitor, session, named)


def address_of(session: CurrentComparison) -> dict[str, str]:
    """Return the address parameters: the comparison, or the papers while they are being chosen."""
    identifier = session.now.missing_id or (session.now.identifier if session.now.is_kept else "")
    papers = papers_in_address(session.now.papers) if session.now.state == "choosing" else ""
    session.update(ComparisonSession.visit, identifier, papers)
    return {ADDRESS: identifier, PAPERS: papers}


def papers_in_address(paper_ids: Iterable[str]) -> str:
    return ",".join(quote(paper_id, safe=_AS_IT_IS) for paper_id in paper_ids)


def papers_of_address(address: str) -> tuple[str, ...]:
    """Return the distinct ids that an address names, none if it is too long."""
    if len(address) > LONGEST_ADDRESS:
        return ()
    named = (unquote(part) for part in address.split(","))
    return tuple(dict.fromkeys(paper_id for paper_id in named if paper_id))


def open_comparison(library: Library, visitor: Visitor, session: CurrentComparison, identifier: str) -> None:
    """Show a stored comparison, finished, running or stopped; note an error or a missing one."""
    # Looked up before the store is read: a comparison that completes in between is then in the store.
    is_running = bool(comparison_jobs().under_way(identifier))
    session.update(ComparisonSession.turn_to, identifier, None)
    try:
        store = library.comparisons()
        stored = store.get(identifier) if is_id(identifier) else None
        if stored is None:
            session.update(ComparisonSession.miss, identifier)
            return
        check_may_read(library, visitor, store.library_of(identifier))
        session.update(
            ComparisonSession.set_origin,
            is_anothers=is_anothers(store, visitor, identifier),
            is_imported=store.is_imported(identifier),
        )
        session.update(ComparisonSession.record, 0 if stored.comparison else len(store.calls(identifier)))
    except AssistantError as error:
        session.update(ComparisonSession.note, str(error))
        return
    _show(session, stored)
    if is_running and not stored.comparison:
        session.update(ComparisonSession.run)


def _show(session: CurrentComparison, stored: StoredComparison) -> None:
    """Show a stored comparison; if its text cannot be drawn, only how it was ordered."""
    order = Order(stored.request, stored.generator, stored.parameters)
    session.update(ComparisonSession.show, order, stored.title, stored.comparison, stored.error)
    if stored.comparison and (fault := fault_of(stored.comparison)):
        session.update(ComparisonSession.show_damaged, f"This comparison cannot be shown: {fault}.")


def draw_sidebar(library: Library, visitor: Visitor, session: CurrentComparison) -> None:
    """Draw the sidebar: this browser's comparisons, the one last changed first."""
    draw_sidebar_list(sidebar_list_of(library, visitor, session))


def sidebar_list_of(library: Library, visitor: Visitor, session: CurrentComparison) -> SidebarList:
    """Return the list of a visitor's comparisons."""
    return SidebarList(
        ADDRESS,
        mark="_comparison",
        item=session,
        identifier=session.now.identifier,
        is_new=session.now.state == "choosing",
        begin_new=session.updating(ComparisonSession.choose_anew),
        list=partial(_entries, library, visitor),
        open=partial(open_comparison, library, visitor, session),
        rename=partial(rename_stored, library.comparisons, visitor),
        delete=partial(delete, library, visitor, session),
        import_file=partial(import_comparison, library, visitor, session),
        empty_note="Nothing yet. What you compare is kept here, for this browser.",
        link_note="Whoever has this link can read the comparison and go on with it. Only this browser "
        "can rename, stop or delete it.",
        confirmation="Delete this comparison for good?",
        import_note="A comparison that was downloaded as JSON becomes one of yours.",
        imports=library.settings.uploads,
    )


def _entries(library: Library, visitor: Visitor) -> list[Entry]:
    return [
        Entry(
            summary.id,
            summary.title,
            f"{counted(summary.papers, 'paper')} · {day(summary.updated)}",
            " · unfinished" if summary.state == "unfinished" else "",
        )
        for summary in library.comparisons().list(current_owner(visitor), MOST_LISTED)
    ]


def import_comparison(library: Library, visitor: Visitor, session: CurrentComparison, data: bytes) -> None:
    """Store a comparison from a file as the visitor's own and show it; or show why it is refused."""
    try:
        documents_limit().take(current_caller(visitor))
        read = read_comparison_file(visitor, data)
        if fault := fault_of(read):
            raise AssistantError(f"This comparison cannot be shown: {fault}.")
        over = library_of_import(library, visitor, read)
        owner, store = current_owner(visitor), library.comparisons()
        stored = store.put(owner, replace(read, notes=()), over)
        keep_notes(library.reading(), owner, read, store, stored.id)
    except AssistantError as error:
        session.update(ComparisonSession.refuse_import, str(error))
        return
    session.update(ComparisonSession.turn_to, stored.id, None)
    _show(session, stored)
    session.update(ComparisonSession.set_origin, is_imported=True)


def delete(library: Library, visitor: Visitor, session: CurrentComparison) -> None:
    """Stop and delete the open comparison; raises AssistantError if it is another visitor's."""
    store, identifier = library.comparisons() if session.now.is_kept else None, session.now.identifier
    delete_stored(store, visitor, identifier, comparison_jobs().get(identifier))
    session.update(ComparisonSession.choose_again)
