"""The tree behind a summary: every round with its candidates and votes."""

from collections.abc import Sequence

import streamlit as st

from assistant.comparing.records import Candidate, Comparison, Round, Vote
from assistant.comparing.wording import describe_candidate, describe_faults, describe_round, describe_vote
from corpus.wording import counted
from explorer.presenters.safe_text import answer_markdown, escaped, shortened

LONGEST_SHOWN = 20_000


@st.fragment
def render_tree(comparison: Comparison) -> None:
    """Draw a row per round, and the candidates and votes of the chosen round."""
    titles = {paper.label: paper.paper.title for paper in comparison.evidence.papers}
    with st.container(key="tree", gap="xsmall"):
        for round_ in comparison.rounds:
            draw_round_row(round_, titles)
    rounds = {round_.number: round_ for round_ in comparison.rounds}
    chosen = st.selectbox(
        "Look into a round",
        list(rounds),
        index=len(rounds) - 1,
        format_func=lambda number: f"Round {number}: {describe_round(rounds[number])}",
        key="round_shown",
    )
    if chosen in rounds:
        _draw_round(rounds[chosen], titles)


def draw_round_row(round_: Round, titles: dict[int, str]) -> None:
    """Draw a round's title and the row of its candidates."""
    st.markdown(round_title(round_.number, round_.labels[-1] if round_.labels else 0, titles))
    st.html(round_row(round_))


def round_title(number: int, label: int, titles: dict[int, str]) -> str:
    """Return, as Markdown, a round's number and the paper that it adds."""
    paper = f" · \\[{label}\\] {escaped(shortened(titles[label], 90))}" if label in titles else ""
    return f"**Round {number}**{paper}"


def _draw_round(round_: Round, titles: dict[int, str]) -> None:
    st.markdown(round_title(round_.number, round_.labels[-1] if round_.labels else 0, titles))
    for candidate in round_.candidates:
        place = round_.kept.index(candidate.number) + 1 if candidate.number in round_.kept else 0
        _draw_candidate(candidate, place)
    for reason in round_.failed:
        st.caption(escaped(f"A sample was not written: {shortened(reason, 400)}"))
    if round_.votes:
        st.markdown("**Votes**")
    for number, vote in enumerate(round_.votes, start=1):
        with st.container(key=f"vote_{number}", gap="xxsmall"):
            st.markdown(escaped(describe_vote(vote)))
            if vote.analysis:
                st.text(shortened(vote.analysis, 2000))


def _draw_candidate(candidate: Candidate, place: int) -> None:
    """Draw a candidate, expanded if it is the best; `place` is its rank among those kept, 0 if not kept."""
    title = f"Candidate {candidate.number}{f', kept as number {place}' if place else ''}"
    with st.expander(title, expanded=place == 1, key=f"candidate_{candidate.number}"):
        st.caption(escaped(describe_candidate(candidate)))
        for fault in describe_faults(candidate):
            st.caption(escaped(fault))
        with st.container(key=f"reading_candidate_{candidate.number}"):
            st.markdown(answer_markdown(candidate.text[:LONGEST_SHOWN], 0, frozenset(), linked=False))


def round_row(round_: Round) -> str:
    """Return the HTML of a finished round: its candidates with their votes, marked if kept."""
    chips = [
        _chip(candidate, candidate.votes, is_kept=candidate.number in round_.kept)
        for candidate in round_.candidates
    ]
    if round_.failed:
        chips.append(_note(f"{counted(len(round_.failed), 'sample')} not written"))
    if round_.discarded_votes:
        chips.append(_note(f"{counted(round_.discarded_votes, 'vote')} discarded"))
    return _row(chips)


def growing_row(candidates: Sequence[Candidate], votes: Sequence[Vote]) -> str:
    """Return the HTML of the running round: the candidates and votes so far."""
    chips = [
        _chip(candidate, sum(vote.choice == candidate.number for vote in votes), is_kept=False)
        for candidate in sorted(candidates, key=lambda candidate: candidate.number)
    ]
    return _row(chips or [_note("being written")])


def elements_row(labels: Sequence[int], read: Sequence[int], failed: Sequence[int] = ()) -> str:
    """Return the HTML of a dot per text, filled once its key elements are read."""
    states = (" pt-failed" if label in failed else " pt-read" if label in read else "" for label in labels)
    dots = [f'<span class="pt-dot{state}"></span>' for state in states]
    done = sum(label in read for label in labels)
    return (
        f'<div class="pt-dots" role="img" aria-label="Key elements read of {done} of {len(labels)} texts">'
        f"{''.join(dots)}</div>"
    )


def _chip(candidate: Candidate, votes: int, *, is_kept: bool) -> str:
    facts = [counted(votes, "vote")] if votes else []
    if candidate.lost:
        facts.append(f"lost {' '.join(f'[{int(label)}]' for label in candidate.lost)}")
    if is_kept:
        facts.append("kept")
    description = f"Candidate {int(candidate.number)}" + (f": {', '.join(facts)}" if facts else "")
    kind = "pt-kept" if is_kept else "pt-left"
    shown = " · ".join([str(int(candidate.number)), *facts])
    return f'<span class="pt-chip {kind}" role="listitem" aria-label="{description}">{shown}</span>'


def _note(text: str) -> str:
    return f'<span class="pt-note" role="listitem">{text}</span>'


def _row(chips: Sequence[str]) -> str:
    return f'<div class="pt-tree" role="list">{"".join(chips)}</div>'
