"""The places of the map as tables: drawn, highlighted and chosen ones. No Streamlit."""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from corpus.records import Cluster
from explorer.presenters.safe_text import one_line, shortened

# More points overlap too much to be clicked, and take long to send.
MOST_DRAWN = 8_000
LONGEST_TITLE = 160
LONGEST_LABEL = 60
# Size of a label, as a share of the map's height and width.
_LABEL_HEIGHT = 0.055
_BETWEEN_TERMS = re.compile(r", | · ")
_LABEL_WIDTH = 0.34


@dataclass(frozen=True, slots=True)
class Group:
    """The shown papers of a cluster: their number, and the label with its position."""

    number: int
    label: str
    papers: int
    x: float = 0.0
    y: float = 0.0


@dataclass(frozen=True, slots=True)
class Drawn:
    """The places to draw, `is_sample` if they are a sample of all."""

    table: pa.Table
    is_sample: bool


def drawn_places(places: pa.Table, lit: Collection[str] | None, labels: Mapping[int, str]) -> Drawn:
    """Return the places to draw, highlighted ones last, so that they are on top.

    `lit` are the highlighted ids, None for all. Of too many places every k-th by id is drawn, and all that
    are highlighted.
    """
    ordered = places.sort_by("id")
    is_lit = np.ones(ordered.num_rows, bool)
    if lit is not None:
        is_lit = np.asarray(pc.is_in(ordered["id"], pa.array(list(lit), pa.string())).to_numpy(), bool)
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
            "title": _one_line_titles(ordered["title"]),
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
    """Return the clusters that occur in `places`, largest first, each at the median of its places."""
    numbers = places["cluster"].to_numpy()
    x, y = places["x"].to_numpy(), places["y"].to_numpy()
    groups = []
    for cluster in clusters:
        in_cluster = numbers == cluster.number
        if in_cluster.any():
            middle = float(np.median(x[in_cluster])), float(np.median(y[in_cluster]))
            label = shortened(cluster.label, LONGEST_LABEL) or f"Group {cluster.number}"
            groups.append(Group(cluster.number, label, int(in_cluster.sum()), *middle))
    return tuple(sorted(groups, key=lambda group: (-group.papers, group.number)))


def brief(label: str, length: int) -> str:
    """Return as many of a label's terms as fit in `length` characters, the first one cut if needed."""
    terms = _BETWEEN_TERMS.split(label)
    kept = next(
        (terms[:count] for count in range(len(terms), 0, -1) if len(", ".join(terms[:count])) <= length),
        terms[:1],
    )
    return shortened(", ".join(kept), length)


def spread(groups: Sequence[Group], low: float, high: float, width: float) -> tuple[Group, ...]:
    """Return groups with labels moved up or down so that they do not overlap, smaller groups first to move.

    `low` and `high` are the ends of the map's y axis, `width` is the length of its x axis.
    """
    placed: list[Group] = []
    step = (high - low) * _LABEL_HEIGHT or 1.0
    for group in groups:
        nearby = [other.y for other in placed if abs(other.x - group.x) < width * _LABEL_WIDTH]
        tries = (group.y + step * move * sign for move in range(len(groups) + 1) for sign in (1, -1))
        free = (y for y in tries if all(abs(other - y) >= step for other in nearby))
        placed.append(replace(group, y=next(free, group.y)))
    return tuple(placed)


def extent(places: pa.Table) -> tuple[float, float, float]:
    """Return the lowest and the highest y of places, and the length of their x axis."""
    x, y = places["x"].to_numpy(), places["y"].to_numpy()
    return float(y.min()), float(y.max()), float(x.max() - x.min())


def chosen_ids(selection: object, places: pa.Table) -> tuple[str, ...]:
    """Return the papers inside the rectangle drawn on the map, else those that were clicked.

    `selection` is the browser's untrusted report; ids that are not in `places` are left out.
    """
    chosen: Mapping[str, Any] = selection if isinstance(selection, Mapping) else {}
    # The browser still reports earlier clicks with a rectangle.
    if inside := _inside(chosen.get("brush"), places):
        return tuple(inside)
    points = chosen.get("pick")
    ids = (
        point["id"]
        for point in (points if isinstance(points, list | tuple) else ())
        if isinstance(point, Mapping) and isinstance(point.get("id"), str)
    )
    clicked = dict.fromkeys(ids)
    known = set(pc.filter(places["id"], pc.is_in(places["id"], pa.array(clicked, pa.string()))).to_pylist())
    return tuple(paper for paper in clicked if paper in known)


def members(places: pa.Table, number: int) -> tuple[str, ...]:
    """Return the ids of the papers of a cluster in list order."""
    return tuple(listed_ids(places.filter(pc.equal(places["cluster"], number))))


def listed_ids(places: pa.Table) -> list[str]:
    """Return the ids of places in list order: newest first, then by title."""
    ordered = places.sort_by([("year", "descending"), ("title", "ascending"), ("id", "ascending")])
    return list(ordered["id"].to_pylist())


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
    match values:
        case [int() | float() as start, int() | float() as end]:
            return min(start, end), max(start, end)
    return None


def _one_line_titles(titles: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return titles cut and on one line, without invisible characters; the chart shows them as text."""
    lines = pc.replace_substring_regex(titles, r"[\p{C}\s]+", " ")
    return pc.utf8_slice_codeunits(lines, 0, LONGEST_TITLE)


def alternative(groups: Sequence[Group], papers: int) -> str:
    """Return the text alternative of the map."""
    named = "; ".join(f"{group.label}, {group.papers:,}" for group in groups)
    return one_line(f"Map of {papers:,} papers by similarity. Groups and their papers: {named}.")
