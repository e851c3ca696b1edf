"""Fields that entries inherit from others: BibTeX's crossref, biblatex's xdata."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from corpus.bibtex.syntax import ParsedEntry

# Entries that are no publications and hold fields or keys for others.
CONTAINERS = frozenset(("xdata", "set", "control", "bibtexcontrol"))
# Fields that a part inherits from the whole: no identifiers, files or texts.
_OF_THE_WHOLE = (
    *("booktitle", "booksubtitle", "maintitle", "mainsubtitle", "journal", "journaltitle", "journalsubtitle"),
    *("series", "volume", "number", "issue", "edition", "year", "date", "month", "publisher", "address"),
    *(
        "location",
        "organization",
        "institution",
        "school",
        "isbn",
        "issn",
        "eventtitle",
        "eventdate",
        "venue",
    ),
)
_PART_OF_BOOK = frozenset(
    "inproceedings conference incollection inbook inreference suppbook bookinbook".split()
)
_DEEPEST = 8


@dataclass(frozen=True, slots=True)
class Inherited:
    """The fields of an entry with inherited ones, and remarks on missing entries."""

    fields: Mapping[str, str]
    remarks: tuple[str, ...] = ()


class Inheritance:
    """The entries of a file by their lower-case keys, as BibTeX ignores case."""

    def __init__(self, entries: Sequence[ParsedEntry]) -> None:
        self._entries: dict[str, ParsedEntry] = {}
        for entry in entries:
            self._entries.setdefault(entry.key.lower(), entry)

    def fields_of(self, entry: ParsedEntry) -> Inherited:
        """Return an entry's fields, then those of its xdata, then those of its crossref."""
        missing: list[str] = []
        fields = self._resolved(entry, missing, ())
        remarks = tuple(
            f"its entry refers to {key}, which the file does not hold" for key in dict.fromkeys(missing)
        )
        return Inherited(
            {name: value for name, value in fields.items() if name not in ("crossref", "xdata")}, remarks
        )

    def _resolved(self, entry: ParsedEntry, missing: list[str], path: tuple[str, ...]) -> dict[str, str]:
        fields = dict(entry.fields)
        path = (*path, entry.key.lower())
        for shared in self._named(entry.fields.get("xdata", ""), missing, path):
            for name, value in self._resolved(shared, missing, path).items():
                fields.setdefault(name, value)
        for parent in self._named(entry.fields.get("crossref", ""), missing, path):
            whole = self._resolved(parent, missing, path)
            if entry.kind in _PART_OF_BOOK and not whole.get("booktitle"):
                whole["booktitle"] = whole.get("title", "")
                whole["booksubtitle"] = whole.get("subtitle", "")
            elif entry.kind == "article" and not whole.get("journal") and not whole.get("journaltitle"):
                whole["journaltitle"] = whole.get("title", "")
            dated = "year" in fields or "date" in fields
            for name in _OF_THE_WHOLE:
                if whole.get(name) and not (dated and name in ("year", "date", "month")):
                    fields.setdefault(name, whole[name])
        return fields

    def _named(self, keys: str, missing: list[str], path: tuple[str, ...]) -> Iterator[ParsedEntry]:
        for key in filter(None, map(str.strip, keys.split(","))):
            entry = self._entries.get(key.lower())
            if entry is None:
                missing.append(key)
            elif key.lower() not in path and len(path) < _DEEPEST:
                yield entry
