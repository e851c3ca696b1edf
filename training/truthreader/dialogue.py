"""Earlier turns: none, what a question leans on, something else, or both (TruthReader, section 3.1)."""

import random
from collections.abc import Mapping, Sequence
from dataclasses import replace

from assistant.records import Answer, Evidence, Provenance, Rewrite, Turn
from corpus.records import Scope
from training.truthreader.citing import written
from training.truthreader.records import Example, HistoryTurn, HistoryType

_NOWHERE = Provenance("", "", "", "", ())


def turn_of(example: Example) -> HistoryTurn:
    """Return an example as a turn that later questions follow."""
    return HistoryTurn(example.pair.question, written(example.sentences), example.evidence)


def as_turn(earlier: HistoryTurn) -> Turn:
    """Return an earlier turn as the product keeps turns, as far as prompts show them."""
    return Turn(
        question=earlier.question,
        asked="",
        scope=Scope(),
        papers_wanted=len(earlier.evidence.papers),
        rewrite=Rewrite(earlier.question, earlier.question),
        hits=(),
        evidence=earlier.evidence,
        answer=Answer(earlier.answer),
        calls=(),
        seconds=(),
        provenance=_NOWHERE,
    )


def with_history(
    example: Example, earlier: Mapping[str, Example], others: Sequence[Example], chance: random.Random
) -> Example | None:
    """Return an example with earlier turns of a type that is drawn; None where what it leans on is gone.

    `earlier` are the examples that follow-ups lean on, by the id of their pair.
    """
    leans_on = example.pair.leans_on
    relevant = earlier.get(leans_on.id) if leans_on else None
    if leans_on and relevant is None:
        return None
    irrelevant = _irrelevant(example, others, chance) if chance.random() < 0.5 else None
    turns = tuple(turn_of(one) for one in (irrelevant, relevant) if one)
    return replace(example, history=turns, history_type=_type(relevant, irrelevant))


def _type(relevant: Example | None, irrelevant: Example | None) -> HistoryType:
    if relevant:
        return "both" if irrelevant else "relevant"
    return "irrelevant" if irrelevant else "none"


def _irrelevant(example: Example, others: Sequence[Example], chance: random.Random) -> Example | None:
    """Return an example about none of the papers that this one was made of, which leans on no other."""
    own = {passage.paper_id for passage in example.pair.shown}
    free = [
        one for one in others if not one.pair.leans_on and own.isdisjoint(_papers(one.evidence, one.cited))
    ]
    return chance.choice(free) if free else None


def _papers(evidence: Evidence, labels: Sequence[int]) -> set[str]:
    return {paper.paper.id for paper in evidence.papers if paper.label in labels}
