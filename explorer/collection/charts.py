"""Shared parts of the charts: colours, and Altair charts converted to Vega-Lite specifications once."""

from typing import Any

import altair as alt
import pyarrow as pa
import streamlit as st

INK = {"light": "#1A1A18", "dark": "#ECE9E1"}
PAPER = {"light": "#FBFAF7", "dark": "#171614"}
ACCENT = {"light": "#1F4E79", "dark": "#8FB8DE"}
AnyChart = alt.Chart | alt.LayerChart | alt.FacetChart
# The name of the data set that a chart specification refers to.
DATA = "papers"

Spec = dict[str, Any]


def current_theme() -> str:
    return "dark" if st.context.theme.type == "dark" else "light"


def without_data() -> alt.Chart:
    """Return a chart whose data `with_data` adds."""
    return alt.Chart(alt.NamedData(DATA))


def as_spec(chart: AnyChart) -> Spec:
    """Return a chart as a Vega-Lite specification, drawn on a canvas as an SVG has an element per point."""
    spec: Spec = chart.configure_view(stroke=None).to_dict()
    return {**spec, "usermeta": {"embedOptions": {"renderer": "canvas"}}}


def with_data(spec: Spec, data: pa.Table) -> Spec:
    """Return a copy of a chart specification with its data."""
    return {**spec, "datasets": {**spec.get("datasets", {}), DATA: data}}
