"""G-Score: a model marks the summaries of all systems together, several times, each time in another order."""

import random
import re
import statistics
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Literal, get_args

from pydantic import BaseModel, ConfigDict, Field, create_model

from assistant.comparing import Comparison
from assistant.generators import default_parameters
from assistant.models import ChatModel, ModelError, available_models, open_model
from assistant.prompts import as_data, as_line, as_written, estimate_tokens, load_prompt, mark
from assistant.records import LabelledPaper, Message, Parameters
from corpus.settings import Settings
from evaluation.input_files import EvaluationError
from evaluation.summaries.summary import System

PROMPTS = Path(__file__).parent / "prompts"
Dimension = Literal[
    "consistency", "coherence", "comparativeness", "integrity", "fluency", "citation_accuracy"
]
DIMENSIONS: tuple[Dimension, ...] = get_args(Dimension)
# ChatCite's six qualities (arXiv 2403.02574, section 4), in our words.
DEFINITIONS: Mapping[Dimension, str] = {
    "consistency": "the text says what the section that people wrote says, and nothing against it.",
    "coherence": "its sentences and paragraphs follow from each other and make one line of thought.",
    "comparativeness": "it sets papers beside each other and beside the work at hand, saying what they share"
    " and where they differ, instead of telling of one after the other.",
    "integrity": "it is whole: background, what each paper does, an assessment of earlier work, and what the"
    " work at hand contributes and does newly.",
    "fluency": "it is plain, correct English that reads easily.",
    "citation_accuracy": "each label stands with what that very paper says, and nothing that comes from a"
    " paper is without its label.",
}
NEEDS_GOLD: Dimension = "consistency"
VOTES, SEED = 5, 0
REPLY_TOKENS, REPLY_TOKENS_PER_TEXT = 100, 250
LONGEST_ANALYSIS = 600
ABSTRACT_WORDS = 120
_LABEL = re.compile(r"\[(\d{1,3})\]")

Marks = Mapping[Dimension, int]


@dataclass(frozen=True, slots=True)
class JudgeVote:
    """One vote: the systems by their index in the order shown, and their marks and the best, mapped back.

    `problem` says why a vote had to be discarded.
    """

    order: tuple[int, ...]
    marks: tuple[Marks, ...] = ()
    best: int | None = None
    problem: str = ""


@dataclass(frozen=True, slots=True)
class JudgedSystem:
    """A system's marks over all votes: the mean and the spread (standard deviation) of each quality.

    `g_score` is the mean of the qualities' means, `best` how many votes named it the best.
    """

    means: Mapping[Dimension, float]
    spreads: Mapping[Dimension, float]
    g_score: float | None
    best: int


@dataclass(frozen=True, slots=True)
class JudgeFigures:
    """What a judge says of all systems; without a gold text `dimensions` are five.

    `wrote` names the systems whose summaries the judge itself has written.
    """

    judge: str
    dimensions: tuple[Dimension, ...]
    votes: int
    discarded: int
    problems: tuple[str, ...]
    wrote: tuple[str, ...]
    systems: Mapping[str, JudgedSystem]


@dataclass(frozen=True, slots=True)
class Judge:
    """A chat model that marks; of so many tokens takes its `context` in."""

    model: ChatModel
    parameters: Parameters
    context: int
    at_once: int = 4

    def score(
        self, systems: Sequence[System], votes: int = VOTES, gold: str | None = None, seed: int = SEED
    ) -> JudgeFigures:
        """Have all systems marked in each of the votes; raises EvaluationError where they cannot be."""
        texts = texts_to_judge(systems)
        dimensions = dimensions_with(gold)
        first = systems[0].comparison
        orders = shown_orders(len(systems), votes, seed)
        prompts = [_messages(first, [texts[index] for index in order], gold) for order in orders]
        self._check_room(prompts[0], len(systems))
        with ThreadPoolExecutor(self.at_once) as pool:
            cast = tuple(pool.map(lambda sent, order: self._vote(sent, order, dimensions), prompts, orders))
        valid = [vote for vote in cast if not vote.problem]
        return JudgeFigures(
            judge=self.model.id,
            dimensions=dimensions,
            votes=votes,
            discarded=votes - len(valid),
            problems=tuple(dict.fromkeys(vote.problem for vote in cast if vote.problem)),
            wrote=tuple(one.name for one in systems if one.comparison.provenance.generator == self.model.id),
            systems={system.name: _judged(valid, index, dimensions) for index, system in enumerate(systems)},
        )

    def _vote(
        self, messages: tuple[Message, ...], order: tuple[int, ...], dimensions: tuple[Dimension, ...]
    ) -> JudgeVote:
        try:
            reply = self.model.reply(
                messages, self._parameters(len(order)), judgement(len(order), dimensions)
            )
        except ModelError as error:
            return JudgeVote(order, problem=str(error))
        given = reply.model_dump()
        shown = [given[f"text_{place}"] for place in range(1, len(order) + 1)]
        places = {index: place for place, index in enumerate(order)}
        return JudgeVote(
            order=order,
            marks=tuple({name: shown[places[index]][name] for name in dimensions} for index in sorted(order)),
            best=order[given["best"] - 1],
        )

    def _parameters(self, texts: int) -> Parameters:
        return replace(self.parameters, max_tokens=REPLY_TOKENS + REPLY_TOKENS_PER_TEXT * texts)

    def _check_room(self, messages: Sequence[Message], texts: int) -> None:
        needed = sum(estimate_tokens(message.content) for message in messages)
        needed += self._parameters(texts).max_tokens
        if needed > self.context:
            raise EvaluationError(
                f"The judge {self.model.label} takes in {self.context:,} tokens; {texts} texts together need"
                f" about {needed:,}. Judge fewer at once, or choose another judge."
            )


def open_judge(name: str, settings: Settings) -> Judge:
    """Return the model of that name as a judge; raises EvaluationError when it cannot be chosen."""
    entries = {entry.id: entry for entry in available_models(settings)}
    if name not in entries:
        raise EvaluationError(
            f"There is no model {name!r} to judge. Available: {', '.join(entries) or 'none'}. Set"
            " TOGETHER_API_KEY for hosted models, or PAPER_TRAIL_MODEL_URL for a server of your own."
        )
    entry = entries[name]
    return Judge(
        model=open_model(entry, settings),
        parameters=default_parameters(settings, entry),
        context=entry.context,
        at_once=settings.model_calls,
    )


def dimensions_with(gold: str | None) -> tuple[Dimension, ...]:
    """Return the qualities that can be marked: without a gold text there is nothing to be consistent with."""
    return tuple(name for name in DIMENSIONS if gold is not None or name != NEEDS_GOLD)


def shown_orders(systems: int, votes: int, seed: int) -> tuple[tuple[int, ...], ...]:
    """Return the order in which each vote is shown the systems.

    Shuffled, and then turned by one for as many votes as there are systems, so that each has each place
    equally often: a judge who prefers a place prefers no system.
    """
    # Not for secrets: the same orders each time.
    chance = random.Random(seed)
    orders: list[tuple[int, ...]] = []
    while len(orders) < votes:
        shuffled = chance.sample(range(systems), systems)
        orders += [tuple(shuffled[turn:] + shuffled[:turn]) for turn in range(systems)]
    return tuple(orders[:votes])


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
    return tuple(_relabelled(system.comparison, first) for system in systems)


def _relabelled(comparison: Comparison, labels: Mapping[str, int]) -> str:
    own = {one.label: one.paper.id for one in comparison.evidence.papers}

    def relabel(found: re.Match[str]) -> str:
        label = labels.get(own.get(int(found[1]), ""))
        return found[0] if label is None else f"[{label}]"

    return _LABEL.sub(relabel, comparison.answer.text)


class _Judgement(BaseModel):
    model_config = ConfigDict(extra="forbid")


@cache
def judgement(texts: int, dimensions: tuple[Dimension, ...]) -> type[BaseModel]:
    """Return the form of a vote: for each text an analysis and a mark for each quality, and the best."""
    marks = dict.fromkeys(dimensions, (Literal[1, 2, 3, 4, 5], ...))
    judged = create_model(  # type: ignore[call-overload]
        "Judged", __base__=_Judgement, analysis=(str, Field(max_length=LONGEST_ANALYSIS)), **marks
    )
    numbers = Literal[tuple(range(1, texts + 1))]  # type: ignore[valid-type]
    shown = {f"text_{place}": (judged, ...) for place in range(1, texts + 1)}
    return create_model("Judgement", __base__=_Judgement, **shown, best=(numbers, ...))  # type: ignore[call-overload, no-any-return]


def _messages(comparison: Comparison, texts: Sequence[str], gold: str | None) -> tuple[Message, ...]:
    shown = [_between(f"text {place}", as_written(text)) for place, text in enumerate(texts, start=1)]
    return load_prompt("judge", PROMPTS).render(
        dimensions="\n".join(f"- {name}: {DEFINITIONS[name]}" for name in dimensions_with(gold)),
        description=_between("the work at hand", as_data(comparison.about)),
        references=_between("papers", "\n\n".join(map(_reference, comparison.evidence.papers))),
        gold=(
            "There is no section that people wrote on this."
            if gold is None
            else f"The section that people wrote:\n\n{_between('written section', as_data(gold))}"
        ),
        texts="\n\n".join(shown),
        count=str(len(texts)),
    )


def _reference(labelled: LabelledPaper) -> str:
    paper = labelled.paper
    words = as_line(paper.abstract).split()
    abstract = " ".join(words[:ABSTRACT_WORDS]) + (" …" if len(words) > ABSTRACT_WORDS else "")
    head = f"[{labelled.label}] {as_line(paper.title)} ({paper.year or 'year unknown'})"
    return f"{head}\n{abstract or '(no abstract)'}"


def _between(name: str, body: str) -> str:
    return f"{mark(name)}\n{body}\n{mark(f'end of {name}')}"


def _judged(votes: Sequence[JudgeVote], index: int, dimensions: Sequence[Dimension]) -> JudgedSystem:
    given = {name: [vote.marks[index][name] for vote in votes] for name in dimensions}
    means = {name: statistics.fmean(marks) for name, marks in given.items() if marks}
    return JudgedSystem(
        means=means,
        spreads={name: statistics.pstdev(marks) for name, marks in given.items() if marks},
        g_score=statistics.fmean(means.values()) if means else None,
        best=sum(vote.best == index for vote in votes),
    )
