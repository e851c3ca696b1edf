"""How far a judge agrees with people: Pearson's r and Kendall's tau-b, of single texts and of systems."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray
from rich.box import SIMPLE_HEAD
from rich.table import Column, Table
from scipy.stats import kendalltau

OVERALL = "overall"
LEAST = 3  # fewer points lie on a line, whatever they say
RESAMPLES, SEED = 1000, 0
LEAST_DEFINED = 0.9  # of the resamples, for an interval
_ALIKE = 1e-9  # means of the same marks may differ by as little

Level = Literal["texts", "systems"]
Marked = Mapping[tuple[str, str], Mapping[str, float]]
"""Marks by what was judged and by system."""
_Pairs = NDArray[np.float64]  # a judge's marks beside people's: two columns


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

    Texts are compared where both marked them; systems by their means over what of each system both marked,
    so that all means are over the same. Intervals are of bootstrap samples of what was judged, because what
    is said of texts on the same question is not independent.
    """
    names = (*dimensions, OVERALL)
    grids = {
        name: _grid(_with_overall(judge, dimensions), _with_overall(people, dimensions), name)
        for name in names
    }
    return {level: {name: _agreement(level, grids[name]) for name in names} for level in get_args(Level)}


def pearson(pairs: _Pairs) -> float | None:
    """Return Pearson's r of two columns, None where one is constant."""
    if _constant(pairs).any():
        return None
    return float(np.clip(np.corrcoef(pairs[:, 0], pairs[:, 1]).item(0, 1), -1.0, 1.0))


def kendall(pairs: _Pairs) -> float | None:
    """Return Kendall's tau-b of two columns, which counts ties, None where one is constant."""
    if _constant(pairs).any():
        return None
    # What differs only by how it was rounded is a tie.
    ranked = np.round(pairs, 9)
    return float(kendalltau(ranked[:, 0], ranked[:, 1]).statistic)


def _constant(pairs: _Pairs) -> NDArray[np.bool_]:
    """Return for either column whether all its marks are one."""
    same: NDArray[np.bool_] = np.ptp(pairs, axis=0) < _ALIKE
    return same


def _with_overall(marked: Marked, dimensions: Sequence[str]) -> Marked:
    """Add the mean of all qualities to the marks of those of which each is marked."""
    return {
        place: {**marks, OVERALL: float(np.mean([marks[name] for name in dimensions]))}
        if all(name in marks for name in dimensions)
        else marks
        for place, marks in marked.items()
    }


def _grid(judge: Marked, people: Marked, name: str) -> NDArray[np.float64]:
    """Return both marks by what was judged and by system, NaN where one of them is missing."""
    rows, columns = (
        {key: index for index, key in enumerate(sorted({place[side] for place in judge}))} for side in (0, 1)
    )
    grid: NDArray[np.float64] = np.full((len(rows), len(columns), 2), np.nan)
    for place, marks in judge.items():
        beside = people.get(place, {})
        if name in marks and name in beside:
            grid[rows[place[0]], columns[place[1]]] = marks[name], beside[name]
    marked: NDArray[np.float64] = grid[~np.isnan(grid).all(axis=(1, 2))]
    return marked


def _agreement(level: Level, grid: NDArray[np.float64]) -> Agreement:
    if level == "systems":
        grid = grid[~np.isnan(grid).any(axis=(1, 2))]
    pairs = _pairs(level, grid)
    if undefined := _undefined(pairs):
        return Agreement(len(pairs), len(grid), undefined=undefined)
    samples = list(_resampled(level, grid)) if len(grid) >= LEAST else []
    return Agreement(
        n=len(pairs),
        judged=len(grid),
        pearson=_coefficient(pearson, pairs, samples),
        kendall=_coefficient(kendall, pairs, samples),
    )


def _pairs(level: Level, grid: NDArray[np.float64]) -> _Pairs:
    """Return what is compared: each text, or each system by its means."""
    if level == "texts":
        flat = grid.reshape(-1, 2)
        pairs: _Pairs = flat[~np.isnan(flat).any(axis=1)]
    else:
        pairs = grid.mean(axis=0) if len(grid) else np.empty((0, 2))
    return pairs


def _undefined(pairs: _Pairs) -> str:
    if len(pairs) < LEAST:
        return f"fewer than {LEAST} to compare"
    same = _constant(pairs)
    if same.any():
        who = "judge and people" if same.all() else "the judge" if same[0] else "people"
        return f"{who} gave all the same mark"
    return ""


def _resampled(level: Level, grid: NDArray[np.float64]) -> Iterator[_Pairs]:
    chance = np.random.default_rng(SEED)
    for _ in range(RESAMPLES):
        yield _pairs(level, grid[chance.integers(0, len(grid), len(grid))])


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
    """Return what people read of an agreement; `texts` is what single texts are called."""
    heads = [f"{what} {name}" for what in (texts, "Systems:") for name in ("n", "Pearson", "Kendall")]
    table = Table("Quality", *(Column(head, justify="right") for head in heads), box=SIMPLE_HEAD)
    table.title = "Agreement with people (95 % intervals)"
    for name in found["texts"]:
        cells = (cell for level in get_args(Level) for cell in _cells(found[level][name]))
        table.add_row(name.replace("_", " ").capitalize(), *cells)
    return table


def _cells(one: Agreement) -> tuple[str, str, str]:
    if one.undefined:
        return str(one.n), "undefined:", one.undefined
    return str(one.n), _said(one.pearson), _said(one.kendall)


def _said(one: Coefficient | None) -> str:
    if one is None:
        return "undefined"
    within = f" ({one.interval[0]:.2f} to {one.interval[1]:.2f})" if one.interval else ""
    return f"{one.value:.2f}{within}"
