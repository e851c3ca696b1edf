"""Papers that are near to one, and why each of them is."""

from collections.abc import Mapping

import streamlit as st

from corpus.records import PaperHits
from explorer.navigation import PAPER
from explorer.parts.safe_text import escaped, shortened
from explorer.parts.wording import short_reference
from explorer.reading.header import SIMILAR_ANCHOR


def draw_similar(found: tuple[PaperHits, ...], why: Mapping[str, str]) -> None:
    """Draw similar papers, each with what it shares with this one."""
    if not found:
        return
    st.subheader("Similar papers", anchor=SIMILAR_ANCHOR)
    with st.container(key="similar", gap="xsmall"):
        for one in found:
            label = escaped(shortened(short_reference(one.paper), 140))
            if reason := why.get(one.paper.id, ""):
                label = f"{label} :gray[{escaped(reason)}]"
            st.page_link(PAPER, label=label, query_params={"id": one.paper.id})
