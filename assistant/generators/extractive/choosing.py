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

NEIGHBOURS = (1, -1, 2)  # offsets of sentences that may continue the likeliest one
MORE_BESIDE = 1  # neighbours that an answer may have beyond `limits.most`


def limits_of(kind: RequestKind) -> KindLimits:
    """Return the thresholds for sentences of answers of a kind."""
    return getattr(thresholds().extractive, kind)  # type: ignore[no-any-return]


def choose(ranked: Ranked, limits: KindLimits) -> list[Candidate]:
    """Return the sentences to use, the likeliest first, without duplicates; [] if none is likely enough.

    A dependent sentence brings the one before it if it is the first, and is left out otherwise. If all likely
    ones depend on one that cannot be quoted, the likeliest is used alone.
    """
    chosen: list[int] = []
    sentences: list[Candidate] = []
    alike = thresholds().extractive.alike
    bar = limits.first
    for index in ranked.best_first(range(len(ranked.candidates))):
        if ranked.chance[index] < bar or len(sentences) >= limits.most:
            break
        candidate, alone = ranked.candidates[index], readable(ranked.candidates[index])
        is_late = len(alone) > 1 and sentences
        is_told = any(candidate.text == earlier.text for earlier in sentences)
        if not alone or is_late or is_told or any(ranked.alike[index, other] >= alike for other in chosen):
            continue
        sentences += alone
        chosen.append(index)
        bar = max(limits.more, limits.share * float(ranked.chance[chosen[0]]))
    if chosen:
        return _with_neighbours(sentences, ranked, chosen[0], limits)
    likely = [index for index in range(len(ranked.candidates)) if ranked.chance[index] >= limits.first]
    return [ranked.candidates[index] for index in ranked.best_first(likely)[:1]]


def _with_neighbours(
    told: list[Candidate], ranked: Ranked, first: int, limits: KindLimits
) -> list[Candidate]:
    """Return the sentences with likely neighbours of the first one, in reading order.

    A neighbour that refers to the sentence before it joins only behind that sentence.
    """
    best = ranked.candidates[first]
    same_passage = {
        candidate.sentence: index
        for index, candidate in enumerate(ranked.candidates)
        if candidate.passage.id == best.passage.id
    }
    bar = limits.beside * float(ranked.chance[first])
    neighbours = (same_passage.get(best.sentence + step) for step in NEIGHBOURS)
    likely = [
        ranked.candidates[index] for index in neighbours if index is not None and ranked.chance[index] >= bar
    ]
    known = {candidate.text for candidate in told}
    joined = [candidate for candidate in likely if candidate.text not in known]
    joined = joined[: max(0, limits.most + MORE_BESIDE - len(told))]
    in_passage = [candidate for candidate in told if candidate.passage.id == best.passage.id]
    in_a_row: list[Candidate] = []
    for candidate in sorted([*in_passage, *joined], key=lambda candidate: candidate.sentence):
        follows = bool(in_a_row) and in_a_row[-1].sentence == candidate.sentence - 1
        if candidate in in_passage or follows or len(readable(candidate)) == 1:
            in_a_row.append(candidate)
    return [*in_a_row, *(candidate for candidate in told if candidate not in in_passage)]


def arrange(chosen: Sequence[Candidate], kind: RequestKind) -> list[str]:
    """Return the sentences as pieces of text: for a fact and a summary in their order, the best first.

    Answers of kind "synthesis" and "how" go paper by paper, as a list for several papers so that their
    sentences are not confused; a synthesis names the papers.
    """
    if kind in ("list", "comparison") or (len(chosen) > 1 and all(item.is_row for item in chosen)):
        lines = [listed(item) if kind == "list" else cited(item) for item in chosen]
        return [("\n" if number else "") + f"- {line}" for number, line in enumerate(lines)]
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
