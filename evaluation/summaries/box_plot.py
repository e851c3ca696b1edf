"""Box plots as SVG: groups of boxes, one box for each series."""

import statistics
from collections.abc import Callable, Iterator, Mapping, Sequence
from xml.sax.saxutils import escape

# Colours that readers with a colour vision deficiency can tell apart (Okabe and Ito).
_COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00")
_BOX, _GAP, _GROUP_GAP = 16, 6, 28
_LEFT, _TOP, _HEIGHT, _LABELS = 48, 56, 240, 36
# A point further from the box than this many times its height is an outlier (Tukey).
_WHISKER = 1.5


def box_plot(
    groups: Mapping[str, Mapping[str, Sequence[float]]], axis: str, lowest: int, highest: int
) -> str:
    """Draw the values of each series in each group: median, quartiles, whiskers and outliers.

    `axis` names the values, which are between `lowest` and `highest`.
    """
    series = list(dict.fromkeys(name for group in groups.values() for name in group))
    step = _BOX + _GAP
    group_width = len(series) * step + _GROUP_GAP
    width = max(_LEFT + len(groups) * group_width + _GAP, _LEFT + 130 * len(series))
    height = _TOP + _HEIGHT + _LABELS

    def y(value: float) -> float:
        return round(_TOP + _HEIGHT * (highest - value) / (highest - lowest), 1)

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}"'
        f' height="{height}" font-family="sans-serif" font-size="12">',
        f'<rect width="{width}" height="{height}" fill="#fff"/>',
        f'<text x="8" y="{_TOP - 12}">{escape(axis)}</text>',
    ]
    for tick in range(lowest, highest + 1):
        parts += [
            f'<line x1="{_LEFT}" x2="{width - _GAP}" y1="{y(tick)}" y2="{y(tick)}" stroke="#ddd"/>',
            f'<text x="{_LEFT - 8}" y="{y(tick) + 4}" text-anchor="end">{tick}</text>',
        ]
    for at, name in enumerate(series):
        parts += [
            f'<rect x="{_LEFT + 130 * at}" y="10" width="12" height="12" fill="{_colour(at)}"/>',
            f'<text x="{_LEFT + 130 * at + 18}" y="20">{escape(name)}</text>',
        ]
    for index, (group, values) in enumerate(groups.items()):
        left = _LEFT + _GROUP_GAP / 2 + index * group_width
        middle = left + len(series) * step / 2
        label = escape(group.replace("_", " "))
        parts.append(f'<text x="{middle}" y="{height - 14}" text-anchor="middle">{label}</text>')
        for at, name in enumerate(series):
            if values.get(name):
                shapes = "".join(_shapes(sorted(values[name]), left + at * step, y))
                title = f"{label}, {escape(name)}: median {statistics.median(values[name]):.2f}"
                parts.append(f'<g stroke="{_colour(at)}" fill="none"><title>{title}</title>{shapes}</g>')
    return "\n".join([*parts, "</svg>", ""])


def _shapes(values: Sequence[float], x: float, y: Callable[[float], float]) -> Iterator[str]:
    first, median, third = (
        statistics.quantiles(values, n=4, method="inclusive") if len(values) > 1 else list(values) * 3
    )
    reach = _WHISKER * (third - first)
    within = [value for value in values if first - reach <= value <= third + reach]
    middle = x + _BOX / 2
    for start, end in ((within[0], first), (third, within[-1])):
        yield f'<line x1="{middle}" x2="{middle}" y1="{y(start)}" y2="{y(end)}"/>'
    for end in (within[0], within[-1]):
        yield f'<line x1="{x + 4}" x2="{x + _BOX - 4}" y1="{y(end)}" y2="{y(end)}"/>'
    box = round(y(first) - y(third), 1)
    yield f'<rect x="{x}" y="{y(third)}" width="{_BOX}" height="{box}" fill="#fff"/>'
    yield f'<line x1="{x}" x2="{x + _BOX}" y1="{y(median)}" y2="{y(median)}" stroke-width="2"/>'
    for value in values:
        if not within[0] <= value <= within[-1]:
            yield f'<circle cx="{middle}" cy="{y(value)}" r="2.5"/>'


def _colour(at: int) -> str:
    return _COLOURS[at % len(_COLOURS)]
