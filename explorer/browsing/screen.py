"""The Collection screen: what is there, found by words, year and order, as a table or as cards."""

from dataclasses import dataclass
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from assistant.comparing.admission import FEWEST_PAPERS
from corpus.records import CollectionSummary, Scope
from explorer.asking.screen import ask_about, ask_within, draw_examples, papers_picked
from explorer.browsing.facets import chosen_topics, clear_topics, draw_chosen, draw_facets, draw_facets_folded
from explorer.browsing.paper_list import draw_papers
from explorer.comparing.desk import current_desk
from explorer.navigation import ASK, COMPARE
from explorer.parts.examples import example_questions
from explorer.parts.finding import (
    ORDER_NAMES,
    ORDERS,
    Listing,
    Order,
    count_topics,
    list_papers,
    query_terms,
    year_range,
)
from explorer.parts.listener import listen
from explorer.parts.safe_text import escaped, shortened
from explorer.parts.topics import facets_of
from explorer.parts.wording import collection_facts, collection_titles, counted
from explorer.reader import Reader
from explorer.resources import Library

ALL = "all"
VIEWS = ("Table", "Cards")


@dataclass(frozen=True, slots=True)
class Filters:
    """What is chosen above the list, and the place where topics are chosen, which needs the list."""

    query: str
    order: Order
    view: str
    years: tuple[int, int] | None
    place_of_topics: DeltaGenerator


def render_collection(library: Library, reader: Reader) -> None:
    """Draw the Collection screen."""
    if reader.waiting_question:
        _go_to_ask()
    _measure(reader)
    summaries = library.corpus.collections()
    chosen = _draw_collections(summaries)
    topics = chosen_topics(library.corpus.topic_counts())
    if not topics:
        _draw_welcome(library, reader, summaries, chosen)
    filters = _draw_filters(reader, chosen)
    scope = Scope(
        collections=tuple(one.collection.id for one in chosen) if len(chosen) < len(summaries) else (),
        years=filters.years,
        topics=topics,
    )
    page = int(st.session_state.get("page", 1) or 1)
    listing = list_papers(
        library.corpus, library.encoder, filters.query, scope, order=filters.order, page=page
    )
    with filters.place_of_topics:
        _draw_topics(library, reader, filters.query, scope, listing)
    draw_chosen(topics)
    _draw_listing(reader, listing, filters, scope)
    _draw_picked(reader)


def _measure(reader: Reader) -> None:
    """Take a narrow screen for a phone, which begins with cards."""
    was, reader.narrow = reader.narrow, listen("width_listener", narrow=reader.narrow).narrow
    if reader.narrow and not was and st.session_state.get("view") in (None, VIEWS[0]):
        st.session_state["view"] = VIEWS[1]


def _draw_collections(summaries: tuple[CollectionSummary, ...]) -> tuple[CollectionSummary, ...]:
    """Draw the menu of collections with what they hold; return the chosen ones."""
    titles = collection_titles(summaries)
    # The address is what counts: bound to it, the menu would write titles there, which need not be unique.
    wanted = st.query_params.get("collection", ALL)
    st.session_state["collection_menu"] = wanted if wanted in titles else ALL
    menu, facts = st.columns([0.5, 0.5], gap="medium", vertical_alignment="center")
    with menu:
        picked = st.selectbox(
            "Collection",
            [ALL, *titles],
            format_func=lambda one: titles.get(one, "All collections"),
            key="collection_menu",
            label_visibility="collapsed",
            on_change=_collection_chosen,
        )
    chosen = tuple(one for one in summaries if picked in (ALL, one.collection.id))
    with facts:
        st.caption(escaped(collection_facts(chosen)))
    if len(chosen) == 1 and chosen[0].collection.description:
        st.markdown(escaped(shortened(chosen[0].collection.description, 400)))
    return chosen


def _draw_welcome(
    library: Library,
    reader: Reader,
    summaries: tuple[CollectionSummary, ...],
    chosen: tuple[CollectionSummary, ...],
) -> None:
    """Draw questions to begin with, for a visitor who has neither asked nor searched."""
    if reader.turns or reader.job_id or st.session_state.get("q") or st.query_params.get("q"):
        return
    held = tuple(one.collection.id for one in chosen)
    examples = example_questions(library.corpus, held)[:3]
    if examples:
        st.markdown("**Ask these papers.** Each sentence of the answer leads to the passage that carries it.")
        draw_examples(reader, examples, held if len(chosen) < len(summaries) else ())


def _draw_filters(reader: Reader, chosen: tuple[CollectionSummary, ...]) -> Filters:
    """Draw search, order, view and years: in one row, or on a phone behind one button."""
    if reader.narrow:
        query = _draw_search()
        with st.popover("Filter and sort", icon=":material/tune:", width="stretch", key="filters_popover"):
            return Filters(query, _draw_order(query), _draw_view(), _draw_years(chosen), st.container())
    with st.container(horizontal=True, vertical_alignment="bottom", key="filters"):
        query = _draw_search()
        order, view, years = _draw_order(query), _draw_view(), _draw_years(chosen)
    return Filters(query, order, view, years, st.container())


def _draw_topics(library: Library, reader: Reader, query: str, scope: Scope, listing: Listing) -> None:
    """Draw the topics of what is listed, to be chosen from."""
    facets = facets_of(
        scope, listing.topics, lambda wider: count_topics(library.corpus, library.encoder, query, wider)
    )
    draw = draw_facets_folded if reader.narrow else draw_facets
    draw(facets, scope.topics)


def _draw_search() -> str:
    query = st.text_input(
        "Search titles, abstracts and texts",
        key="q",
        bind="query-params",
        live="300ms",
        type="search",
        placeholder="Search titles, abstracts and texts",
        label_visibility="collapsed",
        icon=":material/search:",
        on_change=_first_page,
    )
    return str(query or "")


def _draw_order(query: str) -> Order:
    orders = [one for one in ORDERS if query or one != "relevance"]
    chosen = st.selectbox(
        "Sort",
        orders,
        label_visibility="collapsed",
        format_func=lambda one: ORDER_NAMES[one],
        key="sort" if query else "order",
        bind="query-params",
        width=220,
        on_change=_first_page,
    )
    return chosen if chosen in ORDERS else orders[0]


def _draw_view() -> str:
    view = st.segmented_control(
        "Show as",
        VIEWS,
        # A phone's first view is set beforehand; a second default beside it would be a warning in the log.
        default=None if "view" in st.session_state else VIEWS[0],
        required=True,
        key="view",
        bind="query-params",
        label_visibility="collapsed",
        on_change=_first_page,
    )
    return str(view or VIEWS[0])


def _draw_years(chosen: tuple[CollectionSummary, ...]) -> tuple[int, int] | None:
    first = min((one.first_year for one in chosen if one.first_year), default=None)
    last = max((one.last_year for one in chosen if one.last_year), default=None)
    if first is None or last is None or first == last:
        return None
    years: Any = st.slider(
        "Year", first, last, (first, last), key="years", bind="query-params", width=260, on_change=_first_page
    )
    return year_range(first, last, years)


def _draw_listing(reader: Reader, listing: Listing, filters: Filters, scope: Scope) -> None:
    if not listing.total:
        _draw_nothing(filters.query, scope)
        return
    _draw_count(reader, listing, filters.query, scope)
    draw_papers(reader, listing.papers, query_terms(filters.query), as_cards=filters.view == "Cards")
    if listing.pages > 1:
        with st.container(horizontal_alignment="center"):
            st.pagination(listing.pages, key="page", bind="query-params")


def _draw_count(reader: Reader, listing: Listing, query: str, scope: Scope) -> None:
    """Say how many papers are listed, and offer to ask them where a filter says which they are."""
    is_search = bool(query.strip())
    best_first = is_search and st.session_state.get("sort") in (None, "relevance")
    with st.container(horizontal=True, vertical_alignment="center", key="listed"):
        st.caption(
            f"{counted(listing.total, 'paper')}{' match, best first' if best_first else ''}", width="content"
        )
        if scope.topics and not is_search:
            what = "this paper" if listing.total == 1 else f"these {listing.total:,} papers"
            if st.button(f"Ask {what}", key="ask_filtered", type="tertiary", icon=":material/forum:"):
                ask_within(reader, scope)
                _go_to_ask()


def _draw_nothing(query: str, scope: Scope) -> None:
    with st.container(border=True, key="nothing"):
        if query.strip():
            st.markdown(f"No paper here matches “{escaped(shortened(query, 80))}”.")
        elif scope.topics:
            st.markdown("No paper here is about all of this.")
        else:
            st.markdown("No paper lies in these years.")
        st.button("Clear the filters", key="clear_filters", type="primary", on_click=_clear_filters)


def _draw_picked(reader: Reader) -> None:
    """Draw what can be done with the selected papers, at the bottom of the window."""
    if not reader.picked:
        return
    with st.bottom, st.container(horizontal=True, vertical_alignment="center", key="picked"):
        st.markdown(papers_picked(reader), width="content")
        if st.button("Ask these", type="primary", key="ask_these"):
            ask_about(reader, reader.picked)
            _go_to_ask()
        if len(reader.picked) >= FEWEST_PAPERS and st.button("Compare these", key="compare_these"):
            current_desk().choose(reader.picked)
            st.switch_page(COMPARE, query_params={})
        st.button("Select none", type="tertiary", key="pick_none", on_click=_pick_none, args=(reader,))


def _go_to_ask() -> None:
    # Without parameters of its own, switching is refused while widgets have theirs in the address.
    st.switch_page(ASK, query_params={})


def _pick_none(reader: Reader) -> None:
    for identifier in reader.picked:
        st.session_state[f"tick_{identifier}"] = False
    reader.picked = ()


def _collection_chosen() -> None:
    _first_page()
    chosen = st.session_state["collection_menu"]
    if chosen == ALL:
        st.query_params.pop("collection", None)
    else:
        st.query_params["collection"] = chosen


def _first_page() -> None:
    st.session_state["page"] = 1


def _clear_filters() -> None:
    st.session_state["q"] = ""
    st.session_state.pop("years", None)
    clear_topics()
    _first_page()
