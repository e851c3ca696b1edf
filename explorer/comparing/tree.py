"""The tree behind a summary: every round with its candidates and votes, to be looked into."""

import streamlit as st

from assistant.comparing.records import Candidate, Comparison, Round, Vote
from assistant.comparing.wording import candidate_said, faults_said, round_said, vote_said
from explorer.comparing.progress import draw_round_row, round_title
from explorer.parts.safe_text import answer_markdown, escaped, shortened

LONGEST_SHOWN = 20_000


@st.fragment
def render_tree(comparison: Comparison) -> None:
    """Draw a row per round, and one of the rounds with all that was written and voted in it."""
    if not comparison.rounds:
        st.caption("Nothing was written.")
        return
    titles = {one.label: one.paper.title for one in comparison.evidence.papers}
    with st.container(key="tree", gap="xsmall"):
        for one in comparison.rounds:
            draw_round_row(one, titles)
    rounds = {one.number: one for one in comparison.rounds}
    chosen = st.selectbox(
        "Look into a round",
        list(rounds),
        index=len(rounds) - 1,
        format_func=lambda number: f"Round {number}: {round_said(rounds[number])}",
        key="round_shown",
    )
    if chosen in rounds:
        _draw_round(rounds[chosen], titles)


def _draw_round(one: Round, titles: dict[int, str]) -> None:
    st.markdown(round_title(one.number, one.labels[-1] if one.labels else 0, titles))
    for candidate in one.candidates:
        place = one.kept.index(candidate.number) + 1 if candidate.number in one.kept else 0
        _draw_candidate(candidate, place)
    for reason in one.failed:
        st.caption(escaped(f"A sample was not written: {shortened(reason, 400)}"))
    if one.votes:
        st.markdown("**Votes**")
    for place, vote in enumerate(one.votes, start=1):
        _draw_vote(place, vote)


def _draw_candidate(candidate: Candidate, place: int) -> None:
    """Draw a candidate, unfolded where it is the best; `place` counts those that are kept, 0 is none."""
    title = f"Candidate {candidate.number}{f', kept as number {place}' if place else ''}"
    with st.expander(title, expanded=place == 1, key=f"candidate_{candidate.number}"):
        st.caption(escaped(candidate_said(candidate)))
        for fault in faults_said(candidate):
            st.caption(escaped(fault))
        with st.container(key=f"reading_candidate_{candidate.number}"):
            st.markdown(answer_markdown(candidate.text[:LONGEST_SHOWN], 0, frozenset(), linked=False))


def _draw_vote(place: int, vote: Vote) -> None:
    with st.container(key=f"vote_{place}", gap="xxsmall"):
        st.markdown(escaped(vote_said(vote)))
        if vote.analysis:
            st.text(shortened(vote.analysis, 2000))
