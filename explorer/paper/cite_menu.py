"""The Cite menu: a reference to copy, and entries for reference managers."""

import re

import streamlit as st

from assistant.exports.references import papers_as_bibtex
from assistant.exports.registry import REFERENCE_FORMATS
from corpus.records import Author, Paper
from explorer.components.downloads import draw_downloads
from explorer.components.page_image import file_name
from explorer.components.rows import menu, row
from explorer.presenters.safe_text import one_line

_PAGES = re.compile(r"(?:(?<!\s)\s++)?[-–—]++\s*+")


@st.fragment
def draw_cite_menu(paper: Paper) -> None:
    """Draw the menu with a paper's reference, BibTeX entry and downloads."""
    with menu("Cite", "cite", ":material/format_quote:") as is_drawn:
        if not is_drawn:
            return
        st.caption("Reference")
        st.code(acl_reference(paper), language=None, wrap_lines=True)
        st.caption("BibTeX")
        st.code(papers_as_bibtex((paper,)).strip(), language=None, wrap_lines=True)
        with row("cite_files", align="top"):
            draw_downloads(
                REFERENCE_FORMATS,
                lambda: (paper,),
                "cite",
                file_name=lambda form: file_name(paper.id, form.ending),
                icon=":material/download:",
            )


def acl_reference(paper: Paper) -> str:
    """Return a paper in the form of the ACL Anthology's "Cite (ACL)", as far as its data are known."""
    parts = [_authors(paper.authors), str(paper.year or ""), paper.title, _place(paper)]
    lines = (line for part in parts if (line := one_line(part)))
    return " ".join(line if line.endswith((".", "?", "!")) else f"{line}." for line in lines)


def _authors(authors: tuple[Author, ...]) -> str:
    names = [name for author in authors if (name := one_line(author.name))]
    if len(names) < 3:
        return " and ".join(names)
    return f"{', '.join(names[:-1])}, and {names[-1]}"


def _place(paper: Paper) -> str:
    """Return the venue and pages of a paper, else its arXiv id, DOI or address."""
    if not paper.venue:
        return f"arXiv:{paper.arxiv_id}" if paper.arxiv_id else paper.doi or paper.url
    pages = _PAGES.sub("–", paper.pages.strip())
    return f"In {paper.venue}" + (f", {'pages' if '–' in pages else 'page'} {pages}" if pages else "")
