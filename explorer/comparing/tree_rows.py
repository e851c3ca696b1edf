"""The tree of a comparison as a row of candidates per round: HTML of numbers and words of ours alone."""

from collections.abc import Sequence

from assistant.comparing.records import Candidate, Round, Vote
from explorer.parts.wording import counted


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
