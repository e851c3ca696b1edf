"""Topics to choose from on the Collection screen; which are chosen, the address alone says."""

from collections.abc import Container, Sequence

import streamlit as st

from corpus.records import TopicKind
from explorer.parts.safe_text import escaped
from explorer.parts.topics import Facet, FacetValue, known_topics, of_kind, topic_label

PARAMETER = "topic"
SHOWN_IN_ROW = 4
SHOWN_IN_MENU = 12
SHOWN_ON_PHONE = 4


def chosen_topics(vocabulary: Container[str]) -> tuple[str, ...]:
    """Return the topics that the address names and the corpus has."""
    return known_topics(st.query_params.get_all(PARAMETER), vocabulary)


def draw_facets(facets: Sequence[Facet], topics: Sequence[str]) -> None:
    """Draw the frequent fields in the open and every other kind behind a button, in one row."""
    if not facets:
        return
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="facets"):
        for facet in facets:
            if facet.kind == "field":
                st.caption(facet.name, width="content")
                _draw_pills(facet, topics, SHOWN_IN_ROW)
        for facet in facets:
            _draw_menu(facet, topics)


def _draw_menu(facet: Facet, topics: Sequence[str]) -> None:
    """Draw a kind behind a button; of the fields only those that do not stand in the row."""
    in_row = facet.kind == "field"
    if in_row and len(facet.first_keys(SHOWN_IN_ROW)) == len(facet.values):
        return
    with st.popover("More fields" if in_row else facet.name, type="tertiary", key=f"facet_menu_{facet.kind}"):
        if not in_row:
            _draw_pills(facet, topics, SHOWN_IN_MENU)
        _draw_rest(facet, topics, SHOWN_IN_ROW if in_row else SHOWN_IN_MENU)


def draw_facets_folded(facets: Sequence[Facet], topics: Sequence[str]) -> None:
    """Draw every kind one below the other, for a place that is itself behind a button."""
    for facet in facets:
        _draw_pills(facet, topics, SHOWN_ON_PHONE, labelled=True)
        _draw_rest(facet, topics, SHOWN_ON_PHONE)


def draw_chosen(topics: Sequence[str]) -> None:
    """Draw each chosen topic as a chip that takes it back."""
    if not topics:
        return
    with st.container(horizontal=True, vertical_alignment="center", gap="xsmall", key="chosen_topics"):
        for number, topic in enumerate(topics, start=1):
            st.button(
                escaped(topic_label(topic)),
                key=f"chosen_topic_{number}",
                icon=":material/close:",
                icon_position="right",
                help="Remove this filter",
                on_click=_take_back,
                args=(topic,),
            )
        st.button("Clear", key="clear_topics", type="tertiary", on_click=clear_topics)


def clear_topics() -> None:
    """Choose no topic any more."""
    _write(())


def _draw_pills(facet: Facet, topics: Sequence[str], shown: int, *, labelled: bool = False) -> None:
    """Draw the most frequent values, and all that are chosen, to be switched on and off."""
    keys = facet.first_keys(shown)
    labels = {value.key: f"{escaped(value.name)} :gray[{value.papers:,}]" for value in facet.values}
    key = f"facet_{facet.kind}"
    st.session_state[key] = list(facet.chosen)
    st.pills(
        facet.name,
        keys,
        selection_mode="multi",
        format_func=lambda one: labels[one],
        key=key,
        label_visibility="visible" if labelled else "collapsed",
        on_change=_changed,
        args=(facet.kind, topics),
    )


def _draw_rest(facet: Facet, topics: Sequence[str], shown: int) -> None:
    """Draw a box to find the values that are not drawn as pills."""
    drawn = facet.first_keys(shown)
    rest = {value.key: value for value in facet.values if value.key not in drawn}
    if not rest:
        return
    key = f"facet_rest_{facet.kind}"
    st.session_state[key] = []
    st.multiselect(
        f"More of {facet.name.lower()}",
        list(rest),
        format_func=lambda one: _option(rest[one]),
        placeholder=f"Find among {len(rest):,} more",
        key=key,
        label_visibility="collapsed",
        on_change=_changed,
        args=(facet.kind, topics),
    )


def _option(value: FacetValue) -> str:
    return f"{value.name} ({value.papers:,})"


def _changed(kind: TopicKind, topics: Sequence[str]) -> None:
    """Write what is chosen of one kind into the address, `topics` of the other kinds as they are."""
    picked = [
        *(st.session_state.get(f"facet_{kind}") or ()),
        *(st.session_state.get(f"facet_rest_{kind}") or ()),
    ]
    kept = [one for one in topics if one in picked or one not in of_kind(topics, kind)]
    _write([*kept, *(one for one in picked if one not in kept)])


def _take_back(topic: str) -> None:
    _write([one for one in st.query_params.get_all(PARAMETER) if one != topic])


def _write(topics: Sequence[str]) -> None:
    """Put topics into the address, and the list back to its first page."""
    st.session_state["page"] = 1
    if topics:
        st.query_params[PARAMETER] = list(topics)
    else:
        st.query_params.pop(PARAMETER, None)
