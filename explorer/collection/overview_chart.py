"""The overview's chart: papers by field, or small bars by year for each field, all on one scale."""

from functools import lru_cache
from typing import Any

import altair as alt
import pyarrow as pa

from explorer.collection.charts import ACCENT, INK, Spec, as_spec, without_data
from explorer.presenters.overview import FieldYears

ROW = 32
LABELS = 150
WIDTH, WIDTH_ON_PHONE = 250, 170


def fields_table(fields: FieldYears) -> pa.Table:
    """Return a row for each field and year with papers, the data of `fields_spec`."""
    entries = [
        {"field": name, "year": year, "papers": papers}
        for name, years in fields.rows
        for year, papers in years.items()
    ]
    return pa.Table.from_pylist(entries)


@lru_cache(maxsize=32)
def fields_spec(fields: tuple[str, ...], years: tuple[int, ...], theme: str, *, narrow: bool) -> Spec:
    """Return the chart specification of `fields` in `years`."""
    if len(years) == 1:
        return as_spec(_by_field(len(fields), theme))
    return as_spec(_by_year(fields, years, theme, WIDTH_ON_PHONE if narrow else WIDTH))


def is_sparse(years: tuple[int, ...]) -> bool:
    """Return True if most of the years from the first to the last have no papers, and are left out."""
    return 2 * len(years) < years[-1] - years[0] + 1


def _tips() -> list[alt.Tooltip]:
    return [
        alt.Tooltip("field:N", title="Field"),
        alt.Tooltip("year:Q", title="Year", format="d"),
        alt.Tooltip("papers:Q", title="Papers", format=","),
    ]


def _label(theme: str) -> dict[str, Any]:
    return {"labelColor": INK[theme], "labelFontSize": 12}


def _by_field(rows: int, theme: str) -> alt.LayerChart | alt.FacetChart:
    axis = alt.Axis(domain=False, ticks=False, labelLimit=230, **_label(theme))
    # Unsorted: the rows are in order of frequency.
    y = alt.Y("field:N", sort=None, title=None, axis=axis)
    # Room for the number after the longest bar.
    scale = alt.Scale(range=[0, alt.ExprRef("width - 44")])
    base = without_data().encode(y=y, x=alt.X("papers:Q", axis=None, scale=scale), tooltip=_tips())
    bars = base.mark_bar(color=ACCENT[theme], height=10, cornerRadius=2)
    numbers = base.mark_text(align="left", dx=6, color=INK[theme])
    chart = alt.layer(bars, numbers.encode(text=alt.Text("papers:Q", format=",")))
    return chart.properties(height=ROW * rows)


def _years(years: tuple[int, ...], theme: str) -> alt.X:
    """Return the axis of years: only those with papers if they are sparse, else all."""
    first, last = years[0], years[-1]
    look: dict[str, Any] = {"domainColor": "#8888", "ticks": False} | _label(theme)
    if is_sparse(years):
        axis = alt.Axis(labelAngle=0, labelOverlap=True, **look)
        return alt.X("year:O", title=None, scale=alt.Scale(domain=list(years)), axis=axis)
    scale = alt.Scale(domain=[first - 0.6, last + 0.6], nice=False)
    count = min(5, last - first + 1)
    axis = alt.Axis(grid=False, format="d", tickMinStep=1, tickCount=count, **look)
    return alt.X("year:Q", title=None, scale=scale, axis=axis)


def _by_year(fields: tuple[str, ...], years: tuple[int, ...], theme: str, width: int) -> alt.Chart:
    header = alt.Header(title=None, labelAngle=0, labelAlign="left", labelLimit=LABELS, **_label(theme))
    places = len(years) if is_sparse(years) else years[-1] - years[0] + 2
    bars = without_data().mark_bar(color=ACCENT[theme], size=max(1.5, min(18.0, width / places - 1)))
    chart: alt.Chart = bars.encode(
        x=_years(years, theme),
        y=alt.Y("papers:Q", axis=None),
        row=alt.Row("field:N", sort=list(fields), header=header, spacing=8),
        tooltip=_tips(),
    ).properties(width=width, height=ROW)
    return chart
