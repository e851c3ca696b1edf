"""G-Score: a model marks the summaries of all systems together, several times, each time in another order."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal, get_args

from assistant.comparing import Comparison
from assistant.prompts import as_data, as_line, load_prompt
from assistant.records import LabelledPaper, Message
from evaluation.input_files import EvaluationError
from evaluation.judging import (
    COHERENCE,
    FLUENCY,
    RULES,
    Ballot,
    Judge,
    JudgeFigures,
    between,
    judge_figures,
    numbered,
    qualities,
    relabelled,
    shown_orders,
)
from evaluation.summaries.summary import System

PROMPTS = Path(__file__).parent / "prompts"
Dimension = Literal[
    "consistency", "coherence", "comparativeness", "integrity", "fluency", "citation_accuracy"
]
DIMENSIONS: tuple[Dimension, ...] = get_args(Dimension)
# ChatCite's six qualities (arXiv 2403.02574, section 4), in our words.
DEFINITIONS: Mapping[Dimension, str] = {
    "consistency": "the text says what the section that people wrote says, and nothing against it.",
    "coherence": COHERENCE,
    "comparativeness": "it sets papers beside each other and beside the work at hand, saying what they share"
    " and where they differ, instead of telling of one after the other.",
    "integrity": "it is whole: background, what each paper does, an assessment of earlier work, and what the"
    " work at hand contributes and does newly.",
    "fluency": FLUENCY,
    "citation_accuracy": "each label stands with what that very paper says, and nothing that comes from a"
    " paper is without its label.",
}
NEEDS_GOLD: Dimension = "consistency"
VOTES, SEED = 5, 0
ABSTRACT_WORDS = 120


def judge_summaries(
    judge: Judge, systems: Sequence[System], votes: int = VOTES, gold: str | None = None, seed: int = SEED
) -> JudgeFigures:
    """Have all systems marked in each of the votes; raises EvaluationError where they cannot be.

    Without a gold text the qualities are five.
    """
    texts = texts_to_judge(systems)
    dimensions = dimensions_with(gold)
    first = systems[0].comparison
    ballots = [
        Ballot(order, _messages(first, [texts[index] for index in order], gold))
        for order in shown_orders(len(systems), votes, seed)
    ]
    judge.check_room(ballots[0])
    cast = dict(judge.cast(ballots, dimensions))
    return judge_figures(
        judge=judge.model.id,
        dimensions=dimensions,
        names=[one.name for one in systems],
        judged=[[cast[index] for index in range(votes)]],
        wrote=judge.own_among({one.name: (one.comparison.provenance.generator,) for one in systems}),
    )


def dimensions_with(gold: str | None) -> tuple[Dimension, ...]:
    """Return the qualities that can be marked: without a gold text there is nothing to be consistent with."""
    return tuple(name for name in DIMENSIONS if gold is not None or name != NEEDS_GOLD)


def texts_to_judge(systems: Sequence[System]) -> tuple[str, ...]:
    """Return the systems' texts, all with the labels of the first; raises EvaluationError.

    The same papers may have been compared in other orders, but other papers cannot be judged together.
    """
    first = {one.paper.id: one.label for one in systems[0].comparison.evidence.papers}
    for system in systems:
        if set(system.comparison.paper_ids) != set(systems[0].comparison.paper_ids):
            raise EvaluationError(
                f"{system.name} and {systems[0].name} compare different papers, so they cannot be judged"
                " together. Judge comparisons of the same papers."
            )
        if not system.text.strip():
            raise EvaluationError(f"{system.name} has no summary, so it cannot be judged. Leave it out.")
    return tuple(relabelled(system.text, system.comparison.evidence, first) for system in systems)


def _messages(comparison: Comparison, texts: Sequence[str], gold: str | None) -> tuple[Message, ...]:
    return load_prompt("judge", PROMPTS).render(
        dimensions=qualities({name: DEFINITIONS[name] for name in dimensions_with(gold)}),
        rules=RULES,
        description=between("the work at hand", as_data(comparison.about)),
        references=between("papers", "\n\n".join(map(_reference, comparison.evidence.papers))),
        gold=(
            "There is no section that people wrote on this."
            if gold is None
            else f"The section that people wrote:\n\n{between('written section', as_data(gold))}"
        ),
        texts=numbered(texts),
        count=str(len(texts)),
    )


def _reference(labelled: LabelledPaper) -> str:
    paper = labelled.paper
    words = as_line(paper.abstract).split()
    abstract = " ".join(words[:ABSTRACT_WORDS]) + (" …" if len(words) > ABSTRACT_WORDS else "")
    head = f"[{labelled.label}] {as_line(paper.title)} ({paper.year or 'year unknown'})"
    return f"{head}\n{abstract or '(no abstract)'}"
