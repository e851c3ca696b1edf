"""The learned parts: their names, purposes, and whether they are in use."""

import streamlit as st

from assistant.learned.followups import FOLLOW_UPS
from assistant.learned.parts import folder, part_in_use, read_card
from assistant.learned.relevance import RELEVANCE
from explorer.presenters.safe_text import escaped

PURPOSES = {
    FOLLOW_UPS: "What a follow-up means: which words of the conversation belong to it, and where they go.",
    RELEVANCE: "Whether what is said answers the question: the relevance of an answer.",
}


def draw_learned() -> None:
    """Draw every learned part: its purpose, its training data, and whether it is in use."""
    st.markdown(
        "Small networks over the bundled encoder, trained on questions, conversations and claims that people "
        "have labelled. They run on this server."
    )
    for part, purpose in PURPOSES.items():
        used = part_in_use(part)
        with st.container(key=f"learned_{part}", gap="xxsmall"):
            st.markdown(f"**{escaped(used.name)}**")
            st.markdown(purpose)
            if used.problem:
                # The reason is only in the server's log, as it names files.
                st.markdown("Not in use: it does not fit this server. Plain rules stand in for it.")
            else:
                st.markdown(escaped(f"Learned from {_sources(part)}."))


def _sources(part: str) -> str:
    licences = read_card(part, folder(part)).provenance.get("licences")
    named = licences if isinstance(licences, dict) else {}
    return (
        ", ".join(f"{name} ({licence})" for name, licence in named.items()) or "data its card does not name"
    )
