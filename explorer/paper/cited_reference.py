"""The drawer with the bibliography entry of a reference that was clicked in the text."""

import streamlit as st

from corpus.records import Paper, Passage, Reference
from explorer.app.navigation import PAPER, link_to
from explorer.app.session import Visitor, field_value, forget_field, set_field
from explorer.components.listener import listen
from explorer.components.rows import row
from explorer.paper.cited_text import Bibliography, sections_citing
from explorer.presenters.safe_text import escaped, shortened, web_address

LONGEST_ENTRY = 1200
SECTIONS_NAMED = 8
_SHOWN = "reference_shown"


@st.fragment
def draw_cited_reference(
    visitor: Visitor, paper: Paper, passages: tuple[Passage, ...], cited: Bibliography
) -> None:
    """Listen for clicks on references in the text, and open the clicked one in a drawer."""
    report = listen("reference_listener", narrow=visitor.now.narrow, hears=("clicks",))
    if (entry := cited.entry_of(report.cite)) is not None:
        set_field(_SHOWN, (paper.id, entry))
    shown_for, number = field_value(_SHOWN, ("", 0))
    if shown_for == paper.id and 0 <= number < len(cited.entries):

        @st.dialog(f"Reference {number + 1}", position="right", width="small", on_dismiss=_forget)
        def drawer() -> None:
            _draw_entry(passages, cited, number)

        drawer()


def places_of(reference: Reference) -> tuple[tuple[str, str], ...]:
    """Return labels and addresses of a cited work, plain web addresses only."""
    doi = reference.doi.removeprefix("https://doi.org/")
    arxiv = reference.arxiv_id
    places = (
        ("DOI", f"https://doi.org/{doi}" if doi else ""),
        ("arXiv", f"https://arxiv.org/abs/{arxiv}" if arxiv else ""),
    )
    return tuple((label, address) for label, url in places if (address := web_address(url)))


def _draw_entry(passages: tuple[Passage, ...], cited: Bibliography, number: int) -> None:
    reference = cited.entries[number]
    with st.container(key="reading_reference"):
        st.text(shortened(reference.text or reference.title, LONGEST_ENTRY))
    with row("reference_links"):
        if number in cited.held:
            query = {"id": cited.held[number]}
            link_to(PAPER, "Open paper", icon=":material/article:", query_params=query)
        for label, address in places_of(reference):
            st.link_button(
                label, address, type="tertiary", icon=":material/open_in_new:", icon_position="right"
            )
    if number not in cited.held:
        st.caption("This work is not in this corpus.")
    if citing := sections_citing(passages, number):
        named = ", ".join(shortened(heading, 60) for heading in citing[:SECTIONS_NAMED])
        st.caption(f"Cited in: {escaped(named)}")


def _forget() -> None:
    forget_field(_SHOWN)
