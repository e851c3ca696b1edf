"""A model as judge: it marks texts of several systems in one prompt, several times, in varying order.

Also the figures of its votes, and how far it agrees with people.
"""

import random
import re
import statistics
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, replace
from functools import cache
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, Field, create_model
from rich.table import Table
from scipy.stats import kendalltau

from assistant.generators import default_parameters
from assistant.models import ChatModel, Exchange, ModelError, available_models, open_model
from assistant.prompts import as_written, estimate_tokens, mark
from assistant.records import Evidence, Message, Parameters
from corpus.settings import Settings
from evaluation.harness import table
from evaluation.input_files import PROMPTS, EvaluationError

Mark = Literal[1, 2, 3, 4, 5]
REPLY_TOKENS, REPLY_TOKENS_PER_TEXT = 100, 250
LONGEST_ANALYSIS = 600
RULES = (PROMPTS / "judge_rules.md").read_text(encoding="utf-8").strip()
# Definitions that all judges share.
COHERENCE = "its sentences and paragraphs follow from each other and make one line of thought."
FLUENCY = "it is plain, correct English that reads easily."
_LABEL = re.compile(r"\[(\d{1,3})\]")

OVERALL = "overall"
LEAST = 3  # fewer points lie on a line, whatever they say
RESAMPLES, SEED = 1000, 0
LEAST_DEFINED = 0.9  # of the resamples, for an interval
_ALIKE = 1e-9  # means of the same marks may differ by as little

Level = Literal["texts", "systems"]
# Marks by what was judged and by system.
Marked = Mapping[tuple[str, str], Mapping[str, float]]
_Pairs = NDArray[np.float64]  # a judge's marks beside people's: two columns


@dataclass(frozen=True, slots=True)
class Ballot:
    """What is sent for one vote: the texts by their index in the order shown, and the prompt."""

    order: tuple[int, ...]
    messages: tuple[Message, ...]


@dataclass(frozen=True, slots=True)
class JudgeVote:
    """One vote: the order shown, and for each text its marks and analysis, and the index of the best.

    `problem` says why a vote was discarded, `served` which model voted where the server names another.
    """

    order: tuple[int, ...]
    marks: tuple[Mapping[str, int], ...] = ()
    analyses: tuple[str, ...] = ()
    best: int | None = None
    problem: str = ""
    served: str = ""


@dataclass(frozen=True, slots=True)
class Judge:
    """A chat model that marks, with a context of so many tokens."""

    model: ChatModel
    parameters: Parameters
    context: int
    at_once: int = 4

    def cast(self, ballots: Sequence[Ballot], dimensions: tuple[str, ...]) -> Iterator[tuple[int, JudgeVote]]:
        """Yield the index of each ballot with its vote, as they come."""
        with ThreadPoolExecutor(self.at_once) as pool:
            asked = {pool.submit(self._vote, ballot, dimensions): at for at, ballot in enumerate(ballots)}
            try:
                for vote in as_completed(asked):
                    yield asked[vote], vote.result()
            finally:
                pool.shutdown(wait=False, cancel_futures=True)

    def check_room(self, ballot: Ballot) -> None:
        """Raise EvaluationError where the prompt and the reply do not fit into the judge's context."""
        needed = sum(estimate_tokens(message.content) for message in ballot.messages)
        needed += self.parameters_for(ballot).max_tokens
        if needed > self.context:
            raise EvaluationError(
                f"The judge {self.model.label} takes in {self.context:,} tokens; {len(ballot.order)} texts"
                f" together need about {needed:,}. Judge fewer at once, or choose another judge."
            )

    def parameters_for(self, ballot: Ballot) -> Parameters:
        """Return the parameters with room for an analysis of each text."""
        return replace(self.parameters, max_tokens=REPLY_TOKENS + REPLY_TOKENS_PER_TEXT * len(ballot.order))

    def own_among(self, writers: Mapping[str, Collection[str]]) -> tuple[str, ...]:
        """Return the systems that the judge itself wrote for, of the models that wrote for each."""
        return tuple(name for name, models in writers.items() if self.model.id in models)

    def calls_said(self, calls: int) -> str:
        """Return what people are told before the judge is asked."""
        return f"The judge {self.model.label} is asked {calls:,} times, at most twice as often."

    def _vote(self, ballot: Ballot, dimensions: tuple[str, ...]) -> JudgeVote:
        order = ballot.order
        asked: list[Exchange] = []
        try:
            form = judgement(len(order), dimensions)
            reply = self.model.reply(ballot.messages, self.parameters_for(ballot), form, asked.append)
            given = reply.model_dump()
        except ModelError as error:
            return JudgeVote(order, problem=error.fault)
        shown = {index: given[f"text_{place}"] for place, index in enumerate(order, start=1)}
        return JudgeVote(
            order=order,
            marks=tuple({name: shown[index][name] for name in dimensions} for index in sorted(order)),
            analyses=tuple(shown[index]["analysis"] for index in sorted(order)),
            best=order[given["best"] - 1],
            served=asked[-1].completion.served if asked else "",
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
    parameters = default_parameters(settings, entry)
    return Judge(open_model(entry, settings), parameters, entry.context, settings.model_calls)


def shown_orders(systems: int, votes: int, seed: int | str) -> tuple[tuple[int, ...], ...]:
    """Return the order in which each vote is shown the systems, the same each time.

    Each shuffled order is rotated, so that each system has each place equally often.
    """
    chance = random.Random(seed)
    orders: list[tuple[int, ...]] = []
    while len(orders) < votes:
        shuffled = chance.sample(range(systems), systems)
        orders += [tuple(shuffled[turn:] + shuffled[:turn]) for turn in range(systems)]
    return tuple(orders[:votes])


class _Judgement(BaseModel, extra="forbid"):
    pass


@cache
def judgement(texts: int, dimensions: tuple[str, ...]) -> type[BaseModel]:
    """Return the schema of a vote: an analysis and marks for each text, and the best."""
    marks = dict.fromkeys(dimensions, (Mark, ...))
    judged = create_model(  # type: ignore[call-overload]
        "Judged", __base__=_Judgement, analysis=(str, Field(max_length=LONGEST_ANALYSIS)), **marks
    )
    numbers = Literal[tuple(range(1, texts + 1))]  # type: ignore[valid-type]
    shown = {f"text_{place}": (judged, ...) for place in range(1, texts + 1)}
    return create_model("Judgement", __base__=_Judgement, **shown, best=(numbers, ...))  # type: ignore[call-overload, no-any-return]


def qualities(definitions: Mapping[str, str]) -> str:
    """Return the qualities with their definitions, as a prompt lists them."""
    return "\n".join(f"- {name}: {meaning}" for name, meaning in definitions.items())


def numbered(texts: Sequence[str]) -> str:
    """Return foreign texts in the order in which they are shown, each under its number."""
    return "\n\n".join(between(f"text {at}", as_written(text)) for at, text in enumerate(texts, start=1))


def between(name: str, body: str) -> str:
    """Return text that is fit for a prompt, between marks."""
    return f"{mark(name)}\n{body}\n{mark(f'end of {name}')}"


def relabelled(text: str, evidence: Evidence, labels: Mapping[str, int]) -> str:
    """Return a text over `evidence` with the labels that its papers, by their ids, have in `labels`.

    Other labels are marked as unknown, as checked answers do: they could name another paper.
    """
    own = {one.label: one.paper.id for one in evidence.papers}

    def relabel(found: re.Match[str]) -> str:
        label = labels.get(own.get(int(found[1]), ""))
        return f"[{found[1]}?]" if label is None else f"[{label}]"

    # `as_written` first: it turns marks into brackets, which are labels like others.
    return _LABEL.sub(relabel, as_written(text))


@dataclass(frozen=True, slots=True)
class JudgedSystem:
    """A system's marks: mean and standard deviation of each quality.

    In the mean all things judged count the same; the deviation is over votes. `best` counts the votes that
    named the system the best.
    """

    means: Mapping[str, float]
    spreads: Mapping[str, float]
    overall: float | None
    best: int


@dataclass(frozen=True, slots=True)
class JudgeFigures:
    """A judge's marks of all systems; `wrote` names those that the judge itself wrote for."""

    judge: str
    dimensions: tuple[str, ...]
    votes: int
    discarded: int
    problems: tuple[str, ...]
    wrote: tuple[str, ...]
    systems: Mapping[str, JudgedSystem]
    served: tuple[str, ...] = ()


def judge_figures(
    judge: str,
    dimensions: tuple[str, ...],
    names: Sequence[str],
    judged: Sequence[Sequence[JudgeVote]],
    wrote: tuple[str, ...],
) -> JudgeFigures:
    """Return the figures of the systems `names`, of the votes on each thing judged."""
    cast = [vote for votes in judged for vote in votes]
    valid = [[vote for vote in votes if not vote.problem] for votes in judged]
    return JudgeFigures(
        judge=judge,
        dimensions=dimensions,
        votes=len(cast),
        discarded=sum(bool(vote.problem) for vote in cast),
        problems=tuple(dict.fromkeys(vote.problem for vote in cast if vote.problem)),
        wrote=wrote,
        systems={name: _judged(valid, index, dimensions) for index, name in enumerate(names)},
        served=tuple(sorted({vote.served for vote in cast} - {""})),
    )


def mean_marks(votes: Iterable[JudgeVote], index: int, dimensions: Iterable[str]) -> dict[str, float]:
    """Return the means of a text's marks over the votes that count, nothing where there are none."""
    marks = [vote.marks[index] for vote in votes if not vote.problem]
    return {name: statistics.fmean(given[name] for given in marks) for name in dimensions if marks}


def _judged(judged: Sequence[Sequence[JudgeVote]], index: int, dimensions: Sequence[str]) -> JudgedSystem:
    each = [mean_marks(votes, index, dimensions) for votes in judged if votes]
    means = {name: statistics.fmean(own[name] for own in each) for name in dimensions if each}
    cast = [vote for votes in judged for vote in votes]
    return JudgedSystem(
        means=means,
        spreads={name: statistics.pstdev(vote.marks[index][name] for vote in cast) for name in means},
        overall=statistics.fmean(means.values()) if means else None,
        best=sum(vote.best == index for vote in cast),
    )


def judge_table(
    judged: JudgeFigures, overall: str, notes: Iterable[str] = (), more: Iterable[Sequence[str]] = ()
) -> Table:
    """Return the table of a judge's marks; `overall` names the mean of all, `more` are last rows."""
    served = f"The server says that {', '.join(judged.served)} judged."
    wrote = (
        f"The judge wrote {', '.join(judged.wrote)} itself: models favour their own texts, so these marks"
        " show little on their own."
    )
    caption = [*([served] if judged.served else []), *([wrote] if judged.wrote else []), *notes]
    caption += [f"Discarded: {problem}" for problem in judged.problems]
    found = tuple(judged.systems.values())
    rows: list[Sequence[str] | None] = [
        [
            name.replace("_", " ").capitalize(),
            *(f"{one.means[name]:.2f} ± {one.spreads[name]:.2f}" if one.means else "" for one in found),
        ]
        for name in judged.dimensions
    ]
    rows += [
        None,
        [overall, *("" if one.overall is None else f"{one.overall:.2f}" for one in found)],
        ["Named the best", *(str(one.best) for one in found)],
        *more,
    ]
    title = f"Marks 1 to 5 by {judged.judge}, {judged.votes} votes, {judged.discarded} of them discarded"
    return table(("Quality", *judged.systems), rows, title=title, caption="\n".join(caption))


@dataclass(frozen=True, slots=True)
class Coefficient:
    """A coefficient, -1..1, with its 95 % interval, None where too little was judged or too alike."""

    value: float
    interval: tuple[float, float] | None = None


@dataclass(frozen=True, slots=True)
class Agreement:
    """How marks of a judge and of people go together: `n` texts or systems, over so many things `judged`.

    Without coefficients `undefined` says why.
    """

    n: int
    judged: int
    pearson: Coefficient | None = None
    kendall: Coefficient | None = None
    undefined: str = ""


def agreement(judge: Marked, people: Marked, dimensions: Sequence[str]) -> dict[Level, dict[str, Agreement]]:
    """Return how far a judge agrees with people on each quality and on the mean of all.

    Texts are compared where both marked them, systems by their means over what both marked of all. Intervals
    are of bootstrap samples of what was judged: marks of texts on one question are not independent.
    """
    names = (*dimensions, OVERALL)
    judge, people = (_with_overall(marked, dimensions) for marked in (judge, people))
    grids = {name: _grid(judge, people, name) for name in names}
    return {level: {name: _agreement(level, grids[name]) for name in names} for level in get_args(Level)}


def pearson(pairs: _Pairs) -> float | None:
    """Return Pearson's r of two columns, None where one is constant."""
    if _constant(pairs).any():
        return None
    return float(np.clip(np.corrcoef(pairs[:, 0], pairs[:, 1]).item(0, 1), -1.0, 1.0))


def kendall(pairs: _Pairs) -> float | None:
    """Return Kendall's tau-b of two columns, None where one is constant; rounding errors are ties."""
    if _constant(pairs).any():
        return None
    ranked = np.round(pairs, 9)
    return float(kendalltau(ranked[:, 0], ranked[:, 1]).statistic)


def _constant(pairs: _Pairs) -> NDArray[np.bool_]:
    return np.asarray(np.ptp(pairs, axis=0) < _ALIKE)


def _with_overall(marked: Marked, dimensions: Sequence[str]) -> Marked:
    """Add the mean of all qualities where each is marked."""
    return {
        place: {**marks, OVERALL: float(np.mean([marks[name] for name in dimensions]))}
        if all(name in marks for name in dimensions)
        else marks
        for place, marks in marked.items()
    }


def _grid(judge: Marked, people: Marked, name: str) -> NDArray[np.float64]:
    """Return both marks by what was judged and by system, NaN where they are missing."""
    rows, columns = (
        {key: index for index, key in enumerate(sorted({place[side] for place in judge}))} for side in (0, 1)
    )
    grid = np.full((len(rows), len(columns), 2), np.nan)
    for place, marks in judge.items():
        beside = people.get(place, {})
        if name in marks and name in beside:
            grid[rows[place[0]], columns[place[1]]] = marks[name], beside[name]
    return np.asarray(grid[~np.isnan(grid).all(axis=(1, 2))])


def _agreement(level: Level, grid: NDArray[np.float64]) -> Agreement:
    if level == "systems":
        grid = grid[~np.isnan(grid).any(axis=(1, 2))]
    pairs = _pairs(level, grid)
    if len(pairs) < LEAST:
        return Agreement(len(pairs), len(grid), undefined=f"fewer than {LEAST} to compare")
    if (same := _constant(pairs)).any():
        who = "judge and people" if same.all() else "the judge" if same[0] else "people"
        return Agreement(len(pairs), len(grid), undefined=f"{who} gave all the same mark")
    chance = np.random.default_rng(SEED)
    drawn = range(RESAMPLES if len(grid) >= LEAST else 0)
    samples = [_pairs(level, grid[chance.integers(0, len(grid), len(grid))]) for _ in drawn]
    together, ranked = (_coefficient(measure, pairs, samples) for measure in (pearson, kendall))
    return Agreement(len(pairs), len(grid), together, ranked)


def _pairs(level: Level, grid: NDArray[np.float64]) -> _Pairs:
    """Return what is compared: each text, or each system by its means."""
    if level == "systems":
        return np.asarray(grid.mean(axis=0)) if len(grid) else np.empty((0, 2))
    flat = grid.reshape(-1, 2)
    return np.asarray(flat[~np.isnan(flat).any(axis=1)])


def _coefficient(
    measure: Callable[[_Pairs], float | None], pairs: _Pairs, samples: Sequence[_Pairs]
) -> Coefficient | None:
    value = measure(pairs)
    if value is None:
        return None
    found = [one for sample in samples if (one := measure(sample)) is not None]
    if not samples or len(found) < LEAST_DEFINED * len(samples):
        return Coefficient(value)
    low, high = np.percentile(found, (2.5, 97.5))
    return Coefficient(value, (float(low), float(high)))


def agreement_table(found: Mapping[Level, Mapping[str, Agreement]], texts: str) -> Table:
    """Return the table of an agreement; `texts` is what single texts are called."""

    def shown(one: Coefficient | None) -> str:
        if one is None:
            return "undefined"
        within = f" ({one.interval[0]:.2f} to {one.interval[1]:.2f})" if one.interval else ""
        return f"{one.value:.2f}{within}"

    rows = []
    for name in found["texts"]:
        cells = [name.replace("_", " ").capitalize()]
        for one in (found[level][name] for level in get_args(Level)):
            values = (
                ["undefined:", one.undefined] if one.undefined else [shown(one.pearson), shown(one.kendall)]
            )
            cells += [str(one.n), *values]
        rows.append(cells)
    heads = (f"{what} {name}" for what in (texts, "Systems:") for name in ("n", "Pearson", "Kendall"))
    return table(("Quality", *heads), rows, title="Agreement with people (95 % intervals)")
