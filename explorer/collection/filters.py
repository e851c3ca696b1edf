"""The filters above the list: words, order, view and years, in one row or behind a button on a phone."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from corpus.records import CollectionSummary
from explorer.app.navigation import COLLECTION, inline_link
from explorer.app.session import current_visitor, field_value, forget_field, set_field
from explorer.collection.facets import draw_facets_folded, draw_fields, draw_menus
from explorer.collection.restrictions import Restrictions, take_all_back, take_back, to_first_page
from explorer.components.rows import action, row
from explorer.presenters.finding import ORDER_NAMES, ORDERS, Order, year_range
from explorer.presenters.safe_text import escaped
from explorer.presenters.topics import Facet
from explorer.presenters.wording import format_years

View = Literal["Table", "Cards", "Map"]
VIEWS: tuple[View, ...] = get_args(View)


@dataclass(frozen=True, slots=True)
class Filters:
    """The chosen filters, and places for elements that need the counts of the list.

    `span` are the years there are to choose from, None where there is only one.
    """

    query: str
    order: Order
    view: View
    years: tuple[int, int] | None
    span: tuple[int, int] | None
    place_of_bars: DeltaGenerator | None
    place_of_facets: DeltaGenerator


def draw_filters(chosen: Sequence[CollectionSummary], *, narrow: bool) -> Filters:
    """Draw the words to search for, order, view and years, and leave places for the rest."""
    span = _span(chosen)
    years, bars = None, None
    with row("filters"):
        query = _draw_search()
        if not narrow:
            place_of_order = st.container(width=220)
            view = _draw_view(narrow=False)
    if narrow:
        with row("filters_on_phone"):
            with st.popover("Filter and sort", icon=":material/tune:", key="filters_popover"):
                place_of_order = st.container()
                years, bars = _draw_years(span)
                place = st.container()
            view = _draw_view(narrow=True)
    else:
        place = row("facets")
        if span:
            with place, st.popover("Year", type="tertiary", key="facet_menu_year"):
                years, bars = _draw_years(span)
    with place_of_order:
        order = _draw_order(query, view)
    return Filters(query, order, view, years, span, bars, place)


def draw_facets(
    filters: Filters, facets: Sequence[Facet], years: Callable[[], Mapping[int, int]], *, narrow: bool
) -> None:
    """Draw what the papers listed can be restricted to; `years` counts them by year."""
    if filters.span and filters.place_of_bars:
        filters.place_of_bars.html(year_bars(years(), *filters.span))
    with filters.place_of_facets:
        if narrow:
            draw_facets_folded(facets)
        else:
            draw_fields(facets)
            draw_menus(facets)


def draw_chosen(restrictions: Restrictions, filters: Filters) -> None:
    """Draw each restriction as a chip that takes it back."""
    labelled = restrictions.labelled()
    if not labelled and not filters.years:
        return
    with row("chosen_topics", gap="xsmall"):
        for number, (parameter, value, label) in enumerate(labelled, start=1):
            _draw_chip(label, f"chosen_{number}", take_back, parameter, value)
        if filters.years:
            _draw_chip(f"Year: {format_years(filters.years)}", "chosen_years", _all_years, filters.span)
        action("Clear", "clear_topics", _clear_chips, filters.span)


def clear_filters(span: tuple[int, int] | None) -> None:
    """Take back words, years and every restriction."""
    set_field("q", "")
    _clear_chips(span)


def _draw_chip(label: str, key: str, take: Callable[..., None], *args: object) -> None:
    st.button(
        escaped(label),
        key=key,
        icon=":material/close:",
        icon_position="right",
        help="Remove this filter",
        on_click=take,
        args=args,
    )


def _clear_chips(span: tuple[int, int] | None) -> None:
    take_all_back()
    _all_years(span)


def _all_years(span: tuple[int, int] | None) -> None:
    if span:
        set_field("years", span)
    to_first_page()


def _span(chosen: Sequence[CollectionSummary]) -> tuple[int, int] | None:
    """Return the first and the last year of some collections, where they differ."""
    first = min((one.first_year for one in chosen if one.first_year), default=None)
    last = max((one.last_year for one in chosen if one.last_year), default=None)
    return None if first is None or last is None or first == last else (first, last)


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
        on_change=to_first_page,
    )
    return str(query or "")


def _draw_order(query: str, view: View) -> Order:
    orders = _orders(has_query=bool(query))
    chosen = st.selectbox(
        "Sort",
        orders,
        label_visibility="collapsed",
        format_func=lambda one: ORDER_NAMES[one],
        key="sort" if query else "order",
        bind="query-params",
        # Places on a map have no order.
        disabled=view == "Map",
        on_change=to_first_page,
    )
    return chosen if chosen in ORDERS else orders[0]


def list_link(label: str, parameter: str, value: str) -> str:
    """Return a link to the papers that share a value, as Markdown; `label` is Markdown as well.

    They are shown and sorted as papers were last: the address says so where it is not as at first. What it
    says nothing of is gone, for an inline link is followed as "back" would lead there.
    """
    kept: dict[str, str] = {}
    view, order = field_value("view"), field_value("order")
    if view in VIEWS and view != _first_view(narrow=current_visitor().now.narrow):
        kept["view"] = view
    if order in ORDERS and order != _orders(has_query=False)[0]:
        kept["order"] = ORDER_NAMES[order]
    return inline_link(COLLECTION, label, {parameter: value} | kept)


def _orders(*, has_query: bool) -> list[Order]:
    return [one for one in ORDERS if has_query or one != "relevance"]


def _first_view(*, narrow: bool) -> View:
    return VIEWS[1] if narrow else VIEWS[0]


def _draw_view(*, narrow: bool) -> View:
    first = _first_view(narrow=narrow)
    view = st.segmented_control(
        "Show as",
        VIEWS,
        default=first,
        required=True,
        key="view",
        bind="query-params",
        label_visibility="collapsed",
        on_change=to_first_page,
    )
    return view if view in VIEWS else first


def _forget_years_of_all(span: tuple[int, int]) -> None:
    """Choose all years again where those that are chosen are all of other collections, listed before."""
    former, chosen = field_value("former_span"), field_value("years")
    if former != span and chosen == former and "years" not in st.query_params:
        forget_field("years")
    set_field("former_span", span)


def _draw_years(
    span: tuple[int, int] | None,
) -> tuple[tuple[int, int] | None, DeltaGenerator | None]:
    """Draw the years to choose from below a place for their bars; return those chosen, and the place."""
    if span is None:
        return None, None
    bars = st.container()
    _forget_years_of_all(span)
    years: Any = st.slider("Year", *span, span, key="years", bind="query-params", on_change=to_first_page)
    return year_range(*span, years), bars


def year_bars(counts: Mapping[int, int], first: int, last: int) -> str:
    """Return HTML, built from numbers alone: a bar for each year, as high as it has papers."""
    most = max((counts.get(year, 0) for year in range(first, last + 1)), default=0)
    bars = "".join(_year_bar(year, counts.get(year, 0), most) for year in range(first, last + 1))
    return f'<div class="pt-years" role="img" aria-label="{_describe_bars(counts, first, last)}">{bars}</div>'


def _year_bar(year: int, papers: int, most: int) -> str:
    # A year with few papers is still to be seen.
    height = max(2, round(48 * papers / most)) if papers and most else 0
    return f'<span title="{int(year)}: {int(papers):,}" style="height:{height}px"></span>'


def _describe_bars(counts: Mapping[int, int], first: int, last: int) -> str:
    most = max(range(first, last + 1), key=lambda year: counts.get(year, 0))
    papers = int(counts.get(most, 0))
    return f"Papers by year, {int(first)} to {int(last)}. The most, {papers:,}, are of {int(most)}."
