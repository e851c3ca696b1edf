"""The measured quality of this corpus."""

import streamlit as st

from corpus.errors import CorpusError
from corpus.measured import MeasuredCorpus, read_measured
from corpus.store.manifest import Manifest
from explorer.app.resources import Library
from explorer.presenters.safe_text import escaped, one_line

COMMAND = "paper-trail eval corpus"
Row = dict[str, object]


def draw_measured(library: Library) -> None:
    """Draw the figures measured on this version of the corpus, or the command that measures them."""
    try:
        measured = read_measured(library.settings.measured_path)
    except CorpusError:
        measured = None
        st.markdown("What was measured of this corpus cannot be read.")
    if measured and measured.is_of(library.corpus.manifest):
        alt = "Shares that were measured of this corpus, and of how many"
        st.dataframe(measured_rows(measured), hide_index=True, key="measured", alt=alt)
    st.markdown(escaped(format_measured(measured, library.corpus.manifest)))
    if not (measured and measured.is_of(library.corpus.manifest)):
        st.code(COMMAND, language=None)


def measured_rows(measured: MeasuredCorpus) -> list[Row]:
    """Return a row for each measured share, with the best value."""
    return [
        {
            "Share of": one_line(share.counted),
            "Measured": f"{100 * share.share:.0f} %",
            "Best": "100 %" if share.is_good else "0 %",
            "Of": share.of,
        }
        for share in measured.shares
    ]


def format_measured(measured: MeasuredCorpus | None, manifest: Manifest) -> str:
    """Describe when and how a corpus was measured, or that it was not."""
    if measured is None:
        return "This corpus has not been measured. From the terminal:"
    date = one_line(measured.date)
    if not measured.is_of(manifest):
        return f"An earlier version of this corpus was measured on {date}. To measure this one:"
    return (
        f"Measured on {date} by {one_line(measured.product)}: {one_line(measured.command)}. Papers are looked"
        " for by what is known of them, questions are made of what they say and of what they do not. None of"
        " this says whether an answer is right."
    )
