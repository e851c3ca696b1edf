"""Shared parts of the charts: colours, and Altair made Vega-Lite once, drawn without Altair's lock."""

from typing import Any

import altair as alt
import pyarrow as pa
import streamlit as st

INK = {"light": "#1A1A18", "dark": "#ECE9E1"}
PAPER = {"light": "#FBFAF7", "dark": "#171614"}
ACCENT = {"light": "#1F4E79", "dark": "#8FB8DE"}
AnyChart = alt.Chart | alt.LayerChart | alt.FacetChart
# The name under which a chart built without data finds it when it is drawn.
DATA = "papers"

Spec = dict[str, Any]


def current_theme() -> str:
    return "dark" if st.context.theme.type == "dark" else "light"


def later() -> alt.Chart:
    """Return a chart whose data `with_data` will bring."""
    return alt.Chart(alt.NamedData(DATA))


def as_spec(chart: AnyChart) -> Spec:
    """Return a chart as Vega-Lite for a canvas: in an SVG, thousands of points are as many elements."""
    spec: Spec = chart.configure_view(stroke=None).to_dict()
    return {**spec, "usermeta": {"embedOptions": {"renderer": "canvas"}}}


def with_data(spec: Spec, data: pa.Table) -> Spec:
    """Return a chart with its data; `spec` is left as it is."""
    return {**spec, "datasets": {**spec.get("datasets", {}), DATA: data}}
