"""RIS in its many dialects: tags with varying spaces, records without an end, fields of vendors."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from corpus.records import Author
from corpus.text import storable
from indexer.parsers.identifiers import find_doi, year_in
from indexer.sources.formats.names import read_name
from indexer.sources.library import LibraryItem

_KINDS = {
    "BOOK": "book",
    "CHAP": "incollection",
    "CONF": "inproceedings",
    "CPAPER": "inproceedings",
    "EBOOK": "book",
    "ECHAP": "incollection",
    "EDBOOK": "book",
    "EJOUR": "article",
    "ENCYC": "incollection",
    "INPR": "article",
    "JFULL": "article",
    "JOUR": "article",
    "MGZN": "article",
    "NEWS": "article",
    "RPRT": "techreport",
    "THES": "phdthesis",
}
_BOOKS = frozenset(("BOOK", "EBOOK", "EDBOOK"))
# The tags of a type's venue, full names before abbreviations.
_ABBREVIATED = ("JO", "JA", "J2", "J1")
_PERIODICAL = ("JF", "T2", "BT", *_ABBREVIATED, "T3", "PB")
_COLLECTION = ("BT", "C3", "T2", "JF", "T3", *_ABBREVIATED, "PB")
_PUBLISHED = ("PB", "T2", "BT", "T3", "JF", *_ABBREVIATED)
_VENUES = {
    **dict.fromkeys(("CHAP", "ECHAP", "ENCYC", "CONF", "CPAPER"), _COLLECTION),
    **dict.fromkeys((*_BOOKS, "THES", "RPRT"), _PUBLISHED),
}
_TAG = re.compile(r"(\s*)([A-Z][A-Z0-9])([^\S\n]*)[-–](.*)")
_END = re.compile(r"\s*(?:ER|EF)\s*(?:[-–]\s*)?")
_TYPE = re.compile(r"\s?[A-Za-z]{2,8}\s*")
# With fewer than two spaces before the hyphen, as in "AI - based", only these are tags.
_KNOWN = frozenset(
    "A1 A2 A3 A4 A5 AB AD AN AU AV BT C1 C2 C3 C4 C5 C6 C7 C8 CA CN CP CT CY DA DB DO DP ED EP ET ID IS J1 "
    "J2 JA JF JO KW L1 L2 L3 L4 LA LB LK M1 M2 M3 N1 N2 NV OP PB PP PY RI RN RP SE SN SP ST T1 T2 T3 TA TI "
    "TT TY U1 U2 U3 U4 U5 UR VL VO Y1 Y2".split()
)
_SPACES = 2
# Tags with one value per line, also on following lines without a tag.
_LISTS = frozenset(("KW", "UR", "L1", "L2", "L3", "L4"))
_PROSE = frozenset(("AB", "N2", "N1"))
_NAMES = frozenset(("AU", "A1", "A2", "A3", "A4", "ED"))
_ADDRESS = re.compile(r"https?://\S+")
_SHORT_NAME = re.compile(r"[^\W\d_][\w'’-]+(?: [^\W\d_][\w'’-]+){0,2} [A-Z]{1,3}")
_RANGE = re.compile(r"\w+\s*[-–—]+\s*\w+")


@dataclass(slots=True)
class _Record:
    """The values of each tag of a record, in the order of the file."""

    values: dict[str, list[str]] = field(default_factory=dict)

    def all(self, *tags: str) -> list[str]:
        return [value for tag in tags for value in self.values.get(tag, ()) if value]

    def first(self, *tags: str) -> str:
        return next(iter(self.all(*tags)), "")

    @property
    def is_begun(self) -> bool:
        """Return True if the record has more than ids and database names."""
        return not self.values.keys() <= {"ID", "AN", "DB", "DP", "LB"}


def read_ris(text: str) -> Iterator[tuple[LibraryItem, tuple[str, ...]]]:
    """Yield each record of a RIS file as an item without files, and the names of its files."""
    for number, record in enumerate(_records(storable(text)), start=1):
        links = record.all("L1", "L2", "L3", "L4")
        files = [*links, *(value for value in record.all("UR") if value.lower().startswith("file:"))]
        yield _item(number, record, links), tuple(name for name in files if not _ADDRESS.match(name))


def _records(text: str) -> Iterator[_Record]:
    """Yield the records; each ends with ER, or before the next TY."""
    record, tag, is_loose = _Record(), "", False
    for line in text.split("\n"):
        if _END.fullmatch(line):
            if record.is_begun:
                yield record
            record, tag = _Record(), ""
            continue
        match = _TAG.fullmatch(line)
        if match and match[2] == "TY" and (len(match[3]) >= _SPACES or _TYPE.fullmatch(match[4])):
            if record.is_begun:
                yield record
                record = _Record()
            is_loose = len(match[3]) < _SPACES
        is_tag = match and (len(match[3]) >= _SPACES or (is_loose and match[2] in _KNOWN))
        # An abstract may contain a line that looks like a title's tag.
        if match and is_tag and not (tag in _PROSE and match[2] == "TI" and record.first("TI")):
            tag = match[2]
            record.values.setdefault(tag, []).append(match[4].strip())
        elif tag and line.strip():
            _continue(record.values[tag], tag, line.strip())
    if record.is_begun:
        yield record


def _continue(values: list[str], tag: str, line: str) -> None:
    """Add a line without a tag to the previous field."""
    is_another = tag in _LISTS or (tag in _NAMES and "," in line and "," in values[-1])
    if is_another and values[-1]:
        values.append(line)
    else:
        values[-1] = ("\n" if tag == "N1" else " ").join((values[-1], line)).strip()


def _item(number: int, record: _Record, links: Sequence[str]) -> LibraryItem:
    kind = record.first("TY").upper()
    title = record.first("TI", "T1", "CT") or record.first(*(("BT",) if kind in _BOOKS else ()), "TT", "ST")
    addresses = [
        match[0] for value in (*record.all("UR", "LK"), *links) for match in _ADDRESS.finditer(value)
    ]
    identifiers = record.all("M1", "M2", "M3", "L3", "C1", "C2", "C6", "C7", "C8", "AN", "U1", "U2", "U3")
    doi = find_doi(record.first("DO", "DI")) or next(
        filter(None, map(find_doi, [*identifiers, *addresses])), ""
    )
    dates = record.all("PY", "Y1", "DA")
    return LibraryItem(
        kind=_kind(kind, record),
        key=record.first("ID") or doi or title[:60] or str(number),
        title=title,
        authors=tuple(_authors(record)),
        date=next((date for date in dates if year_in(date)), ""),
        venue=_venue(kind, record, title),
        pages=_pages(record),
        doi=doi,
        url=next(iter(addresses), ""),
        extra=" ".join((*identifiers, *record.all("JF", "JO", "T2"))),
        abstract=" ".join(record.all("AB") or record.all("N2")),
        language=record.first("LA"),
        labels=tuple(word.strip(" *") for value in record.all("KW") for word in value.split(";")),
        notes=tuple(record.all("N1", "RN", *(("N2",) if record.first("AB") else ()))),
        source=record.first("ID") or doi,
    )


def _kind(kind: str, record: _Record) -> str:
    is_masters = kind == "THES" and "master" in record.first("M3", "M1", "U1").lower()
    return "mastersthesis" if is_masters else _KINDS.get(kind, "")


def _authors(record: _Record) -> Iterator[Author]:
    """Yield the authors, each once; without any, as for an edited book, the editors."""
    for tags in (("A1", "AU"), ("A2", "ED"), ("A3",), ("A4",)):
        written = (values for tag, values in record.values.items() if tag in tags)
        names = [name for values in written for value in values for name in _names(value)]
        authors = [author for name in names if (author := read_name(name, family_first=True))]
        if authors:
            yield from dict.fromkeys(authors)
            return


def _names(value: str) -> list[str]:
    """Return the names in one field, split at semicolons, "and", or the commas of "Ito C, Kim B"."""
    if ";" in value:
        return value.split(";")
    listed = " ".join(value.split()).split(" and ")
    if len(listed) > 1 and all("," in name for name in listed):
        return listed
    parts = [part.strip() for part in value.split(",")]
    return parts if all(map(_SHORT_NAME.fullmatch, parts)) else [value]


def _venue(kind: str, record: _Record, title: str) -> str:
    tags = _VENUES.get(kind, _PERIODICAL)
    return next((value for value in record.all(*tags) if value.casefold() != title.casefold()), "")


def _pages(record: _Record) -> str:
    first, last = record.first("SP"), record.first("EP")
    if not first:
        return last or record.first("C7")
    return first if _RANGE.fullmatch(first) or last in ("", first) else f"{first}-{last}"
