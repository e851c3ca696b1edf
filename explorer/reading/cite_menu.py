"""The ways to cite a paper: a line to copy, and an entry for whatever keeps one's references."""

from functools import partial

import streamlit as st

from assistant.exports.references import papers_as_bibtex, papers_as_csl_json, papers_as_ris
from corpus.records import Paper
from explorer.parts.page_image import file_name
from explorer.reading.reference_line import acl_reference

# Label, what writes it, the file's ending and its type.
FORMATS = (
    (".bib", papers_as_bibtex, "bib", "application/x-bibtex"),
    (".ris", papers_as_ris, "ris", "application/x-research-info-systems"),
    ("CSL-JSON", papers_as_csl_json, "json", "application/vnd.citationstyles.csl+json"),
)


def draw_cite_menu(paper: Paper) -> None:
    """Draw the menu with the ways to cite a paper."""
    with st.popover("Cite", type="tertiary", icon=":material/format_quote:", key="cite"):
        st.caption("Reference")
        st.code(acl_reference(paper), language=None, wrap_lines=True)
        st.caption("BibTeX")
        st.code(papers_as_bibtex((paper,)).strip(), language=None, wrap_lines=True)
        with st.container(horizontal=True, key="cite_files"):
            for label, write, ending, kind in FORMATS:
                st.download_button(
                    label,
                    data=partial(write, (paper,)),
                    file_name=file_name(paper.id, ending),
                    mime=kind,
                    on_click="ignore",
                    icon=":material/download:",
                    key=f"cite_{ending}",
                )
