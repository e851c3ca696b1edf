"""The papers a visitor has ticked, over pages and views: asked, compared or taken away as references."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import streamlit as st

from assistant.comparing.admission import FEWEST_PAPERS
from assistant.exports.paper_table import papers_as_csv
from assistant.exports.references import papers_as_bibtex, papers_as_csl_json, papers_as_ris
from corpus.records import Paper
from corpus.store import Corpus
from explorer.asking.screen import ask_about, papers_picked
from explorer.comparing.desk import current_desk
from explorer.navigation import ASK, COMPARE
from explorer.parts.finding import MOST_FOUND
from explorer.parts.safe_text import escaped, shortened
from explorer.reader import Reader

MOST_SELECTED = MOST_FOUND


@dataclass(frozen=True, slots=True)
class Format:
    """A file that selected papers can be taken away as."""

    name: str
    label: str
    file_name: str
    mime: str
    write: Callable[[Iterable[Paper]], str]


FORMATS = (
    Format("bibtex", "BibTeX", "papers.bib", "application/x-bibtex", papers_as_bibtex),
    Format("ris", "RIS", "papers.ris", "application/x-research-info-systems", papers_as_ris),
    Format("csl", "CSL-JSON", "papers.csl.json", "application/json", papers_as_csl_json),
    Format("csv", "Table as CSV", "papers.csv", "text/csv", papers_as_csv),
)


def draw_tick(reader: Reader, paper: Paper) -> None:
    """Draw the box that selects a paper."""
    key = f"tick_{paper.id}"
    # What is selected stands in the reader alone: a box that was not drawn for a while has forgotten it.
    st.session_state[key] = paper.id in reader.picked
    st.checkbox(
        escaped(f"Select {shortened(paper.title, 80)}"),
        key=key,
        label_visibility="collapsed",
        on_change=_ticked,
        args=(reader, paper.id),
    )


def draw_selection(reader: Reader, corpus: Corpus) -> None:
    """Draw what can be done with the selected papers, at the bottom of the window."""
    if not reader.picked:
        return
    with st.bottom, st.container(horizontal=True, vertical_alignment="center", key="picked"):
        st.markdown(papers_picked(reader), width="content")
        if st.button("Ask these", type="primary", key="ask_these"):
            ask_about(reader, reader.picked)
            go_to_ask()
        if len(reader.picked) >= FEWEST_PAPERS and st.button("Compare these", key="compare_these"):
            current_desk().choose(reader.picked)
            st.switch_page(COMPARE, query_params={})
        with st.popover("Export", icon=":material/download:", key="export_these"):
            _draw_downloads(reader, corpus)
        st.button("Select none", type="tertiary", key="pick_none", on_click=_select_none, args=(reader,))


def _draw_downloads(reader: Reader, corpus: Corpus) -> None:
    with st.container(key="downloads_picked", gap=None):
        for one in FORMATS:
            st.download_button(
                one.label,
                data=lambda one=one: one.write(corpus.papers_by_id(reader.picked)),  # type: ignore[misc]
                file_name=one.file_name,
                mime=one.mime,
                on_click="ignore",
                type="tertiary",
                key=f"export_{one.name}",
            )


def select(reader: Reader, paper_ids: Iterable[str]) -> None:
    """Select papers beside those that are selected already, at most as many as can be listed."""
    reader.picked = tuple(dict.fromkeys((*reader.picked, *paper_ids)))[:MOST_SELECTED]


def draw_select_all(
    reader: Reader, key: str, total: int, ids: Callable[[], Iterable[str]], *, already: bool = False
) -> None:
    """Draw the button that selects all of a list, or as many of its first as can be selected."""
    label = f"Select all {total:,}" if total <= MOST_SELECTED else f"Select the first {MOST_SELECTED}"
    st.button(label, key=key, type="tertiary", disabled=already, on_click=_select_listed, args=(reader, ids))


def go_to_ask() -> None:
    # Without parameters of its own, switching is refused while widgets have theirs in the address.
    st.switch_page(ASK, query_params={})


def _ticked(reader: Reader, paper_id: str) -> None:
    reader.pick(paper_id, picked=bool(st.session_state.get(f"tick_{paper_id}")))


def _select_listed(reader: Reader, ids: Callable[[], Iterable[str]]) -> None:
    select(reader, ids())


def _select_none(reader: Reader) -> None:
    reader.picked = ()
