"""The sections of a TEI file: flat divisions, split paragraphs and displaced figures, put in order."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from corpus.records import Box, PassageKind, Section, Table
from indexer.parsers.document import DocumentSection, Paragraph, Piece
from indexer.parsers.headings import (
    Heading,
    Path,
    find_paths,
    is_artifact,
    is_fragment,
    labels_in_figures,
)
from indexer.parsers.identifiers import letters_of
from indexer.parsers.tables import FEWEST_ROWS, MOST_COLUMNS, header_rows, table_paragraph
from indexer.parsers.tei.boxes import Element, boxes_of, enclosing
from indexer.parsers.tei.text import (
    ends_with_stop,
    has_words,
    is_glyph_soup,
    join,
    pieces_of,
    runs_on,
    split,
    text_of,
)

# Names for wrappers in the back matter whose divisions have no heading of their own.
_BACK_TITLES = {
    "acknowledgement": "Acknowledgements",
    "funding": "Funding",
    "availability": "Data availability",
    "conflict": "Conflicts of interest",
    "contribution": "Author contributions",
    "annex": "Appendix",
}
_NOT_TEXT = frozenset({"figure", "table", "note", "graphic", "listBibl", "listOrg", "biblStruct", "lb", "pb"})
_CAPTION_LABEL = re.compile(
    r"\W*(?:extended data |supplementary )?(?:fig|tab|scheme|chart|algorithm|listing|box)"
    r"(?:\w*\d|\w*+\W++[A-Z]?\d++)\W*",
    re.IGNORECASE,
)
_PAGE_ARTIFACT = re.compile(r"(?>.* \| ).*+|(?>.*\bvol(?:ume|\.)\s*\d).*+", re.IGNORECASE)
_LONGEST_ARTIFACT = 15
_SHORTEST_REPEAT = 8
_LEAST_HEIGHT = 30.0  # points; lower boxes are lines of text


@dataclass(frozen=True, slots=True)
class Block:
    """A paragraph or formula of a division; `ragged` if it begins in mid-sentence."""

    pieces: tuple[Piece, ...]
    is_formula: bool = False
    ragged: bool = False

    @property
    def text(self) -> str:
        return " ".join(piece.text for piece in self.pieces)


@dataclass(frozen=True, slots=True)
class Division:
    """A heading with the blocks up to the next; `targets` are the ids of figures and notes it refers to."""

    heading: Heading
    blocks: tuple[Block, ...]
    targets: frozenset[str]
    wrapper: str = ""


@dataclass(frozen=True, slots=True)
class FloatOrNote:
    """A caption or note, which GROBID moves to the end of the body, and the xml:ids of its copies."""

    identifiers: frozenset[str]
    paragraph: Paragraph


@dataclass(slots=True)
class _Draft:
    """A section being assembled."""

    path: Path
    blocks: list[Block] = field(default_factory=list)
    targets: set[str] = field(default_factory=set)
    floats: list[Paragraph] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Body:
    """The sections of a paper, the headings left out, and remarks for the build report."""

    sections: tuple[DocumentSection, ...]
    artifacts: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()


def read_body(text: Element) -> Body:
    """Read body and back matter into sections.

    A caption or note is appended to the first section that refers to it; unreferenced ones form sections of
    their own at the end. Repeated paragraphs are left out.
    """
    parsed = [
        *(division for body in text.findall("body") for division in _read_divisions(body, "")),
        *(division for back in text.findall("back") for division in _read_divisions(back, "annex")),
    ]
    artifacts = tuple(division.heading.text for division in parsed if is_artifact(division.heading))
    divisions = _settle_headings(parsed)
    drafts = _merge_same(_place(divisions))
    floats = _unique_floats((*_captions(text), *_notes(text)))
    drafts.extend(_home_floats(drafts, floats))
    repeats = _Repeats()
    sections = []
    for draft in drafts:
        paragraphs = filter(repeats.is_new, _paragraphs(draft.blocks))
        sections.append(DocumentSection(draft.path, (*paragraphs, *draft.floats)))
    remarks = (f"repeated paragraphs left out: {repeats.count}",) if repeats.count else ()
    return Body(tuple(section for section in sections if section.paragraphs), artifacts, remarks)


def _read_divisions(container: Element, wrapper: str) -> Iterator[Division]:
    """Yield the divisions of `container` flat and in order, nested ones in their place."""
    heading, blocks, targets = Heading(""), [*_loose(container.text)], set[str]()
    for child in container:
        if child.tag in ("div", "head"):
            yield _division(heading, blocks, targets, wrapper)
            heading, blocks, targets = Heading(""), [], set()
        if child.tag == "head":
            heading = Heading(text_of(child), child.get("n", ""))
        elif child.tag == "div" and child.get("type") != "references":
            # Only divisions of the back matter have wrappers with types.
            yield from _read_divisions(child, (child.get("type") or wrapper) if wrapper else "")
        elif child.tag not in _NOT_TEXT and child.tag != "div":
            blocks.extend(_blocks(child))
            targets.update(ref.get("target", "").lstrip("#") for ref in child.iter("ref"))
        blocks.extend(_loose(child.tail))
    yield _division(heading, blocks, targets, wrapper)


def _division(heading: Heading, blocks: list[Block], targets: set[str], wrapper: str) -> Division:
    return Division(replace(heading, alone=not blocks), tuple(blocks), frozenset(targets), wrapper)


def _loose(text: str | None) -> Iterator[Block]:
    pieces = split(" ".join((text or "").split()))
    if pieces:
        yield Block(pieces)


def _blocks(element: Element) -> Iterator[Block]:
    if element.tag == "list":
        for child in element:
            yield from (*_blocks(child), *_loose(child.tail))
        return
    if element.tag == "formula":
        # Not split: a full stop in a formula ends no sentence, and its number belongs to it.
        block = Block((Piece(text_of(element), boxes_of(element)),), is_formula=True)
    else:
        block = Block(pieces_of(element))
    is_readable = bool(block.text) if block.is_formula else has_words(block.text)
    if is_readable and not is_glyph_soup(block.text):
        yield block


def _settle_headings(divisions: Sequence[Division]) -> list[Division]:
    """Remove false headings: drop page artifacts and labels, turn pieces of text into text."""
    present = [
        division
        for division in divisions
        if division.heading.text or division.heading.number or division.blocks
    ]
    labels = labels_in_figures([division.heading for division in present])
    settled = []
    for place, division in enumerate(present):
        if place in labels or is_artifact(division.heading):
            settled.append(replace(division, heading=Heading("")))
        elif is_fragment(division.heading):
            fragment = Block(split(division.heading.text), ragged=True)
            settled.append(replace(division, heading=Heading(""), blocks=(fragment, *division.blocks)))
        else:
            settled.append(division)
    return settled


def _place(divisions: Sequence[Division]) -> Iterator[tuple[Path, Division]]:
    """Yield each division with its section path; parts of the back matter are siblings."""
    body = [division for division in divisions if not division.wrapper]
    yield from zip(find_paths([division.heading for division in body]), body, strict=True)
    annex = [division for division in divisions if division.wrapper == "annex"]
    back = [division for division in divisions if division.wrapper not in ("", "annex")]
    paths: dict[str, Path] = {wrapper: (Section("", title),) for wrapper, title in _BACK_TITLES.items()}
    for division in back:
        path = find_paths([division.heading])[0] or paths.get(division.wrapper, ())
        paths[division.wrapper] = path
        yield path, division
    annex_paths = find_paths([division.heading for division in annex], annex=True)
    for path, division in zip(annex_paths, annex, strict=True):
        yield path or paths["annex"], division


def _merge_same(placed: Iterable[tuple[Path, Division]]) -> list[_Draft]:
    """Join adjacent divisions with the same path, as after a removed heading."""
    drafts: list[_Draft] = []
    for path, division in placed:
        if not division.blocks:
            continue
        if not drafts or drafts[-1].path != path:
            drafts.append(_Draft(path))
        drafts[-1].blocks.extend(division.blocks)
        drafts[-1].targets.update(division.targets)
    return drafts


def _captions(text: Element) -> Iterator[FloatOrNote]:
    for figure in text.iter("figure"):
        pieces = _caption_pieces(figure)
        caption = " ".join(piece.text for piece in pieces)
        if not has_words(caption) or is_glyph_soup(caption):
            continue
        table = _table(figure)
        paragraph = Paragraph(pieces, "caption", area=_area(figure, "graphic"))
        if table:
            # GROBID gives the position of the table, not of its rows.
            area, rows = _area(figure, "table"), len(table.rows) - table.header
            paragraph = table_paragraph(pieces, table, ((area,),) * rows if area else (), area)
        yield FloatOrNote(_identifiers(figure), paragraph)


def _table(figure: Element) -> Table | None:
    """Return the cells of a table, None for fewer than two rows or columns."""
    rows = [list(_cells(row)) for row in figure.iterfind("table/row")]
    width = max(map(len, rows), default=0)
    if len(rows) < FEWEST_ROWS or not FEWEST_ROWS <= width <= MOST_COLUMNS:
        return None
    even = [(*row, *[""] * (width - len(row))) for row in rows]
    header = header_rows(even)
    return Table(tuple(even), header) if header < len(even) else None


def _cells(row: Element) -> Iterator[str]:
    """Yield the texts of a row's cells, repeated for each column they span."""
    for cell in row.iterfind("cell"):
        span = cell.get("cols", "1")
        times = int(span) if span.isdecimal() and len(span) < 3 else 1
        yield from [text_of(cell)] * max(1, times)


def _area(figure: Element, tag: str) -> Box | None:
    """Return the box of a figure's graphic or table if on one page, else its largest box."""
    inside = [box for child in figure.iter(tag) for box in boxes_of(child)]
    if inside:
        return enclosing(inside)
    # The boxes of a figure include its caption's lines.
    largest = max(boxes_of(figure), key=lambda box: box.width * box.height, default=None)
    return largest if largest and largest.height >= _LEAST_HEIGHT else None


def _caption_pieces(figure: Element) -> tuple[Piece, ...]:
    """Return the caption with its label first, which GROBID may repeat in the description."""
    pieces = tuple(piece for child in figure.findall("figDesc") for piece in pieces_of(child))
    notes = (piece for child in figure.findall("note") for piece in pieces_of(child))
    pieces += tuple(piece for piece in notes if piece not in pieces)
    if len(pieces) > 1 and _CAPTION_LABEL.fullmatch(pieces[0].text):
        # "Figure 3." is no sentence.
        pieces = (join(pieces[0], pieces[1]), *pieces[2:])
    label = _label(figure)
    if not pieces:
        return split(label)
    begins_with_label = letters_of(pieces[0].text).startswith(letters_of(label))
    if not label or begins_with_label or _CAPTION_LABEL.match(pieces[0].text):
        return pieces
    return (replace(pieces[0], text=f"{label} {pieces[0].text}"), *pieces[1:])


def _label(figure: Element) -> str:
    head, number = (" ".join(text_of(child) for child in figure.findall(tag)) for tag in ("head", "label"))
    digits = "".join(filter(str.isdecimal, number))
    if number and digits not in "".join(filter(str.isdecimal, head)):
        head = f"{head} {number}".strip()
    return re.sub(r"(?<!\s)\s++([.:,])", r"\1", head)


def _notes(text: Element) -> Iterator[FloatOrNote]:
    for note in text.iter("note"):
        inside = {ancestor.tag for ancestor in note.iterancestors()}
        pieces = pieces_of(note) if not inside & {"figure", "biblStruct", "listBibl"} else ()
        printed = " ".join(piece.text for piece in pieces)
        is_artifact = len(printed.split()) <= _LONGEST_ARTIFACT and _PAGE_ARTIFACT.fullmatch(printed)
        if pieces and not is_artifact:
            yield FloatOrNote(_identifiers(note), Paragraph(pieces, "note"))


def _identifiers(element: Element) -> frozenset[str]:
    identifier = element.get("{http://www.w3.org/XML/1998/namespace}id")
    return frozenset({identifier} if identifier else ())


def _unique_floats(floats: Iterable[FloatOrNote]) -> list[FloatOrNote]:
    unique: dict[tuple[str, str], FloatOrNote] = {}
    for float_or_note in floats:
        key = (float_or_note.paragraph.kind, float_or_note.paragraph.text)
        first = unique.get(key, float_or_note)
        unique[key] = FloatOrNote(first.identifiers | float_or_note.identifiers, first.paragraph)
    return list(unique.values())


def _home_floats(drafts: Sequence[_Draft], floats: Iterable[FloatOrNote]) -> list[_Draft]:
    """Add captions and notes to the first section that refers to them; return sections of the others."""
    titles: dict[PassageKind, str] = {"caption": "Figures and tables", "note": "Notes"}
    unreferenced = {kind: _Draft((Section("", title),)) for kind, title in titles.items()}
    for float_or_note in floats:
        home = next((draft for draft in drafts if float_or_note.identifiers & draft.targets), None)
        kind: PassageKind = "note" if float_or_note.paragraph.kind == "note" else "caption"
        (home or unreferenced[kind]).floats.append(float_or_note.paragraph)
    return list(unreferenced.values())


class _Repeats:
    """The paragraphs seen so far, and the number of repeats."""

    def __init__(self) -> None:
        self.count = 0
        self._seen: set[str] = set()

    def is_new(self, paragraph: Paragraph) -> bool:
        """Return False for a repeat of a paragraph too long to recur by chance."""
        text = paragraph.text
        if len(text.split()) < _SHORTEST_REPEAT:
            return True
        is_new = text not in self._seen
        self._seen.add(text)
        self.count += not is_new
        return is_new


def _paragraphs(blocks: Iterable[Block]) -> list[Paragraph]:
    """Join paragraphs split by columns, figures and formulas."""
    paragraphs: list[tuple[Piece, ...]] = []
    for block in blocks:
        last = paragraphs[-1][-1] if paragraphs else None
        is_ended = last is not None and ends_with_stop(last.text)
        if last and (block.is_formula or (block.ragged and not is_ended) or runs_on(last.text, block.text)):
            first, *pieces = block.pieces
            joined = (last, first) if is_ended else (join(last, first),)
            paragraphs[-1] = (*paragraphs[-1][:-1], *joined, *pieces)
        else:
            paragraphs.append(block.pieces)
    return [Paragraph(pieces) for pieces in paragraphs]
