"""The volumes of a corpus as a list of buttons, the newest year first."""

from collections.abc import Sequence

import streamlit as st

from corpus.records import CollectionSummary
from corpus.wording import counted
from explorer.app.session import field_value, set_field
from explorer.collection.restrictions import to_first_page
from explorer.components.rows import action, row
from explorer.presenters.safe_text import escaped, shortened
from explorer.presenters.wording import VolumeYear, volume_facts, volume_years

# Up to this many volumes are listed together, more by year.
MOST_UNGROUPED = 10
FIRST_LISTED = 8
FIRST_ON_PHONE = 5
LONGEST_TITLE = 150


def draw_volumes(summaries: Sequence[CollectionSummary], *, narrow: bool) -> None:
    """Draw the volumes, each as a button that opens it."""
    years = volume_years(summaries)
    if len(summaries) <= MOST_UNGROUPED:
        st.markdown(f"**{counted(len(summaries), 'volume')}**")
        _draw_list([volume for year in years for volume in year.volumes], narrow=narrow, with_years=True)
        return
    with row("volumes_head"):
        st.markdown(f"**{counted(len(summaries), 'volume')}**", width="content")
        year = _draw_years(years)
    _draw_list(year.volumes, narrow=narrow, with_years=False)


def _draw_years(years: Sequence[VolumeYear]) -> VolumeYear:
    by_name = {year.name: year for year in years}
    chosen = st.selectbox(
        "Volumes of the year",
        list(by_name),
        format_func=lambda name: by_name[name].label,
        key="volumes",
        bind="query-params",
        label_visibility="collapsed",
        width=340,
    )
    return by_name.get(str(chosen), years[0])


def _draw_list(volumes: Sequence[CollectionSummary], *, narrow: bool, with_years: bool) -> None:
    first = FIRST_ON_PHONE if narrow else FIRST_LISTED
    shows_all = len(volumes) <= first + 1 or bool(field_value("all_volumes"))
    with st.container(key="volume_list", gap=None):
        for number, volume in enumerate(volumes if shows_all else volumes[:first], start=1):
            title = escaped(shortened(volume.collection.title or volume.collection.id, LONGEST_TITLE))
            label = f"{title} :gray[{escaped(volume_facts(volume, with_years=with_years))}]"
            action(label, f"open_volume_{number}", open_volume, volume.collection.id)
        if not shows_all:
            label, icon = f"Show {len(volumes) - first:,} more", ":material/expand_more:"
            action(label, "more_volumes", set_field, "all_volumes", True, icon=icon)


def open_volume(collection_id: str) -> None:
    """Restrict the list to a collection."""
    st.query_params["collection"] = collection_id
    to_first_page()
