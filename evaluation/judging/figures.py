"""What a judge's votes come to: means and spreads for each system, and the table of them."""

import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from rich.box import SIMPLE_HEAD
from rich.markup import escape
from rich.table import Column, Table

from evaluation.judging.judge import JudgeVote


@dataclass(frozen=True, slots=True)
class JudgedSystem:
    """A system's marks: the mean and the spread (standard deviation) of each quality.

    Of several things judged each counts the same in the mean; the spread is over all votes. `overall` is the
    mean of the qualities' means, `best` how many votes named the system the best.
    """

    means: Mapping[str, float]
    spreads: Mapping[str, float]
    overall: float | None
    best: int


@dataclass(frozen=True, slots=True)
class JudgeFigures:
    """What a judge says of all systems; `wrote` names those that the judge itself wrote for.

    `served` are the models that the server says have judged, where these are not the one asked.
    """

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
    means = {name: statistics.fmean(one[name] for one in each) for name in dimensions if each}
    cast = [vote for votes in judged for vote in votes]
    return JudgedSystem(
        means=means,
        spreads={name: statistics.pstdev(vote.marks[index][name] for vote in cast) for name in means},
        overall=statistics.fmean(means.values()) if means else None,
        best=sum(vote.best == index for vote in cast),
    )


def judge_table(judged: JudgeFigures, overall: str, notes: Iterable[str] = ()) -> Table:
    """Return what people read of a judge's marks; `overall` is what the mean of the qualities is called."""
    title = f"Marks 1 to 5 by {judged.judge}, {judged.votes} votes, {judged.discarded} of them discarded"
    numbers = [Column(escape(name), justify="right") for name in judged.systems]
    caption = escape(
        "\n".join((*_served_said(judged), *_own_texts_said(judged), *notes, *_discarded_said(judged)))
    )
    table = Table("Quality", *numbers, box=SIMPLE_HEAD, title=escape(title), caption=caption)
    found = tuple(judged.systems.values())
    for name in judged.dimensions:
        table.add_row(
            name.replace("_", " ").capitalize(),
            *(f"{one.means[name]:.2f} ± {one.spreads[name]:.2f}" if one.means else "" for one in found),
        )
    table.add_section()
    table.add_row(overall, *("" if one.overall is None else f"{one.overall:.2f}" for one in found))
    table.add_row("Named the best", *(str(one.best) for one in found))
    return table


def _served_said(judged: JudgeFigures) -> tuple[str, ...]:
    return (f"The server says that {', '.join(judged.served)} judged.",) if judged.served else ()


def _own_texts_said(judged: JudgeFigures) -> tuple[str, ...]:
    if not judged.wrote:
        return ()
    return (
        f"The judge wrote {', '.join(judged.wrote)} itself: models favour their own texts, so these marks"
        " show little on their own.",
    )


def _discarded_said(judged: JudgeFigures) -> tuple[str, ...]:
    return tuple(f"Discarded: {problem}" for problem in judged.problems)
