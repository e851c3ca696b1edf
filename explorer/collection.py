"""The Collection screen: what is there, found by words, year and order, as a table or as cards."""

from typing import Any

import streamlit as st

from corpus.records import CollectionSummary, Scope
from explorer.ask import ask_about, draw_examples, papers_picked
from explorer.navigation import ASK, PAPER
from explorer.parts.examples import example_questions
from explorer.parts.finding import (
    ORDER_NAMES,
    ORDERS,
    Listed,
    Listing,
    Order,
    list_papers,
    query_terms,
    snippet,
    year_range,
)
from explorer.parts.listener import listen
from explorer.parts.safe_text import escaped, marked_terms, shortened
from explorer.parts.wording import collection_facts, collection_titles, counted, short_authors
from explorer.reader import Reader
from explorer.resources import Library

ALL = "all"
VIEWS = ("Table", "Cards")
TITLE_LENGTH = 160


def render_collection(library: Library, reader: Reader) -> None:
    """Draw the Collection screen."""
    if reader.waiting_question:
        st.switch_page(ASK)
    _measure(reader)
    summaries = library.corpus.collections()
    chosen = _draw_collections(summaries)
    _draw_welcome(library, reader, summaries, chosen)
    query, order, view, years = _draw_filters(reader, chosen)
    scope = Scope(
        collections=tuple(one.collection.id for one in chosen) if len(chosen) < len(summaries) else (),
        years=years,
    )
    page = int(st.session_state.get("page", 1) or 1)
    listing = list_papers(library.corpus, library.encoder, query, scope, order=order, page=page)
    _draw_listing(reader, listing, query, view)
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


def _draw_filters(
    reader: Reader, chosen: tuple[CollectionSummary, ...]
) -> tuple[str, Order, str, tuple[int, int] | None]:
    """Draw search, order, view and years: in one row, or on a phone behind one button."""
    if reader.narrow:
        query = _draw_search()
        with st.popover("Filter and sort", icon=":material/tune:", width="stretch", key="filters_popover"):
            return query, _draw_order(query), _draw_view(), _draw_years(chosen)
    with st.container(horizontal=True, vertical_alignment="bottom", key="filters"):
        query = _draw_search()
        return query, _draw_order(query), _draw_view(), _draw_years(chosen)


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


def _draw_listing(reader: Reader, listing: Listing, query: str, view: str) -> None:
    if not listing.total:
        _draw_nothing(query)
        return
    matching = (
        " match, best first" if query.strip() and st.session_state.get("sort") in (None, "relevance") else ""
    )
    st.caption(f"{counted(listing.total, 'paper')}{matching}")
    terms = query_terms(query)
    with st.container(key="papers", gap="small"):
        if view == "Cards":
            grid = st.grid(2, border=True)
            for listed in listing.papers:
                with grid.cell():
                    _draw_card(reader, listed, terms)
        else:
            for listed in listing.papers:
                _draw_row(reader, listed, terms)
    if listing.pages > 1:
        with st.container(horizontal_alignment="center"):
            st.pagination(listing.pages, key="page", bind="query-params")


def _draw_nothing(query: str) -> None:
    with st.container(border=True, key="nothing"):
        if query.strip():
            st.markdown(f"No paper here matches “{escaped(shortened(query, 80))}”.")
        else:
            st.markdown("No paper lies in these years.")
        st.button("Clear the filters", key="clear_filters", type="primary", on_click=_clear_filters)


def _draw_row(reader: Reader, listed: Listed, terms: frozenset[str]) -> None:
    paper = listed.paper
    with st.container(key=f"row_{paper.id}"):
        tick, what, who, when = st.columns([0.04, 0.66, 0.22, 0.08], gap="small")
        with tick:
            _draw_tick(reader, listed)
        with what:
            _draw_title(listed, terms)
        with who:
            st.caption(escaped(shortened(short_authors(paper.authors), 60)))
        with when:
            st.caption(str(paper.year or ""))


def _draw_card(reader: Reader, listed: Listed, terms: frozenset[str]) -> None:
    paper = listed.paper
    _draw_title(listed, terms)
    about = " · ".join(part for part in (short_authors(paper.authors), str(paper.year or "")) if part)
    with st.container(horizontal=True, vertical_alignment="center"):
        _draw_tick(reader, listed)
        st.caption(escaped(shortened(about, 90)))


def _draw_title(listed: Listed, terms: frozenset[str]) -> None:
    """Draw the title as the way to the paper, and what of it matched, or how its abstract begins."""
    paper, hit = listed.paper, listed.hit
    query = {"id": paper.id}
    text = paper.abstract
    if hit:
        text = hit.passage.text
        if hit.passage.number:
            query["passage"] = str(hit.passage.number)
    with st.container(key=f"title_link_{paper.id}", gap="xxsmall"):
        st.page_link(PAPER, label=escaped(shortened(paper.title, TITLE_LENGTH)), query_params=query)
        if text:
            st.markdown(marked_terms(snippet(text, terms), terms))


def _draw_tick(reader: Reader, listed: Listed) -> None:
    identifier = listed.paper.id
    key = f"tick_{identifier}"
    if key not in st.session_state:
        st.session_state[key] = identifier in reader.picked
    st.checkbox(
        escaped(f"Select {shortened(listed.paper.title, 80)}"),
        key=key,
        label_visibility="collapsed",
        on_change=_ticked,
        args=(reader, identifier),
    )


def _ticked(reader: Reader, paper_id: str) -> None:
    reader.pick(paper_id, picked=bool(st.session_state.get(f"tick_{paper_id}")))


def _draw_picked(reader: Reader) -> None:
    """Draw what can be done with the selected papers, at the bottom of the window."""
    if not reader.picked:
        return
    with st.bottom, st.container(horizontal=True, vertical_alignment="center", key="picked"):
        st.markdown(papers_picked(reader), width="content")
        if st.button("Ask these", type="primary", key="ask_these"):
            ask_about(reader, reader.picked)
            st.switch_page(ASK)
        st.button("Select none", type="tertiary", key="pick_none", on_click=_pick_none, args=(reader,))


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
    _first_page()
