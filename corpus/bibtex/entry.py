"""BibTeX entries: made from a paper's metadata, or taken from its source and made safe to typeset."""

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass

from corpus.bibtex.latex import latex_to_text
from corpus.markup.raised import tex_figures
from corpus.records import Author, Paper
from corpus.text import storable, words

_SPECIAL = str.maketrans(
    {
        "\\": r"\textbackslash{}",
        # BibTeX counts braces even after a backslash: a lone one would swallow the entries after it.
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
# The supported entry types, and the field of each that names the venue.
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
_FORMULA = re.compile(r"(\$[^$]+\$)")
_OF_FORMULAS = re.compile(r"[\\^_=<>]")
# Comments, arguments and column separators cannot be in a formula.
_NO_FORMULA = re.compile(r"(?<!\\)[%#&]")
_NO_ENTRY = frozenset({"comment", "preamble", "string"})
_SPLITS_NAMES = re.compile(r"\band\b|,", re.IGNORECASE)
_PAGE_DASH = re.compile(r"(?<=\w)\s*[-–—]+\s*(?=\w)")
# The commands of TeX that only typeset; others could read and write files.
_COMMAND = re.compile(r"\\([A-Za-z@]+)")
_TYPESETTING = frozenset(
    "AA AE BibTeX DH DJ Delta Gamma H IJ L LaTeX Lambda NG O OE Omega P Phi Pi Psi S SS Sigma TH TeX "
    "Theta Upsilon Xi aa ae alpha b beta bf big bigl bigr c cal cdot chi circ copyright d dag delta dh dj "
    "dots ell em emph epsilon eta exp frac gamma geq gets hbox i ij infty it j k l lambda ldots left "
    "leftarrow leq ln log mathbb mathbf mathcal mathit mathrm mathsf mathtt max mbox min mu neq ng nu o "
    "oe omega phi pi pm pounds prime prod psi r rho right rightarrow rm sc sigma sim sl sqrt ss sum t tau "
    "text textasciicircum textasciitilde textbackslash textbar textbf textbraceleft textbraceright "
    "textdegree textemdash textendash textgreater textit textless textnormal textquotedblleft "
    "textquotedblright textquoteleft textquoteright textrm textsc textsf textsl textsubscript "
    "textsuperscript texttt textunderscore th theta times to tt u url v varepsilon varphi widehat "
    "widetilde xi zeta".split()
)
# Links are reduced to their text, as they need a package.
_LINK = re.compile(r"\\href\s*\{[^{}]*\}\s*(?=\{)")
_SAFE_KEY = re.compile(r"\w[\w:./+*-]*")
_KIND = re.compile(r"[a-z]+")
_FIELD_NAME = re.compile(r"[a-z][a-z0-9_.:+-]*")
# Fields with paths of local files.
_PRIVATE_FIELDS = re.compile(r"file|pdf|local-?url|localfile|bdsk-(?:file|url)-.*|__.*")
LONGEST_ENTRY = 50_000


@dataclass(frozen=True, slots=True)
class BibtexEntry:
    """One entry: its type in lower case ("article"), its key, and everything after the key's comma."""

    kind: str
    key: str
    fields: str

    def __str__(self) -> str:
        return f"@{self.kind}{{{self.key},{self.fields}"


def read_entry(text: str) -> BibtexEntry | None:
    """Return the only entry of a text, None if there is none, several, or one without an end."""
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
    """Return the BibTeX text of a paper's metadata; `kind` is its entry type if known."""
    return str(make_entry(paper, kind))


def make_entry(paper: Paper, kind: str = "") -> BibtexEntry:
    """Return the entry of a paper's metadata, all values escaped; `kind` is its entry type if known."""
    if kind not in KINDS:
        kind = "inproceedings" if paper.venue else "misc"
    values = {
        "title": _escaped(paper.title),
        "author": " and ".join(_name(author) for author in paper.authors if author.name.strip()),
        _VENUE_FIELDS.get(kind, "booktitle"): _escaped(paper.venue),
        "year": str(paper.year or ""),
        "pages": _PAGE_DASH.sub("--", _escaped(paper.pages)),
        "doi": _escaped(paper.doi),
        "url": _escaped(paper.url),
    }
    return _entry(kind, citation_key(paper), values)


def own_entry(kind: str, key: str, printed: Mapping[str, str]) -> BibtexEntry:
    """Return an entry of a file made safe to typeset; its key is "" if `key` has no usable characters.

    `printed` are the values as written in the file. A value with a command that does more than typeset is
    replaced by its text. Paths of files are left out, and the longest fields of an overlong entry.
    """
    values = {
        name: safe_value(value)
        for name, value in printed.items()
        if _FIELD_NAME.fullmatch(name) and not _PRIVATE_FIELDS.fullmatch(name)
    }
    while sum(map(len, values.values())) > LONGEST_ENTRY:
        del values[max(values, key=lambda name: len(values[name]))]
    key = re.sub(r"[^\w:./+*-]+", "-", storable(key)).strip("-")
    kind = kind if _KIND.fullmatch(kind) else "misc"
    return _entry(kind, key if is_safe_key(key) else "", values)


def safe_value(value: str) -> str:
    """Return the value of a field if it only typesets, else its text."""
    value = _LINK.sub("", storable(value))
    if is_safe(value):
        return value
    parts = _FORMULA.split(latex_to_text(value))
    safe_parts = (
        part if number % 2 and is_safe(part) else part.translate(_SPECIAL)
        for number, part in enumerate(parts)
    )
    return " ".join("".join(safe_parts).split())


def is_safe(text: str) -> bool:
    """Return True if the braces of a text match and all of its commands only typeset."""
    depth = 0
    for brace in _BRACE.finditer(text):
        depth += 1 if brace[0] == "{" else -1
        if depth < 0:
            return False
    return depth == 0 and "^^" not in text and _TYPESETTING.issuperset(_COMMAND.findall(text))


def is_safe_key(key: str) -> bool:
    """Return True if a key can be cited: it has no comma, brace or other character that ends it."""
    return bool(_SAFE_KEY.fullmatch(key))


def _entry(kind: str, key: str, values: Mapping[str, str]) -> BibtexEntry:
    lines = [f"    {name} = {{{value}}}," for name, value in values.items() if value]
    return BibtexEntry(kind, key, "\n".join(["", *lines, "}"]))


def citation_key(paper: Paper) -> str:
    """Return a stable key such as "smith-2022-dense": first author's family name, year, first long word."""
    family = paper.authors[0].family.split() if paper.authors else []
    word = next((word for word in words(paper.title) if len(word) > 3), "")
    parts = []
    for part in (*family[-1:], str(paper.year or ""), word):
        plain = unicodedata.normalize("NFKD", part).encode("ascii", "ignore").decode()
        parts.append(re.sub(r"[^a-z0-9]", "", plain.lower()))
    return "-".join(filter(None, parts)) or "paper"


def _name(author: Author) -> str:
    """Return a name in BibTeX's form, family name first; the name of a group is kept whole by braces."""
    parts = [part for part in (author.family, author.suffix, author.first_names) if part]
    if not author.family or not author.first_names or any(map(_SPLITS_NAMES.search, parts)):
        return f"{{{_escaped(author.name)}}}"
    return ", ".join(map(_escaped, parts))


def _escaped(text: str) -> str:
    """Return text with everything escaped except formulas, which are TeX."""
    parts = _FORMULA.split(storable(text))
    escaped = (part if _is_formula(part) else tex_figures(part.translate(_SPECIAL)) for part in parts)
    return " ".join("".join(escaped).split())


def _is_formula(text: str) -> bool:
    """Return True for a formula such as "$x_1$" that only typesets, but not for "$5 and $"."""
    body = text[1:-1]
    is_formula = bool(_FORMULA.fullmatch(text)) and body == body.strip() and is_safe(body)
    return is_formula and not _NO_FORMULA.search(body) and bool(len(body) == 1 or _OF_FORMULAS.search(body))
