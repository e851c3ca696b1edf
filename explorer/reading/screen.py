"""The Reading screen: the reading list, followed searches, and papers with notes."""

from collections.abc import Mapping, Sequence

import streamlit as st

from assistant.annotations import Annotation
from assistant.exports.registry import REFERENCE_FORMATS
from assistant.storage.reading import ListedPaper
from corpus.records import Paper
from corpus.wording import counted, short_authors
from explorer.app.navigation import COLLECTION, PAPER, link_to
from explorer.app.resources import Library
from explorer.app.session import FailureNote, Visitor, current_owner
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
    # After the stores were read, as reading them may fail.
    if problem := visitor.now.notes_problem:
        st.caption(escaped(problem))
        visitor.update(VisitorSession.fail_to_keep, "")
    if not (listed or followed or noted):
        if problem:
            return
        _draw_nothing()
        return
    ids = (
        *(entry.paper_id for entry in listed),
        *noted,
        *(paper_id for arrived in followed for paper_id in arrived.papers[:MOST_NEW]),
    )
    papers = {paper.id: paper for paper in library.corpus.papers_by_id(tuple(dict.fromkeys(ids)))}
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
        unread = sum(not entry.read for entry in listed)
        st.header(f"To read :gray[{unread:,}]" if unread else "Reading list", anchor=False, width="content")
        here = tuple(papers[entry.paper_id] for entry in listed if entry.paper_id in papers)
        with (
            st.popover("Export", icon=":material/download:", type="tertiary", key="export_list"),
            st.container(key="downloads_list", gap=None),
        ):
            draw_downloads(REFERENCE_FORMATS, lambda: here, "list")
    with st.container(key="listed_papers", gap="small"):
        for number, entry in enumerate(listed):
            if entry.read and (number == 0 or not listed[number - 1].read):
                st.caption("Read")
            _draw_listed(library, visitor, entry, papers.get(entry.paper_id))


def _draw_listed(library: Library, visitor: Visitor, entry: ListedPaper, paper: Paper | None) -> None:
    with st.container(key=f"title_link_listed_{entry.paper_id}", gap="xxsmall"):
        _draw_title(entry.paper_id, entry.title, paper)
        with row(f"listed_foot_{entry.paper_id}", gap="small"):
            if paper:
                when = " · ".join(filter(None, (short_authors(paper.authors), str(paper.year or ""))))
                st.caption(escaped(shortened(when, 80)), width="content")
            name = "Not read yet" if entry.read else "Mark as read"
            action(name, f"read_{entry.paper_id}", _mark_read, library, visitor, entry)
            action("Remove", f"unlist_{entry.paper_id}", unlist, library, visitor, entry.paper_id)


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
        if any(arrived.papers for arrived in followed):
            action("Mark all as seen", "see_all", see, library, visitor)
    with st.container(key="followed", gap="small"):
        for arrived in sorted(followed, key=lambda arrived: not arrived.papers):
            _draw_one_followed(library, visitor, arrived, papers)


def _draw_one_followed(
    library: Library, visitor: Visitor, arrived: Arrivals, papers: Mapping[str, Paper]
) -> None:
    name = arrived.kept.id[:16]
    with st.container(key=f"followed_{name}", gap="xxsmall"):
        with row(f"followed_foot_{name}", gap="small"):
            label = escaped(shortened(arrived.kept.record.title, 120))
            link_to(COLLECTION, label, query_params=address_of(arrived))
            news = counted(len(arrived.papers), "new paper") if arrived.papers else "nothing new"
            st.caption(f"**{news}**" if arrived.papers else news, width="content")
            if arrived.papers:
                action("Mark as seen", f"see_{name}", see, library, visitor, arrived.kept.id)
            action("Stop following", f"unfollow_{name}", unfollow, library, visitor, arrived.kept.id)
        with st.container(key=f"similar_new_{name}", gap="xxsmall"):
            for paper_id in arrived.papers[:MOST_NEW]:
                if paper := papers.get(paper_id):
                    _draw_title(paper_id, paper.title, paper)


def address_of(arrived: Arrivals) -> dict[str, str | list[str]]:
    """Return the address parameters of a followed search on the Collection screen."""
    scope = arrived.kept.record.scope
    named: dict[str, Sequence[str]] = {
        "q": (arrived.kept.record.query,) if arrived.kept.record.query else (),
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
    """Return the visitor's notes by paper id, the paper with the latest note first."""
    by_paper: dict[str, list[Annotation]] = {}
    with FailureNote(visitor):
        notes = [kept.record for kept in library.reading().annotations(current_owner(visitor))]
        for note in sorted(notes, key=lambda note: note.changed, reverse=True):
            by_paper.setdefault(note.paper_id, []).append(note)
    return dict(list(by_paper.items())[:MOST_NOTED])


def _draw_noted(noted: Mapping[str, Sequence[Annotation]], papers: Mapping[str, Paper]) -> None:
    st.header("Papers with notes", anchor=False)
    with st.container(key="noted_papers", gap="small"):
        for paper_id, notes in noted.items():
            with st.container(key=f"title_link_noted_{paper_id}", gap="xxsmall"):
                _draw_title(paper_id, notes[0].paper_title, papers.get(paper_id))
                first = next((note.note for note in notes if note.note), "")
                written = sum(bool(note.note) for note in notes)
                counts = (("note", written), ("highlight", len(notes) - written))
                facts = [*(counted(count, name) for name, count in counts if count), shortened(first, 140)]
                st.caption(escaped(" · ".join(filter(None, facts))))


def _mark_read(library: Library, visitor: Visitor, entry: ListedPaper) -> None:
    with FailureNote(visitor):
        library.reading().mark_read(current_owner(visitor), entry.paper_id, read=not entry.read)
