"""The ways to cite a paper: a line to copy, and an entry for whatever keeps one's references."""

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
    """Draw the menu with the ways to cite a paper."""
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
                file_name=lambda one: file_name(paper.id, one.ending),
                icon=":material/download:",
            )


def acl_reference(paper: Paper) -> str:
    """Return a paper as the ACL Anthology's "Cite (ACL)" writes it; nothing is said that is not known."""
    parts = [_authors(paper.authors), str(paper.year or ""), paper.title, _place(paper)]
    return " ".join(_closed(line) for part in parts if (line := one_line(part)))


def _authors(authors: tuple[Author, ...]) -> str:
    names = [name for author in authors if (name := one_line(author.name))]
    if len(names) < 3:
        return " and ".join(names)
    return f"{', '.join(names[:-1])}, and {names[-1]}"


def _place(paper: Paper) -> str:
    """Return where a paper was published, or else where it can be had."""
    if paper.venue:
        return f"In {paper.venue}{_pages(paper.pages)}"
    if paper.arxiv_id:
        return f"arXiv:{paper.arxiv_id}"
    return paper.doi or paper.url


def _pages(pages: str) -> str:
    if not pages.strip():
        return ""
    dashed = _PAGES.sub("–", pages.strip())
    return f", {'pages' if '–' in dashed else 'page'} {dashed}"


def _closed(part: str) -> str:
    return part if part.endswith((".", "?", "!")) else f"{part}."
