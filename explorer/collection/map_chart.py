"""The map's chart: a point for each paper, coloured and labelled by group."""

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import altair as alt

from explorer.collection.charts import INK, PAPER, Spec, as_spec, without_data
from explorer.presenters.map_places import Group

# All with a contrast of at least 4.5:1 on the theme's background.
COLOURS = {
    "light": (
        "#0f74c5", "#a14206", "#03823a", "#9a53aa", "#756208", "#017b80",
        "#bc484f", "#5554b6", "#5b7809", "#b24981", "#895709", "#007e68",
    ),
    "dark": (
        "#60aaf3", "#fea47c", "#4fa866", "#c889d7", "#d8bd51", "#10a6ad",
        "#eb8182", "#b1b7fd", "#80a03e", "#e181b0", "#f3ae58", "#19aa8e",
    ),
}  # fmt: skip
FAINT = 0.13
# Labels are above their places, so that they do not cover a single paper.
ABOVE = -15
HEIGHT, HEIGHT_ON_PHONE = 480, 400


def colour(number: int, theme: str) -> str:
    """Return the colour of a group; with many groups some share a colour."""
    return COLOURS[theme][number % len(COLOURS[theme])]


@lru_cache(maxsize=64)
def map_spec(groups: tuple[Group, ...], points: int, theme: str, *, brushed: bool, height: int) -> Spec:
    """Return the chart specification; its data is the table of `drawn_places`."""
    pick = alt.selection_point(name="pick", fields=["id"], empty=False)
    # On a touch screen drawing a rectangle cannot be told from scrolling.
    selections = [pick, alt.selection_interval(name="brush")] if brushed else [pick]
    drawn = (
        without_data().mark_circle().encode(**_channels(groups, points, theme, pick)).add_params(*selections)
    )
    chart = alt.layer(drawn, *_labels(groups, theme)).properties(height=height)
    return as_spec(chart)


def _channels(groups: Sequence[Group], points: int, theme: str, pick: alt.Parameter) -> dict[str, Any]:
    numbers = [group.number for group in groups]
    size = max(9.0, min(110.0, 24_000 / max(points, 1)))
    return {
        "x": alt.X("x:Q", axis=None, scale=alt.Scale(zero=False, nice=False, padding=14)),
        "y": alt.Y("y:Q", axis=None, scale=alt.Scale(zero=False, nice=False, padding=26)),
        "color": alt.Color(
            "cluster:N",
            scale=alt.Scale(domain=numbers, range=[colour(number, theme) for number in numbers]),
            legend=None,
        ),
        "size": alt.condition(pick, alt.value(size + 90), alt.value(size)),
        "opacity": alt.condition("datum.lit", alt.value(0.8), alt.value(FAINT)),
        "stroke": alt.value(INK[theme]),
        "strokeWidth": alt.condition(pick, alt.value(2), alt.value(0)),
        "tooltip": [
            alt.Tooltip("title:N", title="Paper"),
            alt.Tooltip("year:Q", title="Year", format="d"),
            alt.Tooltip("group:N", title="Group"),
        ],
    }


def _labels(groups: Sequence[Group], theme: str) -> tuple[alt.Chart, alt.Chart]:
    """Return the groups' labels, and a wide outline to draw below them."""
    values = [{"x": group.x, "y": group.y, "label": group.label} for group in groups]
    placed = alt.Chart(alt.InlineData(values=values)).encode(x="x:Q", y="y:Q", text="label:N")
    edge = placed.mark_text(
        dy=ABOVE,
        fontSize=13,
        fontWeight=600,
        limit=260,
        fill=PAPER[theme],
        stroke=PAPER[theme],
        strokeWidth=4,
    )
    return edge, placed.mark_text(dy=ABOVE, fontSize=13, fontWeight=600, limit=260, fill=INK[theme])


def group_dots(numbers: Sequence[int], theme: str) -> str:
    """Return the style that puts a group's colour before its button; built from numbers and constants."""
    rules = (
        f".st-key-group_{int(number)} button::before {{ background: {colour(int(number), theme)}; }}"
        for number in numbers
    )
    return f"<style>{' '.join(rules)}</style>"
