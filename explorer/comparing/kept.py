"""Stored comparisons: found by their address, listed in the left drawer, renamed, deleted."""

import re

import streamlit as st

from assistant.comparing.admission import MOST_PAPERS
from assistant.comparing.store import ComparisonSummary, StoredComparison
from assistant.comparing.transcript import comparison_from_json
from assistant.records import AssistantError
from explorer.conversations import LARGEST_IMPORT_MB, text_of
from explorer.desk import Desk, Order
from explorer.parts.comparison_address import papers_in_address, papers_of_address
from explorer.parts.safe_text import escaped, shortened
from explorer.parts.soundness import fault_of
from explorer.parts.wording import counted, day
from explorer.reader import Reader, current_owner
from explorer.resources import Library, comparison_jobs

ADDRESS, PAPERS = "comparison", "papers"
LISTED = 20
MOST_LISTED = 200
LONGEST_TITLE = 120

_ID = re.compile(r"[A-Za-z0-9_-]{1,64}")


def follow_address(library: Library, desk: Desk) -> None:
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
        open_comparison(library, desk, named)


def address_of(desk: Desk) -> dict[str, str]:
    """Return what the page's address is to name: the comparison, or the papers while they are chosen."""
    identifier = desk.missing_id or (desk.identifier if desk.is_kept else "")
    papers = papers_in_address(desk.papers) if desk.state == "choosing" else ""
    desk.visited |= {identifier, papers}
    return {ADDRESS: identifier, PAPERS: papers}


def open_comparison(library: Library, desk: Desk, identifier: str) -> None:
    """Show a stored comparison as far as it has come; or say that there is none."""
    # Before the store is read: one that is completed in between is then found in it.
    is_running = comparison_jobs().is_running(identifier)
    desk.turn_to(identifier, None)
    try:
        stored = library.comparisons().get(identifier) if _ID.fullmatch(identifier) else None
        recorded = len(library.comparisons().calls(identifier)) if stored and not stored.comparison else 0
    except AssistantError as error:
        desk.notes = (str(error),)
        return
    if stored is None:
        desk.missing_id = identifier
        return
    _show(desk, stored)
    desk.recorded, desk.is_running = recorded, is_running and not stored.comparison


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
    with st.sidebar, st.container(key="comparisons", gap="xsmall"):
        st.subheader("Comparisons", anchor=False)
        st.button(
            "New comparison",
            icon=":material/add:",
            key="new_comparison",
            type="tertiary",
            disabled=desk.state == "choosing",
            on_click=desk.choose_anew,
        )
        try:
            listed = library.comparisons().list(current_owner(reader), MOST_LISTED)
        except AssistantError as error:
            st.caption(escaped(str(error)))
            return
        _draw_list(library, desk, listed)
        _draw_import(library, reader, desk)


def _draw_list(library: Library, desk: Desk, listed: tuple[ComparisonSummary, ...]) -> None:
    if not listed:
        st.caption("Nothing yet. What you compare is kept here, for this browser.")
    shown = listed if st.session_state.get("list_all_comparisons") else listed[:LISTED]
    for one in shown:
        if one.id == desk.identifier:
            _draw_current(library, desk, one)
        else:
            st.button(
                _label(one),
                key=f"open_{one.id}",
                type="tertiary",
                width="stretch",
                on_click=open_comparison,
                args=(library, desk, one.id),
            )
    if len(listed) > LISTED:
        st.toggle(f"Show all {len(listed)}", key="list_all_comparisons", persist_state="session")


def _label(one: ComparisonSummary) -> str:
    unfinished = " · unfinished" if one.state == "unfinished" else ""
    return (escaped(shortened(one.title, 70)) or "Without a title") + unfinished


def _draw_current(library: Library, desk: Desk, one: ComparisonSummary) -> None:
    """Draw the comparison that is open, with what can be done with it."""
    with st.container(key="current_comparison", gap="xxsmall"):
        st.markdown(f"**{_label(one)}**")
        with st.container(horizontal=True, vertical_alignment="center", gap="xsmall"):
            st.caption(f"{counted(one.papers, 'paper')} · {day(one.updated)}", width="content")
            with st.popover("More", type="tertiary", key="comparison_more"):
                _draw_rename(library, desk)
                st.caption("Whoever has this link can read, go on with and delete the comparison:")
                st.code(f"{_page_address()}?{ADDRESS}={desk.identifier}", language=None, wrap_lines=True)
                draw_deletion(library, desk, "drawer")


def _page_address() -> str:
    return str(st.context.url or "").partition("?")[0]


def _draw_rename(library: Library, desk: Desk) -> None:
    with st.form("rename_comparison_form", border=False):
        key = f"new_comparison_title_{desk.opened}"
        st.text_input("Title", value=desk.title, max_chars=LONGEST_TITLE, key=key)
        st.form_submit_button("Rename", key="rename_comparison", on_click=_rename, args=(library, desk, key))


def _rename(library: Library, desk: Desk, key: str) -> None:
    title = " ".join(str(st.session_state.get(key) or "").split())
    if not title:
        return
    try:
        library.comparisons().rename(desk.identifier, title)
    except AssistantError as error:
        desk.notes = (str(error),)
        return
    desk.title = title


def draw_deletion(library: Library, desk: Desk, place: str) -> None:
    """Offer to delete the comparison, and ask once: it cannot be had back."""
    if not desk.wants_deletion:
        st.button("Delete this comparison", key=f"delete_{place}", type="tertiary",
                  icon=":material/delete:", on_click=_want_deletion, args=(desk, True))  # fmt: skip
        return
    st.markdown("Delete this comparison for good?")
    with st.container(horizontal=True):
        st.button(
            "Delete", key=f"delete_surely_{place}", type="primary", on_click=delete, args=(library, desk)
        )
        st.button("Keep", key=f"delete_not_{place}", on_click=_want_deletion, args=(desk, False))


def _draw_import(library: Library, reader: Reader, desk: Desk) -> None:
    with st.popover("Import", icon=":material/upload:", type="tertiary", key="import_comparison_menu"):
        st.caption("A comparison that was downloaded as JSON becomes one of yours.")
        # Another key is an empty field.
        key = f"import_comparison_{desk.opened}"
        st.file_uploader(
            "Comparison",
            type="json",
            key=key,
            max_upload_size=LARGEST_IMPORT_MB,
            label_visibility="collapsed",
            on_change=_take_import,
            args=(library, reader, desk, key),
        )
        if desk.import_problem:
            st.caption(escaped(desk.import_problem))


def _take_import(library: Library, reader: Reader, desk: Desk, key: str) -> None:
    if file := st.session_state.get(key):
        import_comparison(library, reader, desk, file.getvalue())


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


def _want_deletion(desk: Desk, wanted: bool) -> None:
    desk.wants_deletion = wanted


def delete(library: Library, desk: Desk) -> None:
    """Delete the comparison that is open, and stop it where it runs."""
    if job := comparison_jobs().get(desk.identifier):
        job.stop()
    try:
        if desk.is_kept:
            library.comparisons().delete(desk.identifier)
    except AssistantError as error:
        desk.notes, desk.wants_deletion = (str(error),), False
        return
    desk.choose_again()
