"""Selection of the sentences of an answer."""

from collections.abc import Sequence

from assistant.checking.thresholds import KindLimits, thresholds
from assistant.ranking.candidates import (
    Candidate,
    cited,
    listed,
    readable,
)
from assistant.ranking.rank import Ranked
from assistant.records import RequestKind

NEIGHBOURS = (1, -1, 2)  # sentences from the likeliest one that may go on with it
MORE_BESIDE = 1  # sentences that an answer may have beyond its most where they stand in a row


def limits_of(kind: RequestKind) -> KindLimits:
    """Return the thresholds for sentences of answers of a kind."""
    return getattr(thresholds().extractive, kind)  # type: ignore[no-any-return]


def choose(ranked: Ranked, limits: KindLimits) -> list[Candidate]:
    """Return the sentences to use, the likeliest first, none of which says another's.

    One that cannot be read alone brings the sentence before it where it is the first, and else is left out.
    None where not even the likeliest is likely enough.
    """
    chosen: list[int] = []
    told: list[Candidate] = []
    alike = thresholds().extractive.alike
    bar = limits.first
    for at in ranked.best_first(range(len(ranked.candidates))):
        if ranked.chance[at] < bar or len(told) >= limits.most:
            break
        candidate, alone = ranked.candidates[at], readable(ranked.candidates[at])
        is_late = len(alone) > 1 and told
        is_told = any(candidate.text == one.text for one in told)
        if not alone or is_late or is_told or any(ranked.alike[at, other] >= alike for other in chosen):
            continue
        told += alone
        chosen.append(at)
        bar = max(limits.more, limits.share * float(ranked.chance[chosen[0]]))
    return _with_neighbours(told, ranked, chosen[0], limits) if chosen else told


def _with_neighbours(
    told: list[Candidate], ranked: Ranked, first: int, limits: KindLimits
) -> list[Candidate]:
    """Return the sentences with those next to the likeliest one that go on with what it says, in a row."""
    best = ranked.candidates[first]
    same_passage = {
        candidate.sentence: at
        for at, candidate in enumerate(ranked.candidates)
        if candidate.passage.id == best.passage.id
    }
    bar = limits.beside * float(ranked.chance[first])
    neighbours = (same_passage.get(best.sentence + step) for step in NEIGHBOURS)
    likely = [ranked.candidates[at] for at in neighbours if at is not None and ranked.chance[at] >= bar]
    known = {candidate.text for candidate in told}
    joined = [candidate for candidate in likely if candidate.text not in known]
    joined = joined[: max(0, limits.most + MORE_BESIDE - len(told))]
    in_passage = [candidate for candidate in told if candidate.passage.id == best.passage.id]
    in_a_row = sorted([*in_passage, *joined], key=lambda candidate: candidate.sentence)
    return [*in_a_row, *(candidate for candidate in told if candidate not in in_passage)]


def arrange(chosen: Sequence[Candidate], kind: RequestKind) -> list[str]:
    """Return the sentences as text: a fact's and a summary's as they were chosen, the best first.

    What papers say of a subject, or of how and why, goes paper by paper in order of relevance. Several papers
    make a list, so that nobody reads one paper's sentence as the next one's; an overview names them.
    """
    if kind in ("list", "comparison") or (len(chosen) > 1 and all(item.is_row for item in chosen)):
        told = [listed(item) if kind == "list" else cited(item) for item in chosen]
        return [("\n" if number else "") + f"- {one}" for number, one in enumerate(told)]
    if kind not in ("synthesis", "how"):
        return [(" " if number else "") + cited(item) for number, item in enumerate(chosen)]
    papers = dict.fromkeys(candidate.paper.label for candidate in chosen)
    groups = [[item for item in chosen if item.paper.label == label] for label in papers]
    bullets = len(groups) > (1 if kind == "synthesis" else 2)
    pieces = []
    for number, group in enumerate(groups):
        lead = ("\n" if number else "") + "- " if bullets else (" " if number else "")
        first = listed(group[0]) if bullets and kind == "synthesis" else cited(group[0])
        pieces.append(lead + " ".join([first, *map(cited, group[1:])]))
    return pieces
