"""A paper's references and the papers that cite it, with links to those in this corpus."""

from itertools import groupby

import streamlit as st

from corpus.records import Paper, Reference
from corpus.wording import counted
from explorer.app.navigation import PAPER, link_to
from explorer.app.resources import Library
from explorer.components.checked_text import paper_link
from explorer.paper.cited_text import Bibliography
from explorer.presenters.safe_text import escaped, shortened
from explorer.presenters.wording import short_reference

REFERENCES_SHOWN = 300
CITING_SHOWN = 100
LONGEST_ENTRY = 600


def draw_bibliography(library: Library, paper: Paper, cited: Bibliography) -> None:
    """Draw the references of a paper, and the papers of this corpus that cite it."""
    _draw_references(cited)
    _draw_cited_by(library, paper)


def references_title(references: int, held: int) -> str:
    """Return "References (42, 7 in this corpus)"."""
    return f"References ({references:,}, {held:,} in this corpus)" if held else f"References ({references:,})"


def _draw_references(cited: Bibliography) -> None:
    references = cited.entries
    if not references:
        return
    with st.expander(references_title(len(references), len(cited.held)), key="references"):
        with st.container(key="entries", gap="xsmall"):
            for is_held, entries in groupby(
                enumerate(references[:REFERENCES_SHOWN]), key=lambda entry: entry[0] in cited.held
            ):
                # Links are elements of their own; the texts between them are drawn together.
                if is_held:
                    for number, reference in entries:
                        link_to(PAPER, _entry(number, reference), query_params={"id": cited.held[number]})
                else:
                    st.markdown("\n\n".join(_entry(number, reference) for number, reference in entries))
        if (more := len(references) - REFERENCES_SHOWN) > 0:
            st.caption(f"and {more:,} more")


def _entry(number: int, reference: Reference) -> str:
    # The escaped dot makes it a paragraph: the numbering of a list would restart after each link.
    return f"{number + 1}\\. {escaped(shortened(reference.text or reference.title, LONGEST_ENTRY))}"


def _draw_cited_by(library: Library, paper: Paper) -> None:
    citing = list(dict.fromkeys(link.citing for link in library.corpus.links.to_paper(paper.id)))
    if not citing:
        return
    with st.expander(f"Cited here by {counted(len(citing), 'paper')}", key="cited_by"):
        with st.container(key="similar_cited_by", gap="xxsmall"):
            for citing_paper in library.corpus.papers_by_id(citing[:CITING_SHOWN]):
                paper_link(short_reference(citing_paper), citing_paper.id)
        if (more := len(citing) - CITING_SHOWN) > 0:
            st.caption(f"and {more:,} more")
