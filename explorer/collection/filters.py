"""The filters above the list: query, order, view and years, in a row, or on a phone in a popover."""

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
    """The chosen filters, and containers for elements that need the counts of the list.

    `span` is the range of years to choose from, None if there is only one year.
    """

    query: str
    order: Order
    view: View
    years: tuple[int, int] | None
    span: tuple[int, int] | None
    place_of_bars: DeltaGenerator | None
    place_of_facets: DeltaGenerator


def draw_filters(chosen: Sequence[CollectionSummary], *, narrow: bool) -> Filters:
    """Draw query, order, view and years, and containers for year bars and facets."""
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
    """Draw the facets of the listed papers and the bars of their years; `years()` counts papers by year."""
    if filters.span and filters.place_of_bars:
        filters.place_of_bars.html(year_bars(years(), *filters.span))
    with filters.place_of_facets:
        if narrow:
            draw_facets_folded(facets)
        else:
            draw_fields(facets)
            draw_menus(facets)


def draw_chosen(restrictions: Restrictions, filters: Filters) -> None:
    """Draw each restriction as a chip that removes it."""
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
    """Remove query, years and every restriction."""
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
    """Return the first and the last year of collections, None if they do not differ."""
    first = min((summary.first_year for summary in chosen if summary.first_year), default=None)
    last = max((summary.last_year for summary in chosen if summary.last_year), default=None)
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
        format_func=lambda order: ORDER_NAMES[order],
        key="sort" if query else "order",
        bind="query-params",
        # The map has no order.
        disabled=view == "Map",
        on_change=to_first_page,
    )
    return chosen if chosen in ORDERS else orders[0]


def list_link(label: str, parameter: str, value: str) -> str:
    """Return a link to the papers that share a value, as Markdown; `label` is Markdown as well.

    The link keeps the current view and order unless they are the defaults; it drops everything else, as
    following it replaces the whole address.
    """
    kept: dict[str, str] = {}
    view, order = field_value("view"), field_value("order")
    if view in VIEWS and view != _first_view(narrow=current_visitor().now.narrow):
        kept["view"] = view
    if order in ORDERS and order != _orders(has_query=False)[0]:
        kept["order"] = ORDER_NAMES[order]
    return inline_link(COLLECTION, label, {parameter: value} | kept)


def _orders(*, has_query: bool) -> list[Order]:
    return [order for order in ORDERS if has_query or order != "relevance"]


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


def _draw_years(
    span: tuple[int, int] | None,
) -> tuple[tuple[int, int] | None, DeltaGenerator | None]:
    """Draw the slider of years below a container for their bars; return chosen years and container."""
    if span is None:
        return None, None
    bars = st.container()
    # If all years of the former collections were chosen, all of these are.
    former, chosen = field_value("former_span"), field_value("years")
    if former != span and chosen == former and "years" not in st.query_params:
        forget_field("years")
    set_field("former_span", span)
    years: Any = st.slider("Year", *span, span, key="years", bind="query-params", on_change=to_first_page)
    return year_range(*span, years), bars


def year_bars(counts: Mapping[int, int], first: int, last: int) -> str:
    """Return the HTML of a bar for each year, as high as its number of papers; built from numbers only."""
    fullest = max(range(first, last + 1), key=lambda year: counts.get(year, 0))
    most = int(counts.get(fullest, 0))
    bars = []
    for year in range(first, last + 1):
        papers = int(counts.get(year, 0))
        # At least two pixels, so that years with few papers are visible.
        height = max(2, round(48 * papers / most)) if papers else 0
        bars.append(f'<span title="{int(year)}: {papers:,}" style="height:{height}px"></span>')
    label = f"Papers by year, {int(first)} to {int(last)}. The most, {most:,}, are of {int(fullest)}."
    return f'<div class="pt-years" role="img" aria-label="{label}">{"".join(bars)}</div>'
