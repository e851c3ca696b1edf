"""The facets of the Collection screen; the chosen values are stored only in the address."""

from collections.abc import Sequence

import streamlit as st

from explorer.app.session import field_value, set_field
from explorer.collection.restrictions import Parameter, restrict
from explorer.components.rows import menu
from explorer.presenters.safe_text import escaped
from explorer.presenters.topics import Facet

# The kinds with an address parameter of their own; all others are topics.
NAMED: dict[str, Parameter] = {"venue": "venue", "label": "label", "language": "language"}
SHOWN_IN_ROW = 3
SHOWN_IN_MENU = 12
SHOWN_ON_PHONE = 4


def draw_fields(facets: Sequence[Facet]) -> None:
    """Draw the most frequent fields of study in the row."""
    for facet in facets:
        if facet.kind == "field":
            st.caption(facet.name, width="content")
            _draw_pills(facet, SHOWN_IN_ROW)


def draw_menus(facets: Sequence[Facet]) -> None:
    """Draw a menu for every kind; for fields of study only with those that are not in the row."""
    for facet in facets:
        in_row = facet.kind == "field"
        if in_row and len(facet.first_keys(SHOWN_IN_ROW)) == len(facet.values):
            continue
        with menu("More fields" if in_row else facet.name, f"facet_menu_{facet.kind}") as is_drawn:
            if is_drawn and not in_row:
                _draw_pills(facet, SHOWN_IN_MENU)
            if is_drawn:
                _draw_rest(facet, SHOWN_IN_ROW if in_row else SHOWN_IN_MENU)


def draw_facets_folded(facets: Sequence[Facet]) -> None:
    """Draw all kinds one below the other, within the popover of a narrow screen."""
    for facet in facets:
        _draw_pills(facet, SHOWN_ON_PHONE, labelled=True)
        _draw_rest(facet, SHOWN_ON_PHONE)


def _draw_pills(facet: Facet, shown: int, *, labelled: bool = False) -> None:
    """Draw the chosen and the most frequent values as pills."""
    keys = facet.first_keys(shown)
    labels = {
        value.key: f"{escaped(value.name)} :gray[{value.papers:,}]"
        for value in facet.values
        if value.key in keys
    }
    key = f"facet_{facet.kind}"
    set_field(key, list(facet.chosen))
    st.pills(
        facet.name,
        keys,
        selection_mode="multi",
        format_func=lambda key: labels[key],
        key=key,
        label_visibility="visible" if labelled else "collapsed",
        on_change=_changed,
        args=(facet,),
    )


def _draw_rest(facet: Facet, shown: int) -> None:
    """Draw a search box for the values that are not drawn as pills."""
    drawn = frozenset(facet.first_keys(shown))
    rest = {value.key: value for value in facet.values if value.key not in drawn}
    if not rest:
        return
    key = f"facet_rest_{facet.kind}"
    set_field(key, [])
    st.multiselect(
        f"More of {facet.name.lower()}",
        list(rest),
        format_func=lambda key: f"{rest[key].name} ({rest[key].papers:,})",
        placeholder=f"Find among {len(rest):,} more",
        key=key,
        label_visibility="collapsed",
        on_change=_changed,
        args=(facet,),
    )


def _changed(facet: Facet) -> None:
    """Write the chosen values of a facet to the address, leaving those of other facets."""
    picked = [
        *(field_value(f"facet_{facet.kind}") or ()),
        *(field_value(f"facet_rest_{facet.kind}") or ()),
    ]
    parameter: Parameter = NAMED.get(facet.kind, "topic")
    current = st.query_params.get_all(parameter)
    kept = [value for value in current if value in picked or value not in facet.chosen]
    restrict(parameter, [*kept, *(value for value in picked if value not in kept)])
