"""BibTeX entries for papers whose source brings none."""

import re
import unicodedata

from corpus.records import Paper
from corpus.text import words

_SPECIAL = str.maketrans(
    {
        "\\": r"\textbackslash{}",
        "{": r"\{",
        "}": r"\}",
        "&": r"\&",
        "%": r"\%",
        "$": r"\$",
        "#": r"\#",
        "_": r"\_",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
    }
)


def bibtex(paper: Paper) -> str:
    """Return a BibTeX entry made of a paper's metadata, every value escaped."""
    values = {
        "title": paper.title,
        "author": " and ".join(author.name for author in paper.authors),
        "booktitle": paper.venue,
        "year": str(paper.year or ""),
        "pages": paper.pages,
        "doi": paper.doi,
        "url": paper.url,
    }
    kind = "inproceedings" if paper.venue else "misc"
    lines = [f"    {name} = {{{_escaped(value)}}}," for name, value in values.items() if value]
    return "\n".join([f"@{kind}{{{citation_key(paper)},", *lines, "}"])


def citation_key(paper: Paper) -> str:
    """Return a stable key such as "smith-2022-dense": first author's family name, year, first long word."""
    family = paper.authors[0].family.split() if paper.authors else []
    word = next((word for word in words(paper.title) if len(word) > 3), "")
    parts = (_ascii(part) for part in (*family[-1:], str(paper.year or ""), word))
    return "-".join(part for part in parts if part) or "paper"


def _ascii(text: str) -> str:
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode()
    return re.sub(r"[^a-z0-9]", "", plain.lower())


def _escaped(text: str) -> str:
    return " ".join(text.translate(_SPECIAL).split())
