"""The places of the map that are drawn, highlighted and chosen, as tables. No Streamlit."""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from corpus.records import Cluster
from explorer.presenters.safe_text import one_line, shortened

# More points are a cloud in which none can be hit, and take their time on the way to the browser.
MOST_DRAWN = 8_000
LONGEST_TITLE = 160
LONGEST_LABEL = 60
# Of the map's height and width: labels nearer to each other than this cannot be read.
_LABEL_HEIGHT = 0.055
_BETWEEN_TERMS = re.compile(r", | · ")
_LABEL_WIDTH = 0.34


@dataclass(frozen=True, slots=True)
class Group:
    """A cluster as far as it is in what is shown: what it is called, and where its label stands."""

    number: int
    label: str
    papers: int
    x: float = 0.0
    y: float = 0.0


@dataclass(frozen=True, slots=True)
class Drawn:
    """The places to draw; where `is_sample`, only some of those there are."""

    table: pa.Table
    is_sample: bool


def drawn_places(places: pa.Table, lit: Collection[str] | None, labels: Mapping[int, str]) -> Drawn:
    """Return places for the chart, those that are lit last, so that they lie on top.

    `lit` are the ids that stand out, None where all do. Of too many places every k-th is drawn, in the order
    of their ids, and all that are lit.
    """
    ordered = places.sort_by("id")
    is_lit = _is_lit(ordered, lit)
    is_sample = ordered.num_rows > MOST_DRAWN
    if is_sample:
        step = -(-ordered.num_rows // MOST_DRAWN)
        keep = np.arange(ordered.num_rows) % step == 0
        if lit is not None:
            keep |= is_lit
        ordered, is_lit = ordered.filter(pa.array(keep)), is_lit[keep]
    table = pa.table(
        {
            "id": ordered["id"],
            "title": _shown(ordered["title"]),
            "year": ordered["year"],
            "x": ordered["x"],
            "y": ordered["y"],
            "cluster": ordered["cluster"],
            "group": pa.array([labels.get(number, "") for number in ordered["cluster"].to_pylist()]),
            "lit": pa.array(is_lit),
        }
    )
    return Drawn(table.take(pa.array(np.argsort(is_lit, kind="stable"))), is_sample)


def groups_of(places: pa.Table, clusters: Sequence[Cluster]) -> tuple[Group, ...]:
    """Return the clusters that occur in `places`, the largest first, each where most of it lies."""
    numbers = places["cluster"].to_numpy()
    x, y = places["x"].to_numpy(), places["y"].to_numpy()
    found = []
    for cluster in clusters:
        mine = numbers == cluster.number
        if mine.any():
            at = float(np.median(x[mine])), float(np.median(y[mine]))
            found.append(Group(cluster.number, _label(cluster), int(mine.sum()), *at))
    return tuple(sorted(found, key=lambda group: (-group.papers, group.number)))


def brief(label: str, length: int) -> str:
    """Return as many of a label's terms as `length` characters hold, and of the first as much as they do."""
    terms = _BETWEEN_TERMS.split(label)
    kept = next(
        (terms[:count] for count in range(len(terms), 0, -1) if len(", ".join(terms[:count])) <= length),
        terms[:1],
    )
    return shortened(", ".join(kept), length)


def spread(groups: Sequence[Group], low: float, high: float, width: float) -> tuple[Group, ...]:
    """Return groups whose labels do not lie on each other: those of smaller groups make room, up or down.

    `low` and `high` are the ends of the map's y axis, `width` is the length of its x axis.
    """
    placed: list[Group] = []
    step = (high - low) * _LABEL_HEIGHT or 1.0
    for group in groups:
        tries = (group.y + step * move * sign for move in range(len(groups) + 1) for sign in (1, -1))
        y = next((y for y in tries if not _is_taken(group.x, y, placed, step, width * _LABEL_WIDTH)), group.y)
        placed.append(Group(group.number, group.label, group.papers, group.x, y))
    return tuple(placed)


def extent(places: pa.Table) -> tuple[float, float, float]:
    """Return the lowest and the highest y of some places, and how far they reach along x."""
    x, y = places["x"].to_numpy(), places["y"].to_numpy()
    return float(y.min()), float(y.max()), float(x.max() - x.min())


def chosen_ids(selection: object, places: pa.Table) -> tuple[str, ...]:
    """Return the papers inside the rectangle drawn on the map; without one, those that were clicked.

    `selection` is what the browser reports; what of it names no place in `places` is left out.
    """
    chosen: Mapping[str, Any] = selection if isinstance(selection, Mapping) else {}
    # A rectangle leaves what was clicked before it clicked still.
    if inside := _inside(chosen.get("brush"), places):
        return tuple(inside)
    clicked = dict.fromkeys(_clicked(chosen.get("pick")))
    known = set(pc.filter(places["id"], pc.is_in(places["id"], pa.array(clicked, pa.string()))).to_pylist())
    return tuple(one for one in clicked if one in known)


def members(places: pa.Table, number: int) -> tuple[str, ...]:
    """Return the ids of the papers of a cluster, as they are listed."""
    return tuple(listed_ids(places.filter(pc.equal(places["cluster"], number))))


def listed_ids(places: pa.Table) -> list[str]:
    """Return the ids of places in the order in which they are listed: the newest first, then by title."""
    ordered = places.sort_by([("year", "descending"), ("title", "ascending"), ("id", "ascending")])
    return list(ordered["id"].to_pylist())


def _clicked(points: object) -> list[str]:
    if not isinstance(points, list | tuple):
        return []
    return [one["id"] for one in points if isinstance(one, Mapping) and isinstance(one.get("id"), str)]


def _inside(brush: object, places: pa.Table) -> list[str]:
    if not isinstance(brush, Mapping):
        return []
    spans = [_span(brush.get(axis)) for axis in ("x", "y")]
    if None in spans:
        return []
    within = np.ones(places.num_rows, bool)
    for axis, span in zip(("x", "y"), spans, strict=True):
        values = places[axis].to_numpy()
        within &= (values >= span[0]) & (values <= span[1])  # type: ignore[index]
    return listed_ids(places.filter(pa.array(within)))


def _span(values: object) -> tuple[float, float] | None:
    if not isinstance(values, list | tuple) or len(values) != 2:
        return None
    if not all(isinstance(one, int | float) for one in values):
        return None
    return min(values), max(values)


def _is_lit(places: pa.Table, lit: Collection[str] | None) -> "np.ndarray[Any, np.dtype[np.bool_]]":
    if lit is None:
        return np.ones(places.num_rows, bool)
    found = pc.is_in(places["id"], pa.array(list(lit), pa.string()))
    return np.asarray(found.to_numpy(), bool)


def _shown(titles: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return titles on one line, cut, without characters that are not seen; a chart shows them as text."""
    lines = pc.replace_substring_regex(titles, r"[\p{C}\s]+", " ")
    return pc.utf8_slice_codeunits(lines, 0, LONGEST_TITLE)


def _label(cluster: Cluster) -> str:
    return shortened(cluster.label, LONGEST_LABEL) or f"Group {cluster.number}"


def _is_taken(x: float, y: float, placed: Sequence[Group], height: float, width: float) -> bool:
    return any(abs(one.y - y) < height and abs(one.x - x) < width for one in placed)


def alternative(groups: Sequence[Group], papers: int) -> str:
    """Return the map in words, for those who do not see it."""
    named = "; ".join(f"{group.label}, {group.papers:,}" for group in groups)
    return one_line(f"Map of {papers:,} papers by similarity. Groups and their papers: {named}.")
