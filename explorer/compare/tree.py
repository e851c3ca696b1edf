"""The tree behind a summary: every round with its candidates and votes, to be looked into."""

from collections.abc import Sequence

import streamlit as st

from assistant.comparing.records import Candidate, Comparison, Round, Vote
from assistant.comparing.wording import describe_candidate, describe_faults, describe_round, describe_vote
from corpus.wording import counted
from explorer.presenters.safe_text import answer_markdown, escaped, shortened

LONGEST_SHOWN = 20_000


@st.fragment
def render_tree(comparison: Comparison) -> None:
    """Draw a row per round, and one of the rounds with all that was written and voted in it."""
    titles = {one.label: one.paper.title for one in comparison.evidence.papers}
    with st.container(key="tree", gap="xsmall"):
        for one in comparison.rounds:
            draw_round_row(one, titles)
    rounds = {one.number: one for one in comparison.rounds}
    chosen = st.selectbox(
        "Look into a round",
        list(rounds),
        index=len(rounds) - 1,
        format_func=lambda number: f"Round {number}: {describe_round(rounds[number])}",
        key="round_shown",
    )
    if chosen in rounds:
        _draw_round(rounds[chosen], titles)


def draw_round_row(one: Round, titles: dict[int, str]) -> None:
    """Draw a round with its candidates, and what is kept of them."""
    st.markdown(round_title(one.number, one.labels[-1] if one.labels else 0, titles))
    st.html(round_row(one))


def round_title(number: int, label: int, titles: dict[int, str]) -> str:
    """Return, as Markdown, a round's number and the paper that is new in it."""
    paper = f" · \\[{label}\\] {escaped(shortened(titles[label], 90))}" if label in titles else ""
    return f"**Round {number}**{paper}"


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
        st.caption(escaped(describe_candidate(candidate)))
        for fault in describe_faults(candidate):
            st.caption(escaped(fault))
        with st.container(key=f"reading_candidate_{candidate.number}"):
            st.markdown(answer_markdown(candidate.text[:LONGEST_SHOWN], 0, frozenset(), linked=False))


def _draw_vote(place: int, vote: Vote) -> None:
    with st.container(key=f"vote_{place}", gap="xxsmall"):
        st.markdown(escaped(describe_vote(vote)))
        if vote.analysis:
            st.text(shortened(vote.analysis, 2000))


def round_row(one: Round) -> str:
    """Return the HTML of a finished round: its candidates with their votes, and which are kept."""
    chips = [
        _chip(candidate, candidate.votes, is_kept=candidate.number in one.kept)
        for candidate in one.candidates
    ]
    if one.failed:
        chips.append(_note(f"{counted(len(one.failed), 'sample')} not written"))
    if one.discarded_votes:
        chips.append(_note(f"{counted(one.discarded_votes, 'vote')} discarded"))
    return _row(chips)


def growing_row(candidates: Sequence[Candidate], votes: Sequence[Vote]) -> str:
    """Return the HTML of the round that goes on: what has been written and voted so far."""
    in_order = sorted(candidates, key=lambda one: one.number)
    counts = [sum(vote.choice == one.number for vote in votes) for one in in_order]
    return _row(
        [_chip(one, count, is_kept=False) for one, count in zip(in_order, counts, strict=True)]
        or [_note("being written")]
    )


def elements_row(labels: Sequence[int], read: Sequence[int], failed: Sequence[int] = ()) -> str:
    """Return the HTML of a dot per text, filled where its key elements are read."""
    dots = [f'<span class="pt-dot{_state(label, read, failed)}"></span>' for label in labels]
    done = sum(label in read for label in labels)
    return (
        f'<div class="pt-dots" role="img" aria-label="Key elements read of {done} of {len(labels)} texts">'
        f"{''.join(dots)}</div>"
    )


def _state(label: int, read: Sequence[int], failed: Sequence[int]) -> str:
    if label in failed:
        return " pt-failed"
    return " pt-read" if label in read else ""


def _chip(candidate: Candidate, votes: int, *, is_kept: bool) -> str:
    facts = [counted(votes, "vote")] if votes else []
    if candidate.lost:
        facts.append(f"lost {' '.join(f'[{int(label)}]' for label in candidate.lost)}")
    if is_kept:
        facts.append("kept")
    said = f"Candidate {int(candidate.number)}" + (f": {', '.join(facts)}" if facts else "")
    kind = "pt-kept" if is_kept else "pt-left"
    shown = " · ".join([str(int(candidate.number)), *facts])
    return f'<span class="pt-chip {kind}" role="listitem" aria-label="{said}">{shown}</span>'


def _note(said: str) -> str:
    return f'<span class="pt-note" role="listitem">{said}</span>'


def _row(chips: Sequence[str]) -> str:
    return f'<div class="pt-tree" role="list">{"".join(chips)}</div>'
