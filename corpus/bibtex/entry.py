"""BibTeX entries: made for papers whose source brings none, and read as far as types and keys go."""

import re
import unicodedata
from dataclasses import dataclass

from corpus.records import Author, Paper
from corpus.text import storable, words

_SPECIAL = str.maketrans(
    {
        "\\": r"\textbackslash{}",
        # BibTeX counts braces even behind a backslash: a lone one would swallow the entries after it.
        "{": r"\textbraceleft{}",
        "}": r"\textbraceright{}",
        "&": r"\&",
        "%": r"\%",
        "$": r"\$",
        "#": r"\#",
        "_": r"\_",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
    }
)
_HEAD = re.compile(r"\s*@\s*([A-Za-z]+)\s*\{\s*([^\s,{}()\"'#%~\\=@]+)\s*,")
_BRACE = re.compile(r"[{}]")
# The types of publications that are told apart, and where each says what it appeared in.
KINDS = (
    "article",
    "book",
    "incollection",
    "inproceedings",
    "mastersthesis",
    "misc",
    "phdthesis",
    "techreport",
)
_VENUE_FIELDS = {
    "article": "journal",
    "book": "publisher",
    "mastersthesis": "school",
    "misc": "howpublished",
    "phdthesis": "school",
    "techreport": "institution",
}
_NO_ENTRY = frozenset({"comment", "preamble", "string"})
_SPLITS_NAMES = re.compile(r"\band\b|,", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class BibtexEntry:
    """One entry: its type in lower case ("article"), its key, and everything after the key's comma."""

    kind: str
    key: str
    fields: str

    def __str__(self) -> str:
        return f"@{self.kind}{{{self.key},{self.fields}"


def read_entry(text: str) -> BibtexEntry | None:
    """Return the one entry that a text holds; None where it holds none, several, or one that does not end."""
    text = storable(text).strip()
    head = _HEAD.match(text)
    if head is None or head[1].lower() in _NO_ENTRY or not _ends_once(text, head.end()):
        return None
    return BibtexEntry(head[1].lower(), head[2], text[head.end() :])


def _ends_once(text: str, start: int) -> bool:
    """Return True if the brace opened before `start` closes with the text's last character."""
    depth = 1
    for brace in _BRACE.finditer(text, start):
        depth += 1 if brace[0] == "{" else -1
        if depth == 0:
            return brace.end() == len(text)
    return False


def bibtex(paper: Paper, kind: str = "") -> str:
    """Return a BibTeX entry made of a paper's metadata, every value escaped; `kind` is its type if known."""
    return str(make_entry(paper, kind))


def make_entry(paper: Paper, kind: str = "") -> BibtexEntry:
    """Return an entry made of a paper's metadata, every value escaped; `kind` is its type if known."""
    if kind not in KINDS:
        kind = "inproceedings" if paper.venue else "misc"
    values = {
        "title": _escaped(paper.title),
        "author": " and ".join(_name(author) for author in paper.authors if author.name.strip()),
        _VENUE_FIELDS.get(kind, "booktitle"): _escaped(paper.venue),
        "year": str(paper.year or ""),
        "pages": _escaped(paper.pages),
        "doi": _escaped(paper.doi),
        "url": _escaped(paper.url),
    }
    lines = [f"    {name} = {{{value}}}," for name, value in values.items() if value]
    return BibtexEntry(kind, citation_key(paper), "\n".join(["", *lines, "}"]))


def citation_key(paper: Paper) -> str:
    """Return a stable key such as "smith-2022-dense": first author's family name, year, first long word."""
    family = paper.authors[0].family.split() if paper.authors else []
    word = next((word for word in words(paper.title) if len(word) > 3), "")
    parts = (_ascii(part) for part in (*family[-1:], str(paper.year or ""), word))
    return "-".join(part for part in parts if part) or "paper"


def _name(author: Author) -> str:
    """Return a name as BibTeX takes it apart: the family name first; a group's in braces, to stay whole."""
    family, given = _escaped(author.family), _escaped(author.given)
    if not given or not family or _SPLITS_NAMES.search(f"{author.family} {author.given}"):
        return f"{{{_escaped(author.name)}}}"
    return f"{family}, {given}"


def _ascii(text: str) -> str:
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode()
    return re.sub(r"[^a-z0-9]", "", plain.lower())


def _escaped(text: str) -> str:
    return " ".join(storable(text).translate(_SPECIAL).split())
