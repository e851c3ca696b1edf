"""A paper as a line in a list of references, in the style of the ACL. No Streamlit."""

import re

from corpus.records import Author, Paper
from explorer.parts.safe_text import one_line

_PAGES = re.compile(r"\s*[-–—]+\s*")


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
