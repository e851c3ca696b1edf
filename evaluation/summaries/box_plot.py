"""Box plots as SVG: groups of boxes, one box for each series."""

import statistics
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader

# Colours that readers with a colour vision deficiency can tell apart (Okabe and Ito).
_COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00")
_STEP, _GROUP_GAP = 22, 28
_LEFT, _TOP, _HEIGHT, _LABELS = 48, 56, 240, 36
# A value further from the box than this multiple of its height is an outlier (Tukey).
_WHISKER = 1.5


def box_plot(
    groups: Mapping[str, Mapping[str, Sequence[float]]], axis: str, lowest: int, highest: int
) -> str:
    """Draw the values of each series in each group: median, quartiles, whiskers and outliers.

    `axis` is the label of the value axis, which runs from `lowest` to `highest`. At most six series.
    """
    series = list(dict.fromkeys(name for group in groups.values() for name in group))
    group_width = len(series) * _STEP + _GROUP_GAP

    def y(value: float) -> float:
        return round(_TOP + _HEIGHT * (highest - value) / (highest - lowest), 1)

    group_boxes = []
    for index, (group, values) in enumerate(groups.items()):
        left = _LEFT + _GROUP_GAP / 2 + index * group_width
        boxes = [
            {
                "name": name,
                "colour": _COLOURS[position],
                "x": left + position * _STEP,
                **_box(sorted(values[name]), y),
            }
            for position, name in enumerate(series)
            if values.get(name)
        ]
        group_boxes.append((group.replace("_", " "), left + len(series) * _STEP / 2, boxes))
    environment = Environment(loader=FileSystemLoader(Path(__file__).parent), autoescape=True)
    return environment.get_template("box_plot.svg").render(
        axis=axis,
        width=max(_LEFT + len(groups) * group_width + 6, _LEFT + 130 * len(series)),
        height=_TOP + _HEIGHT + _LABELS,
        ticks=[(tick, y(tick)) for tick in range(lowest, highest + 1)],
        series=series,
        colours=_COLOURS,
        groups=group_boxes,
    )


def _box(values: Sequence[float], y: Callable[[float], float]) -> dict[str, Any]:
    first, median, third = (
        statistics.quantiles(values, n=4, method="inclusive") if len(values) > 1 else list(values) * 3
    )
    reach = _WHISKER * (third - first)
    within = [value for value in values if first - reach <= value <= third + reach]
    return {
        "median": statistics.median(values),
        "whiskers": [(y(first), y(within[0])), (y(third), y(within[-1]))],
        "top": y(third),
        "height": round(y(first) - y(third), 1),
        "line": y(median),
        "outliers": [y(value) for value in values if not within[0] <= value <= within[-1]],
    }
