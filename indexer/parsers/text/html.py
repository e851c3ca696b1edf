"""A web page to a document: headings, paragraphs, tables and metadata; no script is run."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from importlib.metadata import version
from pathlib import Path

from lxml import etree

from corpus.markup.formulas import FORMULA_ELEMENTS, linear_formula
from corpus.markup.prose import plain_markup
from corpus.markup.raised import lower_text, raise_text
from corpus.records import PassageKind
from indexer.errors import ParseError
from indexer.parsers.document import Document
from indexer.parsers.identifiers import find_arxiv_id, find_doi, year_in
from indexer.parsers.text.html_hidden import remove_hidden
from indexer.parsers.text.structure import (
    Block,
    Prose,
    Rows,
    WrittenHeading,
    assemble,
    author,
    clean,
    prose,
    shifted,
)
from indexer.parsers.text.text_file import read_text_file

PARSER = "lxml"

_HEADINGS = {f"h{level}": level for level in range(1, 7)}
_LEFT_OUT = frozenset(
    "script style svg nav footer aside form button iframe object embed video audio canvas "
    "select textarea head dialog menu annotation annotation-xml".split()
)
_PARTS = frozenset(
    "p div section article main body html header hgroup ul ol li dl dt dd blockquote figure figcaption "
    "caption details summary address hr center fieldset pre table thead tbody tfoot tr "
    "h1 h2 h3 h4 h5 h6".split()
)
_AUTHORS = (
    *("citation_author", "citation_authors", "dc.creator.personalname", "dc.creator", "dcterms.creator"),
)
_DATES = (
    *("citation_publication_date", "citation_date", "citation_online_date", "citation_year"),
    *("prism.publicationdate", "dc.date.issued", "dcterms.issued", "dc.date", "article:published_time"),
)
_MOST_AUTHORS = 100
_CAPTIONS = ("figcaption", "caption")
_OF_TABLES = frozenset("table thead tbody tfoot tr caption".split())
_TURNS = {"sup": raise_text, "sub": lower_text}
_NOT_READ = frozenset(("rt", "rtc"))  # ruby annotations
_FORMULA_SCRIPTS, _FORMULA_CLASSES = ("math/tex", "math/latex"), ("math", "latex", "tex", "equation")
_DISPLAY_STYLE = re.compile(r"\{\\(?:displaystyle|textstyle)\s*+(.*)\}", re.DOTALL)
_LONGEST_CELL, _WIDEST_SPAN = 500, 200
_INNER_END, _INNER_ROW_END = re.compile(r", (?=;|\| )|,$"), re.compile(r"; (?=\| )|;$")
_MARK_OF_NOTE = re.compile(r"(?:^|\s)ltx_(?:note_mark|tag_note)(?:\s|$)")
# Ids and classes of cookie banners, and of links to edit a section.
_BANNER = re.compile(
    r"\b(?:cookie[-_]?(?:banner|consent|notice|bar|popup|overlay|message|law|modal|alert|dialog|disclaimer|policy)"
    r"|(?:gdpr|consent)[-_]?(?:banner|notice|bar|popup|overlay|message|modal|dialog|manager)|onetrust|cookiebot"
    r"|cybotcookiebot|cc-(?:window|banner)|didomi|usercentrics|qc-cmp|osano|mw-editsection)",
    re.IGNORECASE,
)
_LONGEST_BANNER = 3_000
_LEFT_OUT_ROLES = ("navigation", "banner", "contentinfo", "complementary", "search", "dialog")
# The share of a page's text that its article must hold.
_LEAST_SHARE = 0.25
_MOST_LINKED = 0.8
_LONGEST_LINKED = 200
_FEWEST_LETTERS = 200


def read_html(path: Path) -> Document:
    """Read a web page from a file; raises ParseError for one without text."""
    text, remarks = read_text_file(path)
    page = _parsed(text)
    if page is None:
        raise ParseError("the page holds nothing")
    hidden = remove_hidden(page)
    metadata = replace(_known(page, remarks), hidden_text=hidden)
    article, body = _article(page), page.find("body")
    main = next((part for part in (article, body) if part is not None), page)
    blocks = _Reader(within_article=article is not None).blocks(main)
    letters = sum(map(str.isalpha, "".join(_text_of(block) for block in blocks)))
    if letters < _FEWEST_LETTERS and not metadata.abstract:
        raise ParseError("the page holds hardly any text: it may be made by scripts, or ask to sign in")
    return assemble(blocks, metadata, "the page")


def read_fragment(source: str) -> tuple[list[Block], int]:
    """Return the blocks of HTML within another text, and the number of hidden characters."""
    page = _parsed(f"<body>{source}</body>")
    body = None if page is None else page.find("body")
    if page is None or body is None:
        return [], 0
    hidden = remove_hidden(page)
    return _Reader(within_article=True).blocks(body), hidden


def _parsed(text: str) -> etree._Element | None:
    """Return the root of a page; raises ParseError."""
    parser = etree.HTMLParser(
        encoding="utf-8", no_network=True, remove_comments=True, remove_pis=True, huge_tree=False
    )
    try:
        return etree.fromstring(text.encode("utf-8", "replace"), parser)
    except (etree.ParserError, etree.XMLSyntaxError, ValueError) as error:
        raise ParseError("the page is no HTML, or holds nothing") from error


def _text_of(block: Block) -> str:
    return "".join(block.lines) if isinstance(block, Rows) else block.text


def _known(page: etree._Element, remarks: Sequence[str]) -> Document:
    """Return the metadata of a page from its meta tags, as scholarly search engines read them.

    Tags may contain markup, and one tag all authors.
    """
    tags: dict[str, list[str]] = {}
    for meta in page.iter("meta"):
        name = (meta.get("name") or meta.get("property") or "").lower()
        if value := clean(plain_markup(meta.get("content") or "")):
            tags.setdefault(name, []).append(value[:5_000])

    def first(*names: str) -> str:
        return next((tags[name][0] for name in names if name in tags), "")

    heads = [clean(_own_text(head)) for head in page.iter("h1")]
    page_title = clean(" ".join(_own_text(title) for title in page.findall("head/title")))
    abstract = first("citation_abstract", "dc.description.abstract", "dcterms.abstract")
    written = next((tags[name] for name in _AUTHORS if name in tags), [])
    names = [name for value in written for name in value.split(";") if name.strip()]
    return Document(
        title=first("citation_title", "dc.title")
        or (heads[0] if len(heads) == 1 else "")
        or first("og:title", "twitter:title")
        or page_title[:250],
        authors=tuple(dict.fromkeys(author(name) for name in names[:_MOST_AUTHORS])),
        year=year_in(first(*_DATES)),
        doi=find_doi(first("citation_doi", "prism.doi", "dc.identifier")),
        arxiv_id=find_arxiv_id(first("citation_arxiv_id"), named=False),
        abstract=(prose(abstract, "abstract"),) if abstract else (),
        parser=PARSER,
        parser_version=version("lxml"),
        notes=tuple(remarks),
    )


def _article(page: etree._Element) -> etree._Element | None:
    """Return the page's article element if it holds a good part of the text, else None."""
    elements = page.xpath("//article | //main | //*[@role='main']")
    if not isinstance(elements, list) or not elements:
        return None
    parts = [part for part in elements if isinstance(part, etree._Element)]
    largest = max(parts, key=_length)
    return largest if _length(largest) >= _LEAST_SHARE * _length(page) else None


def _length(part: etree._Element) -> int:
    return sum(len(_own_text(element)) for element in part.iter("p", "li", "td", "dd", "pre"))


def _own_text(element: etree._Element) -> str:
    return "".join(str(text) for text in element.itertext())


@dataclass(slots=True)
class _Reader:
    """Walks through the elements of a page in order, iteratively, as pages may be deeply nested."""

    within_article: bool
    _text: list[str] = field(default_factory=list)
    _linked: int = 0
    _links: int = 0
    _captions: int = 0
    _kept_lines: int = 0
    _table: list[str] | None = None
    _inner_tables: int = 0
    _cell: int = 0
    _column: int = 0
    _spans: dict[int, tuple[str, int]] = field(default_factory=dict)
    """Cells that span following rows, by column, with the number of rows left."""
    _layouts: set[etree._Element] = field(default_factory=set)
    _shifts: list[int] = field(default_factory=list)
    _notes: list[str] = field(default_factory=list)
    _blocks: list[Block] = field(default_factory=list)

    def blocks(self, part: etree._Element) -> list[Block]:
        walk = etree.iterwalk(part, events=("start", "end"))
        for event, element in walk:
            tag = element.tag if isinstance(element.tag, str) else ""
            written = _formula(element, tag)
            is_note = _is_note(element)
            is_skipped = is_note or written is not None or _is_left_out(element, tag)
            if event == "end":
                self._close(element, tag, is_skipped=is_skipped, is_whole=element is part)
            elif is_skipped:
                # A note is embedded in the sentence that refers to it.
                self._notes.extend([_text_of_note(element)] if is_note else [])
                self._add(written or "")
                walk.skip_subtree()
            else:
                self._open(element, tag)
        self._end_block("")
        return self._blocks

    def _open(self, element: etree._Element, tag: str) -> None:
        if tag == "table" and _is_layout(element):
            self._layouts.add(element)
        is_table = tag == "table" and element not in self._layouts
        self._inner_tables += is_table and self._table is not None
        if tag in _PARTS:
            # In a cell, parts are only separated by spaces.
            if self._table is None or (tag in _OF_TABLES and not self._inner_tables):
                self._end_block("")
            else:
                self._add(" ")
        if is_table and self._table is None:
            self._table, self._spans = [], {}
        if tag == "tr":
            self._column = self._column if self._inner_tables else 0
        self._links += tag == "a"
        self._captions += tag in _CAPTIONS
        self._kept_lines += tag == "pre"
        if tag in _TURNS:
            self._shifts.append(len(self._text))
        if tag in ("td", "th"):
            self._repeat_cells()
            self._add(" ")
            self._cell = self._cell if self._inner_tables else len(self._text)
        self._add("\n" if tag == "br" else "")
        self._add_source(element.text)

    def _close(self, element: etree._Element, tag: str, *, is_skipped: bool, is_whole: bool) -> None:
        if not is_skipped:
            self._links -= tag == "a"
            if tag in _TURNS:
                start = self._shifts.pop()
                if start <= len(self._text):  # no block ended within
                    self._text[start:] = [shifted("".join(self._text[start:]), _TURNS[tag])]
            if tag in ("td", "th"):
                self._end_cell(element)
            elif tag == "tr" and self._inner_tables:
                self._add("; ")
            elif tag == "table" and self._inner_tables and element not in self._layouts:
                self._inner_tables -= 1
            elif tag in _PARTS and (self._table is None or tag in _OF_TABLES):
                self._repeat_cells(is_needed=tag == "tr")
                self._end_block("" if element in self._layouts else tag)
            self._captions -= tag in _CAPTIONS
            self._kept_lines -= tag == "pre"
        if not is_whole:
            self._add_source(element.tail)

    def _repeat_cells(self, *, is_needed: bool = True) -> None:
        """Add the cells of rows above that span the current column."""
        while is_needed and not self._inner_tables and self._column in self._spans:
            text, left = self._spans.pop(self._column)
            self._spans |= {self._column: (text, left - 1)} if left > 1 else {}
            self._add(f" {text} | ")
            self._column += 1

    def _end_cell(self, cell: etree._Element) -> None:
        if self._inner_tables:
            self._add(", ")
            return
        rows, columns = (_span(cell, name) for name in ("rowspan", "colspan"))
        text = clean("".join(self._text[self._cell :]))
        for column in range(self._column, self._column + columns) if rows > 1 else ():
            self._spans[column] = text, rows - 1
        self._column += columns
        self._add(" | ")

    def _add_source(self, text: str | None) -> None:
        """Add text of the page; line ends become spaces unless it is preformatted."""
        self._add((text or "") if self._kept_lines else re.sub(r"[\r\n]", " ", text or ""))

    def _add(self, text: str) -> None:
        self._text.append(text)
        if self._links:
            self._linked += len(text)

    def _end_block(self, tag: str) -> None:
        """Make a block of the text so far; `tag` is the element that ends here, "" for none."""
        raw, linked = "".join(self._text), self._linked
        self._text, self._linked = [], 0
        self._shifts = [len(raw) + 1] * len(self._shifts)
        text = clean(raw).strip(" |")
        if self._table is not None:
            text = _INNER_ROW_END.sub("", _INNER_END.sub("", text))
        if tag == "table" and self._table is not None:
            rows, self._table = self._table, None
            self._blocks.extend([Rows(tuple(rows))] if rows else [])
        if text:
            self._keep(text, raw, linked, tag)
        if self._table is None:
            notes, self._notes = self._notes, []
            self._blocks.extend(Prose(note, "note") for note in notes if note)

    def _keep(self, text: str, raw: str, linked: int, tag: str) -> None:
        """Add a block of a text; `raw` is its source text, `linked` its characters within links."""
        if tag in _HEADINGS:
            self._blocks.append(WrittenHeading(text, _HEADINGS[tag]))
        elif self._table is not None and not self._captions:
            self._table.append(text)
        elif tag == "pre":
            self._blocks.append(Rows(tuple(raw.split("\n"))))
        elif (
            self.within_article or len(text) > _LONGEST_LINKED or linked <= _MOST_LINKED * len(text)
        ):  # no menu
            kind: PassageKind = "caption" if self._captions else "body"
            lines = "\n".join(filter(None, (clean(line).strip(" |") for line in raw.split("\n"))))
            self._blocks.append(Prose(lines, kind))


def _span(cell: etree._Element, name: str) -> int:
    value = (cell.get(name) or "1").strip()
    return min(max(int(value), 1), _WIDEST_SPAN) if value.isdecimal() and len(value) < 6 else 1


def _is_layout(table: etree._Element) -> bool:
    """Return True if a table lays out the page and holds no data."""
    paths = ("tr/td", "tr/th", "tbody/tr/td", "tbody/tr/th")
    cells = [cell for path in paths for cell in table.iterfind(path)]
    return len(cells) == 1 or any(
        len(_own_text(cell)) > _LONGEST_CELL
        and any(cell.find(f".//{tag}") is not None for tag in ("p", "h2", "table"))
        for cell in cells
    )


def _formula(element: etree._Element, tag: str) -> str | None:
    """Return a formula on one line, from MathML or the TeX of a script or picture; None for no formula."""
    if tag == "math":
        return f" {_linear(element)} "
    if tag == "script" and (element.get("type") or "").startswith(_FORMULA_SCRIPTS):
        return f" ${(element.text or '').strip()}$ "
    if tag == "img" and any(name in (element.get("class") or "").lower() for name in _FORMULA_CLASSES):
        source = (element.get("alt") or "").strip()
        shown = _DISPLAY_STYLE.fullmatch(source)
        return f" ${(shown[1] if shown else source).strip(' $')}$ " if source else None
    return None


def _is_note(element: etree._Element) -> bool:
    """Return True for an inline footnote of LaTeXML (arXiv's pages)."""
    return "ltx_note" in (element.get("class") or "").split()


def _text_of_note(note: etree._Element) -> str:
    """Return the text of a note on one line, without its mark."""
    parts: list[str] = []
    walk = etree.iterwalk(note, events=("start", "end"))
    for event, element in walk:
        tag = element.tag if isinstance(element.tag, str) else ""
        if event == "end":
            parts.append((element.tail or "") if element is not note else "")
        elif (written := _formula(element, tag)) is not None or _MARK_OF_NOTE.search(
            element.get("class") or ""
        ):
            parts.append(written or "")
            walk.skip_subtree()
        else:
            parts.append(element.text or "")
    return clean("".join(parts))


def _linear(formula: etree._Element) -> str:
    """Return MathML on one line."""
    parts: list[list[str]] = [[]]
    walk = etree.iterwalk(formula, events=("start", "end"))
    for event, element in walk:
        tag = element.tag if isinstance(element.tag, str) else ""
        if event == "start":
            parts.append([] if tag in _LEFT_OUT else [element.text or ""])
            if tag in _LEFT_OUT:
                walk.skip_subtree()
            continue
        inside = parts.pop()
        is_formula = tag in FORMULA_ELEMENTS
        parts[-1].append(linear_formula(tag, inside) if is_formula else "".join(inside))
        parts[-1].append((element.tail or "").strip() if element is not formula else "")
    return "".join(parts[0]).strip()


def _is_left_out(element: etree._Element, tag: str) -> bool:
    return (
        tag in _LEFT_OUT
        or tag in _NOT_READ
        or (element.get("aria-hidden") == "true" and _stands_beside_formula(element))
        or element.get("role") in _LEFT_OUT_ROLES
        or _is_banner(element)
    )


def _is_banner(element: etree._Element) -> bool:
    """Return True for a cookie banner or the like: a short element with such an id or class."""
    names = f"{element.get('id') or ''} {element.get('class') or ''}"
    return _BANNER.search(names) is not None and _is_shorter(element, _LONGEST_BANNER)


def _is_shorter(element: etree._Element, length: int) -> bool:
    for text in element.itertext():
        length -= len(text)
        if length < 0:
            return False
    return True


def _stands_beside_formula(element: etree._Element) -> bool:
    """Return True if an element renders a formula that a neighbour has as MathML."""
    neighbours = (element.getprevious(), element.getnext())
    return any(
        part is not None and (part.tag == "math" or part.find("math") is not None) for part in neighbours
    )
