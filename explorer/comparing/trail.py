"""The trail of a comparison: its downloads, and the drawer that shows what was sent."""

from collections.abc import Callable
from dataclasses import dataclass

import streamlit as st

from assistant.comparing.records import Comparison, WorkCall
from assistant.comparing.transcript import comparison_to_json
from assistant.comparing.wording import comparison_facts
from assistant.exports.comparison_grid import comparison_to_latex_grid, grid_to_csv, grid_to_markdown
from assistant.exports.comparison_html import comparison_to_html
from assistant.exports.comparison_latex import (
    BIBLIOGRAPHY,
    comparison_to_bibtex,
    comparison_to_csl_json,
    comparison_to_latex,
    comparison_to_ris,
)
from assistant.exports.comparison_markdown import comparison_to_markdown
from explorer.asking.trail import STEP_NAMES, draw_sent
from explorer.comparing.desk import Desk
from explorer.parts.safe_text import escaped, shortened


@dataclass(frozen=True, slots=True)
class ComparisonFormat:
    """A file that a comparison can be taken away as."""

    name: str
    label: str
    file: str
    mime: str
    write: Callable[[Comparison], str]


COMPARISON_FORMATS = (
    ComparisonFormat("json", "JSON, complete", "comparison.json", "application/json", comparison_to_json),
    ComparisonFormat(
        "markdown", "Markdown, to edit and share", "comparison.md", "text/markdown", comparison_to_markdown
    ),
    ComparisonFormat(
        "html", "Web page, to read and print", "comparison.html", "text/html", comparison_to_html
    ),
    ComparisonFormat("latex", "LaTeX, with \\cite", "comparison.tex", "text/x-tex", comparison_to_latex),
    # The LaTeX file names it: it is found under this name alone.
    ComparisonFormat(
        "bibtex", "Its papers as BibTeX", f"{BIBLIOGRAPHY}.bib", "application/x-bibtex", comparison_to_bibtex
    ),
    ComparisonFormat(
        "ris",
        "Its papers as RIS",
        "references.ris",
        "application/x-research-info-systems",
        comparison_to_ris,
    ),
    ComparisonFormat(
        "csl", "Its papers as CSL-JSON", "references.csl.json", "application/json", comparison_to_csl_json
    ),
    ComparisonFormat("csv", "Key elements as CSV", "key-elements.csv", "text/csv", grid_to_csv),
    ComparisonFormat(
        "table", "Key elements as Markdown", "key-elements.md", "text/markdown", grid_to_markdown
    ),
    ComparisonFormat(
        "latex_table", "Key elements as LaTeX", "key-elements.tex", "text/x-tex", comparison_to_latex_grid
    ),
)


def draw_comparison_trail(desk: Desk, comparison: Comparison) -> None:
    """Draw the downloads of a comparison; a file is made when it is asked for."""
    key = f"comparison_trail_{desk.menus_closed}"
    with st.popover("Trail", type="tertiary", icon=":material/download:", key=key):
        with st.container(key="downloads_comparison", gap=None):
            for one in COMPARISON_FORMATS:
                _draw_download(one, comparison)
        st.button(
            "What was sent",
            icon=":material/receipt_long:",
            key="comparison_calls",
            width="stretch",
            on_click=_show_calls,
            args=(desk,),
        )


def _draw_download(one: ComparisonFormat, comparison: Comparison) -> None:
    st.download_button(
        escaped(one.label),
        data=lambda: one.write(comparison),
        file_name=one.file,
        mime=one.mime,
        on_click="ignore",
        type="tertiary",
        key=f"comparison_{one.name}",
    )


def _show_calls(desk: Desk) -> None:
    # One drawer at a time, and no menu before it.
    desk.shows_calls, desk.drawer_open = True, False
    desk.menus_closed += 1


def draw_comparison_calls(desk: Desk, comparison: Comparison) -> None:
    """Draw the drawer with everything that was sent for the comparison, where it is to be shown."""

    @st.dialog("What was sent", position="right", width="large", on_dismiss=desk.close_calls)
    def drawer() -> None:
        with st.container(key="calls_drawer"):
            _draw_calls(comparison)

    if desk.shows_calls:
        drawer()


def _draw_calls(comparison: Comparison) -> None:
    """Draw one call of all: a hundred prompts at once would be too much for a browser, and for a reader."""
    st.markdown(escaped(shortened(comparison.about, 300)))
    st.caption(escaped(" · ".join(comparison_facts(comparison))))
    if not comparison.calls:
        st.caption("No model was asked: everything was done by rule, and is in the trail.")
        return
    chosen = st.selectbox(
        "Call",
        range(len(comparison.calls)),
        format_func=lambda place: call_title(place + 1, comparison.calls[place]),
        key="call_shown",
    )
    if chosen is not None and 0 <= chosen < len(comparison.calls):
        draw_sent(comparison.calls[chosen].call)


def call_title(number: int, one: WorkCall) -> str:
    """Return what a call was made for, as it is chosen by; shown as plain text."""
    reused = ", of an earlier comparison" if one.reused else ""
    return f"{number}. {STEP_NAMES[one.call.step]}: {shortened(one.work, 60)}{reused}"
