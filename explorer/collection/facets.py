"""Topics and venues to choose from on the Collection screen; which are chosen, the address alone says."""

from collections.abc import Sequence

import streamlit as st

from explorer.app.session import field_value, set_field
from explorer.collection.restrictions import Parameter, restrict
from explorer.components.rows import menu
from explorer.presenters.safe_text import escaped
from explorer.presenters.topics import Facet, FacetValue

# The kinds that are parameters of the address by their own names; all others are topics.
NAMED: dict[str, Parameter] = {"venue": "venue", "label": "label", "language": "language"}
SHOWN_IN_ROW = 3
SHOWN_IN_MENU = 12
SHOWN_ON_PHONE = 4


def draw_fields(facets: Sequence[Facet]) -> None:
    """Draw the frequent fields of study in the open."""
    for facet in facets:
        if facet.kind == "field":
            st.caption(facet.name, width="content")
            _draw_pills(facet, SHOWN_IN_ROW)


def draw_menus(facets: Sequence[Facet]) -> None:
    """Draw every kind behind a button; of the fields only those that do not stand in the open."""
    for facet in facets:
        _draw_menu(facet)


def _draw_menu(facet: Facet) -> None:
    in_row = facet.kind == "field"
    if in_row and len(facet.first_keys(SHOWN_IN_ROW)) == len(facet.values):
        return
    with menu("More fields" if in_row else facet.name, f"facet_menu_{facet.kind}") as is_drawn:
        if not is_drawn:
            return
        if not in_row:
            _draw_pills(facet, SHOWN_IN_MENU)
        _draw_rest(facet, SHOWN_IN_ROW if in_row else SHOWN_IN_MENU)


def draw_facets_folded(facets: Sequence[Facet]) -> None:
    """Draw every kind one below the other, for a place that is itself behind a button."""
    for facet in facets:
        _draw_pills(facet, SHOWN_ON_PHONE, labelled=True)
        _draw_rest(facet, SHOWN_ON_PHONE)


def _draw_pills(facet: Facet, shown: int, *, labelled: bool = False) -> None:
    """Draw the most frequent values, and all that are chosen, to be switched on and off."""
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
        format_func=lambda one: labels[one],
        key=key,
        label_visibility="visible" if labelled else "collapsed",
        on_change=_changed,
        args=(facet,),
    )


def _draw_rest(facet: Facet, shown: int) -> None:
    """Draw a box to find the values that are not drawn as pills."""
    drawn = frozenset(facet.first_keys(shown))
    rest = {value.key: value for value in facet.values if value.key not in drawn}
    if not rest:
        return
    key = f"facet_rest_{facet.kind}"
    set_field(key, [])
    st.multiselect(
        f"More of {facet.name.lower()}",
        list(rest),
        format_func=lambda one: _option(rest[one]),
        placeholder=f"Find among {len(rest):,} more",
        key=key,
        label_visibility="collapsed",
        on_change=_changed,
        args=(facet,),
    )


def _option(value: FacetValue) -> str:
    return f"{value.name} ({value.papers:,})"


def _changed(facet: Facet) -> None:
    """Write what is chosen of one facet into the address, and leave what is chosen of others as it is."""
    picked = [
        *(field_value(f"facet_{facet.kind}") or ()),
        *(field_value(f"facet_rest_{facet.kind}") or ()),
    ]
    parameter: Parameter = NAMED.get(facet.kind, "topic")
    given = st.query_params.get_all(parameter)
    kept = [one for one in given if one in picked or one not in facet.chosen]
    restrict(parameter, [*kept, *(one for one in picked if one not in kept)])
