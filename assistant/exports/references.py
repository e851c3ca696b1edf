"""References to papers as BibTeX, RIS and CSL-JSON."""

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from assistant.exports.escaping import on_one_line
from corpus.bibtex.entry import BibtexEntry, is_safe, is_safe_key, make_entry, read_entry
from corpus.bibtex.latex import latex_to_text
from corpus.bibtex.syntax import parse_bibtex
from corpus.records import Author, Paper
from corpus.text import storable

# BibTeX's types in RIS and in CSL. A "misc" entry is a preprint if it has an arXiv id.
_TYPES = {
    "article": ("JOUR", "article-journal"),
    "book": ("BOOK", "book"),
    "conference": ("CPAPER", "paper-conference"),
    "inbook": ("CHAP", "chapter"),
    "incollection": ("CHAP", "chapter"),
    "inproceedings": ("CPAPER", "paper-conference"),
    "collection": ("BOOK", "book"),
    "mastersthesis": ("THES", "thesis"),
    "phdthesis": ("THES", "thesis"),
    "proceedings": ("CONF", "book"),
    "report": ("RPRT", "report"),
    "techreport": ("RPRT", "report"),
    "thesis": ("THES", "thesis"),
}
_PREPRINT = ("UNPB", "article")
_OTHER = ("GEN", "document")
_PAGES = re.compile(r"\s*([\w.:]+)\s*[-–—]+\s*([\w.:]+)\s*")


@dataclass(frozen=True, slots=True)
class _Cited:
    """A cited paper with its entry, which has a unique key."""

    paper: Paper
    entry: BibtexEntry

    @property
    def types(self) -> tuple[str, str]:
        return _TYPES.get(self.entry.kind, _PREPRINT if self.paper.arxiv_id else _OTHER)

    def field(self, *names: str) -> str:
        """Return the first of these fields that the entry has as plain text, "" without any."""
        fields = next((parsed.fields for parsed in parse_bibtex(str(self.entry)).entries), {})
        return next((on_one_line(latex_to_text(fields[name])) for name in names if fields.get(name)), "")


def papers_as_bibtex(papers: Iterable[Paper]) -> str:
    """Return an entry per paper: that of its source, or one made of its metadata."""
    return "".join(f"{cited.entry}\n\n" for cited in _cited(papers))


def papers_as_ris(papers: Iterable[Paper]) -> str:
    """Return a RIS record per paper."""
    records = ("".join(f"{tag}  - {value}\r\n" for tag, value in _ris(cited)) for cited in _cited(papers))
    return "\r\n".join(records)


def papers_as_csl_json(papers: Iterable[Paper]) -> str:
    """Return papers as a list of CSL-JSON items."""
    return json.dumps([_csl(cited) for cited in _cited(papers)], ensure_ascii=False, indent=2) + "\n"


def citation_keys(papers: Iterable[Paper]) -> tuple[str, ...]:
    """Return the keys under which the entries of these papers, in this order, are written."""
    return tuple(cited.entry.key for cited in _cited(papers))


def reference_types(paper: Paper) -> tuple[str, str]:
    """Return the types under which a paper is written in RIS and in CSL."""
    return _Cited(paper, _entry(paper)).types


def _cited(papers: Iterable[Paper]) -> Iterator[_Cited]:
    taken: set[str] = set()
    for paper in papers:
        entry = _entry(paper)
        key = _free_key(entry.key, taken)
        taken.add(key.lower())
        yield _Cited(paper, replace(entry, key=key))


def _entry(paper: Paper) -> BibtexEntry:
    """Return the source's entry, or one made of the metadata if that is not safe to typeset.

    The entry of a source or an imported file is foreign text.
    """
    entry = read_entry(paper.bibtex)
    if entry and is_safe_key(entry.key) and is_safe(f"{{{entry.fields}"):
        return entry
    return make_entry(paper, entry.kind if entry else "")


def _free_key(key: str, taken: set[str]) -> str:
    """Return the key, numbered if it is taken; BibTeX's keys are not case-sensitive."""
    number, free = 1, key
    while free.lower() in taken:
        number += 1
        free = f"{key}-{number}"
    return free


def _ris(cited: _Cited) -> Iterator[tuple[str, str]]:
    paper = cited.paper
    yield "TY", cited.types[0]
    yield "ID", cited.entry.key
    names = (on_one_line(f"{author.family}, {author.given}").strip(", ") for author in paper.authors)
    pages = _PAGES.fullmatch(paper.pages)
    values = [
        ("TI", paper.title),
        *(("AU", name) for name in names),
        ("PY", str(paper.year or "")),
        ("T2", paper.venue),
        ("VL", cited.field("volume")),
        ("IS", cited.field("number", "issue")),
        ("PB", cited.field("publisher")),
        ("CY", cited.field("address", "location")),
        ("SN", cited.field("issn", "isbn")),
        ("SP", pages[1] if pages else paper.pages),
        ("EP", pages[2] if pages else ""),
        ("DO", paper.doi),
        ("AN", paper.arxiv_id and f"arXiv:{paper.arxiv_id}"),
        ("UR", paper.url),
        *(("KW", label) for label in paper.labels),
        *(("N1", note) for note in paper.notes),
        # Zotero's field for anything else.
        ("M2", paper.source if paper.source.startswith("Zotero item ") else ""),
    ]
    yield from ((tag, line) for tag, value in values if (line := on_one_line(value)))
    yield "ER", ""


def _csl(cited: _Cited) -> dict[str, Any]:
    paper = cited.paper
    names = [name for author in paper.authors if (name := _csl_name(author))]
    values = {
        "title": on_one_line(paper.title),
        "author": names,
        "issued": paper.year and {"date-parts": [[paper.year]]},
        "container-title": on_one_line(paper.venue),
        "volume": cited.field("volume"),
        "issue" if cited.types[1] == "article-journal" else "number": cited.field("number", "issue"),
        "publisher": cited.field("publisher"),
        "publisher-place": cited.field("address", "location"),
        "collection-title": cited.field("series"),
        "ISSN": cited.field("issn"),
        "ISBN": cited.field("isbn"),
        "page": on_one_line(paper.pages),
        "DOI": on_one_line(paper.doi),
        "archive": paper.arxiv_id and "arXiv",
        "archive_location": on_one_line(paper.arxiv_id),
        "URL": on_one_line(paper.url),
        "keyword": ", ".join(on_one_line(label) for label in paper.labels),
        "note": on_one_line(paper.source) if paper.source.startswith("Zotero item ") else "",
        "annote": "\n\n".join(map(storable, paper.notes)),
    }
    known = {name: value for name, value in values.items() if value}
    return {"id": cited.entry.key, "type": cited.types[1], **known}


def _csl_name(author: Author) -> dict[str, str]:
    given, family, suffix = map(on_one_line, (author.first_names, author.family, author.suffix))
    if given and family:
        return {"family": family, "given": given} | ({"suffix": suffix} if suffix else {})
    return {"literal": given or family} if given or family else {}
