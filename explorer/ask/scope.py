"""The scope of the next questions: set by other screens and by the address, and written to the address."""

from collections.abc import Sequence
from urllib.parse import urlencode

import streamlit as st

from assistant.bounds import LONGEST_QUESTION
from corpus.records import CollectionSummary, Scope
from corpus.store.corpus import Corpus
from corpus.wording import counted
from explorer.app.resources import Library
from explorer.app.session import Visitor, set_field
from explorer.app.visitor.session import VisitorSession
from explorer.ask.choices import filter_labels
from explorer.presenters.coverage import collections_in, names_papers
from explorer.presenters.map_places import groups_of
from explorer.presenters.overview import frequent_topics
from explorer.presenters.safe_text import escaped, one_line, shortened
from explorer.presenters.wording import collection_titles, menu_title
from explorer.uploads.kept import follow_library_address
from explorer.uploads.visit import ask_collection, ask_place_of

COLLECTION, PAPER, QUESTION, LIBRARY = "collection", "paper", "question", "library"
# Some programs cut long addresses.
MOST_NAMED = 30
COLLECTIONS_SHOWN = 6
GROUPS_SHOWN = 5
NOT_HERE = "What this link names is not here. Choose above where to look."
PARTLY_HERE = "Some of what this link names is not here. The rest of it is chosen above."


def ask_about(visitor: Visitor, paper_ids: tuple[str, ...]) -> None:
    """Restrict the next questions to some papers."""
    ask_place_of(visitor, paper_ids)
    visitor.update(VisitorSession.look_in, paper_ids)
    set_field("scope_documents" if visitor.now.asks_own else "scope_papers", list(paper_ids))
    set_field("scope_collections", [])


def ask_within(visitor: Visitor, scope: Scope) -> None:
    """Restrict the next questions to the papers of a filter."""
    ask_collection(visitor)
    visitor.update(VisitorSession.look_in, (), scope)
    set_field("scope_filter", list(filter_labels(scope)))
    set_field("scope_collections", list(scope.collections))


def follow_link(library: Library, visitor: Visitor) -> None:
    """Set the scope that the address names, once a visit, and put its question into the box.

    Only collections and papers of the corpus can be named, not uploads. The question is not sent:
    whoever made the link is not the one who asks.
    """
    kept = st.query_params.get(LIBRARY, "")
    if kept and kept not in (visitor.now.library_id, *visitor.now.visited):
        visitor.update(VisitorSession.visit, kept)
        if problem := follow_library_address(library, visitor, kept):
            visitor.update(VisitorSession.note, problem, *visitor.now.notes)
    named = {name: st.query_params.get(name, "") for name in (COLLECTION, PAPER, QUESTION)}
    link = _link(named)
    if not link or link in visitor.now.visited:
        return
    visitor.update(VisitorSession.visit, link)
    collections, papers = _listed(named[COLLECTION]), _listed(named[PAPER])
    corpus = library.corpus
    paper_ids = {paper.id for paper in corpus.papers_by_id(papers)}
    known_papers = tuple(paper for paper in papers if paper in paper_ids)
    known_collections = tuple(name for name in collections if name in corpus.collection_ids())
    if known_papers:
        ask_about(visitor, known_papers)
    elif known_collections:
        ask_within(visitor, Scope(collections=known_collections))
    if (known_collections, known_papers) != (collections, papers):
        note = PARTLY_HERE if known_collections or known_papers else NOT_HERE
        visitor.update(VisitorSession.note, note, *visitor.now.notes)
    if question := one_line(named[QUESTION])[:LONGEST_QUESTION]:
        set_field("question_box", question)


def scope_address(visitor: Visitor, scope: Scope) -> dict[str, str]:
    """Return the address parameters of a scope, and mark them as visited."""
    parameters = {COLLECTION: "", PAPER: "", QUESTION: "", LIBRARY: visitor.now.library_id}
    if not visitor.now.asks_own and len(scope.papers) <= MOST_NAMED:
        parameters |= {COLLECTION: ",".join(scope.collections), PAPER: ",".join(scope.papers)}
    visitor.update(VisitorSession.visit, *filter(None, [visitor.now.library_id, _link(parameters)]))
    return parameters


def draw_covered(corpus: Corpus, visitor: Visitor, scope: Scope) -> None:
    """Draw the collections, map groups and frequent topics of a scope."""
    with st.container(key="scope_covered", gap="xxsmall"):
        if not names_papers(scope):
            _draw_collections(visitor, collections_in(corpus.collections(), scope))
        if groups := groups_of(corpus.statistics.places(scope), corpus.statistics.clusters())[:GROUPS_SHOWN]:
            st.markdown("**Groups of similar papers**")
            lines = (f"- {escaped(group.label)} :gray[{counted(group.papers, 'paper')}]" for group in groups)
            st.markdown("\n".join(lines))
        if topics := frequent_topics(corpus, scope):
            st.markdown("**Often about**")
            st.markdown("\n".join(f"- {name}: {escaped(', '.join(keys))}" for name, keys in topics))


def _draw_collections(visitor: Visitor, summaries: Sequence[CollectionSummary]) -> None:
    """Draw a button per collection that asks it alone; a single collection is described."""
    if len(summaries) == 1:
        st.markdown(f"**{escaped(summaries[0].collection.title)}**")
        if description := summaries[0].collection.description:
            st.caption(escaped(shortened(description, 300)))
        return
    st.markdown(f"**{counted(len(summaries), 'collection')}**")
    titles = collection_titles(tuple(summaries))
    with st.container(key="covered_collections", gap=None):
        for number, summary in enumerate(summaries[:COLLECTIONS_SHOWN], start=1):
            title = escaped(menu_title(titles[summary.collection.id]))
            st.button(
                f"{title} :gray[{counted(summary.papers, 'paper')}]",
                key=f"ask_collection_{number}",
                type="tertiary",
                help="Ask this collection alone",
                on_click=ask_within,
                args=(visitor, Scope(collections=(summary.collection.id,))),
            )
    if len(summaries) > COLLECTIONS_SHOWN:
        st.caption(f"And {len(summaries) - COLLECTIONS_SHOWN:,} more, under “Look in”.")


def _link(named: dict[str, str]) -> str:
    return urlencode({name: value for name, value in named.items() if value})


def _listed(value: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(filter(None, value.split(","))))[:MOST_NAMED]
