"""The Reading screen: papers to read, what is followed, and the papers on which there are notes."""

from collections.abc import Mapping, Sequence

import streamlit as st

from assistant.annotations import Annotation
from assistant.exports.registry import REFERENCE_FORMATS
from assistant.records import AssistantError
from assistant.storage.reading import ListedPaper
from corpus.records import Paper
from corpus.wording import counted, short_authors
from explorer.app.navigation import COLLECTION, PAPER, link_to
from explorer.app.resources import Library
from explorer.app.session import Visitor, current_owner
from explorer.app.visitor.session import VisitorSession
from explorer.components.downloads import draw_downloads
from explorer.components.following import followed_arrivals, see, unfollow
from explorer.components.reading_list import listed_papers, unlist
from explorer.components.rows import action, row
from explorer.presenters.arrivals import Arrivals
from explorer.presenters.safe_text import escaped, shortened

TITLE_LENGTH, MOST_NEW, MOST_NOTED = 160, 20, 200


def render_reading(library: Library, visitor: Visitor) -> None:
    """Draw the Reading screen."""
    st.title("Reading", anchor=False)
    listed, followed = listed_papers(library, visitor), followed_arrivals(library, visitor)
    noted = _noted(library, visitor)
    # Also of what could not be read just now.
    if problem := visitor.now.notes_problem:
        st.caption(escaped(problem))
        visitor.update(VisitorSession.fail_to_keep, "")
    if not (listed or followed or noted):
        if problem:
            return
        _draw_nothing()
        return
    ids = (
        *(one.paper_id for one in listed),
        *noted,
        *(id for one in followed for id in one.papers[:MOST_NEW]),
    )
    papers = {one.id: one for one in library.corpus.papers_by_id(tuple(dict.fromkeys(ids)))}
    if followed:
        _draw_followed(library, visitor, followed, papers)
    if listed:
        _draw_list(library, visitor, listed, papers)
    if noted:
        _draw_noted(noted, papers)


def _draw_nothing() -> None:
    with st.container(border=True, key="nothing_kept"):
        st.markdown(
            "Nothing yet. Put a paper here with “Read later”, follow a search or an author on the Collection "
            "screen, or mark sentences while you read. Only you see it."
        )
        link_to(COLLECTION, "Go to the collection", icon=":material/arrow_forward:", query_params={})


def _draw_list(
    library: Library, visitor: Visitor, listed: Sequence[ListedPaper], papers: Mapping[str, Paper]
) -> None:
    with row("list_head"):
        unread = sum(not one.read for one in listed)
        st.header(f"To read :gray[{unread:,}]" if unread else "Reading list", anchor=False, width="content")
        held = tuple(papers[one.paper_id] for one in listed if one.paper_id in papers)
        with (
            st.popover("Export", icon=":material/download:", type="tertiary", key="export_list"),
            st.container(key="downloads_list", gap=None),
        ):
            draw_downloads(REFERENCE_FORMATS, lambda: held, "list")
    with st.container(key="listed_papers", gap="small"):
        for number, one in enumerate(listed):
            if one.read and (number == 0 or not listed[number - 1].read):
                st.caption("Read")
            _draw_listed(library, visitor, one, papers.get(one.paper_id))


def _draw_listed(library: Library, visitor: Visitor, one: ListedPaper, paper: Paper | None) -> None:
    with st.container(key=f"title_link_listed_{one.paper_id}", gap="xxsmall"):
        _draw_title(one.paper_id, one.title, paper)
        with row(f"listed_foot_{one.paper_id}", gap="small"):
            if paper:
                when = " · ".join(filter(None, (short_authors(paper.authors), str(paper.year or ""))))
                st.caption(escaped(shortened(when, 80)), width="content")
            name = "Not read yet" if one.read else "Mark as read"
            action(name, f"read_{one.paper_id}", _mark_read, library, visitor, one)
            action("Remove", f"unlist_{one.paper_id}", unlist, library, visitor, one.paper_id)


def _draw_title(paper_id: str, title: str, paper: Paper | None) -> None:
    if paper is None:
        st.markdown(f"{escaped(shortened(title, TITLE_LENGTH))} :gray[not in this corpus any more]")
        return
    link_to(
        PAPER,
        escaped(shortened(paper.title, TITLE_LENGTH)) or "Untitled",
        query_params={"id": paper_id},
    )


def _draw_followed(
    library: Library, visitor: Visitor, followed: Sequence[Arrivals], papers: Mapping[str, Paper]
) -> None:
    with row("followed_head"):
        st.header("Followed", anchor=False, width="content")
        if any(one.papers for one in followed):
            action("Mark all as seen", "see_all", see, library, visitor)
    with st.container(key="followed", gap="small"):
        for one in sorted(followed, key=lambda found: not found.papers):
            _draw_one_followed(library, visitor, one, papers)


def _draw_one_followed(
    library: Library, visitor: Visitor, one: Arrivals, papers: Mapping[str, Paper]
) -> None:
    name = one.kept.id[:16]
    with st.container(key=f"followed_{name}", gap="xxsmall"):
        with row(f"followed_foot_{name}", gap="small"):
            label = escaped(shortened(one.kept.record.title, 120))
            link_to(COLLECTION, label, query_params=address_of(one))
            news = counted(len(one.papers), "new paper") if one.papers else "nothing new"
            st.caption(f"**{news}**" if one.papers else news, width="content")
            if one.papers:
                action("Mark as seen", f"see_{name}", see, library, visitor, one.kept.id)
            action("Stop following", f"unfollow_{name}", unfollow, library, visitor, one.kept.id)
        with st.container(key=f"similar_new_{name}", gap="xxsmall"):
            for paper_id in one.papers[:MOST_NEW]:
                if paper := papers.get(paper_id):
                    _draw_title(paper_id, paper.title, paper)


def address_of(one: Arrivals) -> dict[str, str | list[str]]:
    """Return the parameters under which the Collection screen lists what is followed."""
    scope = one.kept.record.scope
    named: dict[str, Sequence[str]] = {
        "q": (one.kept.record.query,) if one.kept.record.query else (),
        "collection": scope.collections if len(scope.collections) == 1 else (),
        "topic": scope.topics,
        "venue": scope.venues,
        "author": scope.authors,
        "label": scope.labels,
        "language": scope.languages,
        "years": tuple(map(str, scope.years or ())),
    }
    return {name: list(values) for name, values in named.items() if values}


def _noted(library: Library, visitor: Visitor) -> dict[str, list[Annotation]]:
    """Return the visitor's notes by the papers that they are on, the paper last written on first."""
    try:
        notes = library.reading().annotations(current_owner(visitor))
    except AssistantError as error:
        visitor.update(VisitorSession.fail_to_keep, str(error))
        return {}
    found: dict[str, list[Annotation]] = {}
    for one in sorted((kept.record for kept in notes), key=lambda note: note.changed, reverse=True):
        found.setdefault(one.paper_id, []).append(one)
    return dict(list(found.items())[:MOST_NOTED])


def _draw_noted(noted: Mapping[str, Sequence[Annotation]], papers: Mapping[str, Paper]) -> None:
    st.header("Papers with notes", anchor=False)
    with st.container(key="noted_papers", gap="small"):
        for paper_id, notes in noted.items():
            with st.container(key=f"title_link_noted_{paper_id}", gap="xxsmall"):
                _draw_title(paper_id, notes[0].paper_title, papers.get(paper_id))
                first = next((one.note for one in notes if one.note), "")
                written = sum(bool(one.note) for one in notes)
                counts = (("note", written), ("highlight", len(notes) - written))
                said = [*(counted(count, name) for name, count in counts if count), shortened(first, 140)]
                st.caption(escaped(" · ".join(filter(None, said))))


def _mark_read(library: Library, visitor: Visitor, one: ListedPaper) -> None:
    try:
        library.reading().mark_read(current_owner(visitor), one.paper_id, read=not one.read)
    except AssistantError as error:
        visitor.update(VisitorSession.fail_to_keep, str(error))
