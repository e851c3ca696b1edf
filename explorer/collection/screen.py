"""The Collection screen: papers found by query and filters, as a table, as cards or as a map."""

from collections.abc import Sequence
from dataclasses import replace

import streamlit as st

from assistant.storage.libraries import KeptLibrary
from corpus.records import CollectionSummary, Scope, library_collection
from corpus.wording import counted
from explorer.app.one_by_one import screens
from explorer.app.resources import Library
from explorer.app.session import Visitor, field_value, set_field
from explorer.app.visitor.session import VisitorSession
from explorer.ask.scope import ask_about, ask_within
from explorer.ask.screen import draw_examples
from explorer.collection.filters import VIEWS, Filters, clear_filters, draw_chosen, draw_facets, draw_filters
from explorer.collection.map import draw_map
from explorer.collection.overview import draw_overview
from explorer.collection.paper_list import draw_papers
from explorer.collection.restrictions import (
    Restrictions,
    current_restrictions,
    forget_former_search,
    to_first_page,
)
from explorer.collection.selection import (
    MOST_SELECTED,
    draw_select_all,
    draw_selection,
    go_to_ask,
    picked_here,
)
from explorer.collection.volumes import draw_volumes
from explorer.components.following import draw_follow, draw_news
from explorer.components.listener import listen
from explorer.components.rows import action, row
from explorer.presenters.coverage import example_questions, names_papers
from explorer.presenters.finding import Finding, Listing, Order, query_terms
from explorer.presenters.safe_text import escaped, one_line, shortened
from explorer.presenters.topics import Facet, facets_of, named_facet
from explorer.presenters.wording import collection_facts, collection_titles, format_years, menu_title
from explorer.uploads.kept import ask_kept, kept_libraries, kept_or_none

ALL, ALL_LABEL = "all", "All collections"
# With more papers the Ask screen would show too many chips.
MOST_ASKED_ABOUT = 30
PROMISE = (
    "Answers come from these papers alone: every sentence leads to the passage that carries it, and what "
    "they cannot answer is refused."
)

Summaries = tuple[CollectionSummary, ...]


def render_collection(library: Library, visitor: Visitor) -> None:
    """Draw the Collection screen."""
    if visitor.now.waiting:
        go_to_ask()
    if visitor.now.comes_from_paper:
        visitor.update(VisitorSession.read_paper, read=False)
        forget_former_search()
    was_narrow = visitor.now.narrow
    visitor.update(VisitorSession.measure, narrow=listen("width_listener", narrow=was_narrow).narrow)
    if visitor.now.narrow and not was_narrow and field_value("view") in (None, VIEWS[0]):
        # A narrow screen begins with cards.
        set_field("view", VIEWS[1])
    draw_news(library, visitor)
    shown = kept_or_none(library, visitor, st.query_params.get("collection", "")) or library
    chosen = _draw_collections(library.corpus.collections(), shown, kept_libraries(library, visitor))
    library, summaries = shown, shown.corpus.collections()
    restrictions = current_restrictions(library.corpus)
    filters = draw_filters(chosen, narrow=visitor.now.narrow)
    scope = _scope(summaries, chosen, restrictions, filters)
    finding = Finding(
        library.corpus, library.encoder, filters.query, scope, field_value("verbatim") == filters.query
    )
    listing = _listing(finding, filters.order, int(field_value("page", 1) or 1))
    draw_facets(
        filters, _facets(finding, listing), lambda: _years(finding, listing), narrow=visitor.now.narrow
    )
    draw_chosen(restrictions, filters)
    _draw_respelt(listing, filters.query)
    if restrictions == Restrictions() and not (filters.query or filters.years or filters.view == "Map"):
        _draw_beginning(library, visitor, summaries, chosen)
    if listing.total:
        name = "" if library.kept else followed_title(filters.query, scope, restrictions)
        _draw_listed(library, visitor, finding, listing, filters, name=name)
    else:
        _draw_nothing(filters, scope)
    draw_selection(library, visitor)


def _draw_collections(summaries: Summaries, shown: Library, kept: Sequence[KeptLibrary]) -> Summaries:
    """Draw the menu of collections and kept libraries, with facts; return the chosen collections."""
    titles = collection_titles(summaries)
    own_titles = {library_collection(library_.id): shortened(library_.title, 90) for library_ in kept}
    # The address holds ids; a menu bound to it would write titles, which may not be unique.
    named = st.query_params.get("collection", ALL)
    set_field("collection_menu", named if named in titles | own_titles else ALL)
    with row("what_is_shown", gap="medium"):
        picked = st.selectbox(
            "Collection",
            [ALL, *titles, *own_titles],
            format_func=lambda key: (
                own_titles.get(key) or (menu_title(titles[key]) if key in titles else ALL_LABEL)
            ),
            key="collection_menu",
            label_visibility="collapsed",
            on_change=_collection_chosen,
        )
        within = shown.corpus.collections() if shown.kept else summaries
        chosen = tuple(summary for summary in within if picked in (ALL, summary.collection.id))
        st.caption(escaped(collection_facts(chosen)))
    if named not in (ALL, *titles, *own_titles):
        st.markdown(f"There is no collection “{escaped(shortened(named, 60))}” here: all are shown.")
    if shown.kept or len(chosen) == 1 < len(summaries):
        # The menu cuts a long title.
        st.header(escaped(shown.kept.title if shown.kept else titles[picked]), anchor=False)
    if len(chosen) == 1 and chosen[0].collection.description:
        st.caption(escaped(shortened(chosen[0].collection.description, 400)))
    return chosen


def _scope(summaries: Summaries, chosen: Summaries, restrictions: Restrictions, filters: Filters) -> Scope:
    return Scope(
        collections=tuple(summary.collection.id for summary in chosen)
        if len(chosen) < len(summaries)
        else (),
        years=filters.years,
        topics=restrictions.topics,
        venues=restrictions.venues,
        authors=restrictions.authors,
        labels=restrictions.labels,
        languages=restrictions.languages,
    )


def _listing(finding: Finding, order: Order, page: int) -> Listing:
    """Return the listed papers; a search is cached in the session, so that selecting does not repeat it."""
    if not finding.is_search:
        return finding.papers(order, page)
    key, listing = field_value("last_search", (None, None))
    if key != (finding, order, page) or not isinstance(listing, Listing):
        with screens.yield_turn():
            listing = finding.papers(order, page)
        set_field("last_search", ((finding, order, page), listing))
    return listing


def _facets(finding: Finding, listing: Listing) -> tuple[Facet, ...]:
    """Return the facets of the listed papers, cached by scope if there is no search."""
    if finding.is_search:
        return _counted_facets(finding, listing)
    reads = finding.corpus.reads
    return reads.answer(("facets", finding.scope), lambda: _counted_facets(finding, listing))


def _counted_facets(finding: Finding, listing: Listing) -> tuple[Facet, ...]:
    counts, scope, within = listing.counts, finding.scope, finding.within
    topics = facets_of(scope, counts.topics, lambda wider: within(wider).counts().topics)
    venues = named_facet("venue", scope, counts.venues, lambda wider: within(wider).counts().venues)
    labels = named_facet("label", scope, counts.labels, lambda wider: within(wider).counts().labels)
    languages = named_facet(
        "language", scope, counts.languages, lambda wider: within(wider).counts().languages
    )
    return (*topics, *venues, *labels, *languages)


def _years(finding: Finding, listing: Listing) -> dict[int, int]:
    """Count the papers of each year, including years that are not chosen."""
    scope = finding.scope
    if not scope.years:
        return dict(listing.counts.years)
    wider = replace(scope, years=None)
    return dict(finding.within(wider).counts().years)


def _draw_beginning(library: Library, visitor: Visitor, summaries: Summaries, chosen: Summaries) -> None:
    """Draw the volumes, and example questions for a visitor who has asked none."""
    shows_volumes = len(chosen) == len(summaries) > 1
    collection_ids = tuple(summary.collection.id for summary in chosen)
    has_asked = bool(visitor.now.turns or visitor.now.job_id)
    examples = () if has_asked else example_questions(library.corpus, collection_ids)[:3]
    if not shows_volumes and not examples:
        return
    with row("beginning", gap="large", align="top"):
        before = st.container() if shows_volumes and not visitor.now.narrow else None
        if examples:
            with st.container():
                st.markdown("**Ask these papers**")
                st.caption(PROMISE)
                draw_examples(visitor, examples, collection_ids if len(chosen) < len(summaries) else ())
        if shows_volumes:
            with before or st.container():
                draw_volumes(summaries, narrow=visitor.now.narrow)


def _draw_respelt(listing: Listing, query: str) -> None:
    """Draw the corrected words of the query, with a button to search for it as typed."""
    if not listing.respelt:
        return
    corrected = ", ".join(f"**{escaped(shortened(word.read, 60))}**" for word in listing.respelt)
    typed = ", ".join(f"“{escaped(shortened(word.asked, 60))}”" for word in listing.respelt)
    with row("respelt"):
        st.markdown(f"Showing results for {corrected}.", width="content")
        action(f"Search for {typed}", "search_verbatim", set_field, "verbatim", query)


def _draw_listed(
    library: Library,
    visitor: Visitor,
    finding: Finding,
    listing: Listing,
    filters: Filters,
    *,
    name: str,
) -> None:
    """Draw the listed papers, with a button to follow the search under `name` unless that is ""."""
    draw_overview(finding, narrow=visitor.now.narrow)
    with row("listed"):
        _draw_count(library, visitor, finding, listing, filters)
        if name:
            draw_follow(library, visitor, name, finding.query.strip(), finding.scope)
    if filters.view == "Map":
        draw_map(visitor, finding, listing.found)
        return
    draw_papers(visitor, listing.papers, query_terms(listing.searched_for), as_cards=filters.view == "Cards")
    if listing.pages > 1:
        st.pagination(listing.pages, key="page", bind="query-params")


def _draw_count(
    library: Library, visitor: Visitor, finding: Finding, listing: Listing, filters: Filters
) -> None:
    """Draw the number of listed papers, with buttons to select them and to ask them."""
    best_first = finding.is_search and filters.order == "relevance" and filters.view != "Map"
    matching = " matches" if listing.total == 1 else " match"
    st.caption(
        f"{counted(listing.total, 'paper')}{matching if finding.is_search else ''}"
        f"{', best first' if best_first else ''}",
        width="content",
    )
    if filters.view != "Map" and (listing.total <= MOST_SELECTED or names_papers(finding.scope)):
        draw_select_all(
            visitor,
            "select_listed",
            listing.total,
            lambda: finding.ids(filters.order, MOST_SELECTED),
            already=listing.total <= len(picked_here(visitor, library)),
        )
    if library.kept:
        _draw_ask_library(library.kept, visitor, finding, listing)
    else:
        _draw_ask_filtered(visitor, finding, listing)


def followed_title(query: str, scope: Scope, restrictions: Restrictions) -> str:
    """Return the title of a followed search, "" for a list without restrictions."""
    if not (query.strip() or names_papers(scope)):
        return ""
    parts = [f"“{one_line(query)}”"] if query.strip() else []
    parts += [label for _, _, label in restrictions.labelled()]
    parts += [format_years(scope.years)] if scope.years else []
    return shortened(" · ".join((*parts, *scope.collections)), 180)


def _draw_ask_filtered(visitor: Visitor, finding: Finding, listing: Listing) -> None:
    """Draw the button that asks a collection, the papers of a filter, or the results of a small search."""
    scope = finding.scope
    is_few = listing.total <= MOST_ASKED_ABOUT
    if not (is_few if finding.is_search else names_papers(scope) or scope.collections):
        return
    is_whole = not (finding.is_search or names_papers(scope))
    papers = "this paper" if listing.total == 1 else f"these {listing.total:,} papers"
    subject = "this collection" if is_whole else papers
    if st.button(f"Ask {subject}", key="ask_filtered", type="tertiary", icon=":material/forum:"):
        if finding.is_search:
            ask_about(visitor, finding.ids("relevance", MOST_ASKED_ABOUT))
        else:
            ask_within(visitor, scope)
        go_to_ask()


def _draw_ask_library(kept: KeptLibrary, visitor: Visitor, finding: Finding, listing: Listing) -> None:
    """Draw the button that asks a kept library, or the listed papers of it if they are few."""
    is_whole = not (finding.is_search or names_papers(finding.scope))
    if not is_whole and listing.total > MOST_ASKED_ABOUT:
        return
    papers = "this paper" if listing.total == 1 else f"these {listing.total:,} papers"
    label = f"Ask {'this library' if is_whole else papers}"
    if st.button(label, key="ask_filtered", type="tertiary", icon=":material/forum:"):
        if is_whole:
            ask_kept(visitor, kept.id)
        else:
            ask_about(
                visitor, finding.ids("relevance" if finding.is_search else "position", MOST_ASKED_ABOUT)
            )
        go_to_ask()


def _draw_nothing(filters: Filters, scope: Scope) -> None:
    with st.container(border=True, key="nothing"):
        if filters.query.strip():
            st.markdown(f"No paper here matches “{escaped(shortened(filters.query, 80))}”.")
        elif scope.authors and not (scope.topics or scope.venues or scope.years):
            names = " or ".join(escaped(shortened(author, 80)) for author in scope.authors)
            st.markdown(f"No paper here is by {names}.")
        elif scope.topics or scope.venues or scope.authors or scope.labels or scope.languages:
            st.markdown("No paper here is about all of this.")
        else:
            st.markdown("No paper lies in these years.")
        st.button(
            "Clear the filters",
            key="clear_filters",
            type="primary",
            on_click=clear_filters,
            args=(filters.span,),
        )


def _collection_chosen() -> None:
    to_first_page()
    chosen = field_value("collection_menu")
    if chosen == ALL:
        st.query_params.pop("collection", None)
    else:
        st.query_params["collection"] = chosen
