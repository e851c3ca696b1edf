r"""A parser of BibTeX files that follows BibTeX, and tolerates errors with a plain meaning.

Strings are substituted, `#` joins values, braces count even after a backslash, and a field has no comments.
Missing or surplus commas, surplus braces and repeated fields are tolerated; an entry whose braces never close
is broken, and parsing goes on with the next entry at the beginning of a line.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from corpus.text import shortened, storable

_START = re.compile(r"@[ \t]*([A-Za-z][A-Za-z0-9_.+-]*)\s*([{(])")
_STRAY = re.compile(r"^[ \t]*@[ \t]*(?!comment)[A-Za-z]\w*", re.MULTILINE | re.IGNORECASE)
_KEY = re.compile(r"\s*([^,={}\"\n]*)")
_NAME = re.compile(r"[^\s=,{}()\"#%@]+")
_EQUALS = re.compile(r"(?:(?<!\s)\s++)?=")
_SPACE = re.compile(r"(?:\s|%[^\n]*(?:\n|\Z))*")
_BARE = re.compile(r"[^\s,{}()\"#=]+")
_WORDS = re.compile(r"[^,{}\"#=\n]*")
_NEXT_FIELD = re.compile(r"(?<![\w.:+-])[A-Za-z][\w.:+-]*+\s*+=")
_FIELD_WITHIN = re.compile(r",\s*[A-Za-z][\w.:+-]*\s*=\s*[{\"\d]")
_BEHIND_QUOTE = re.compile(r"(?:(?<!\s)\s++)?(?:[,#})]|\Z|(?<![\w.:+-])[A-Za-z][\w.:+-]*+\s*+=)")
_BEHIND_BRACE = re.compile(r"[})]\s*,[\s,]*[A-Za-z][\w.:+-]*\s*=\s*[{\"\w]")
# Within braces and quotation marks an entry begins only at the beginning of a line.
_BRACES = re.compile(r"[{}]|^[ \t]*@[ \t]*[A-Za-z][A-Za-z0-9_.+-]*\s*[{(\[]", re.MULTILINE)
_QUOTES = re.compile(r"[{}\"]|^[ \t]*@[ \t]*[A-Za-z][A-Za-z0-9_.+-]*\s*[{(\[]", re.MULTILINE)
_MONTHS = {
    "jan": "January",
    "feb": "February",
    "mar": "March",
    "apr": "April",
    "may": "May",
    "jun": "June",
    "jul": "July",
    "aug": "August",
    "sep": "September",
    "oct": "October",
    "nov": "November",
    "dec": "December",
}


@dataclass(frozen=True, slots=True)
class ParsedEntry:
    """An entry: its type in lower case, its key, and its fields by name in lower case.

    A value is unchanged LaTeX without its outermost braces or quotation marks. The first of repeated fields
    counts.
    """

    kind: str
    key: str
    fields: Mapping[str, str]
    line: int = 1


@dataclass(frozen=True, slots=True)
class BrokenEntry:
    """A part of a file that cannot be read: its line, counted from 1, its key if any, and the reason."""

    line: int
    key: str
    reason: str
    text: str


@dataclass(frozen=True, slots=True)
class ParsedFile:
    """The entries and the broken parts of a file, each in order."""

    entries: tuple[ParsedEntry, ...]
    broken: tuple[BrokenEntry, ...]


class _NeverEndsError(Exception):
    """A value or an entry has no end; `position` is the start of the next entry."""

    def __init__(self, position: int, reason: str) -> None:
        super().__init__(reason)
        self.position = position
        self.reason = reason


def parse_bibtex(text: str) -> ParsedFile:
    """Return the entries of a BibTeX file; never raises."""
    parser = _Parser(text)
    parser.parse()
    return ParsedFile(tuple(parser.entries), tuple(parser.broken))


class _Parser:
    """Parses a text, collecting its entries and broken parts."""

    def __init__(self, text: str) -> None:
        self.entries: list[ParsedEntry] = []
        self.broken: list[BrokenEntry] = []
        self._text = text
        self._position = 0
        self._strings: dict[str, str] = dict(_MONTHS)
        self._lines = _LineNumbers(text)

    def parse(self) -> None:
        while start := _START.search(self._text, self._position):
            self._note_stray(self._position, start.start())
            self._position = start.end()
            closing = "}" if start[2] == "{" else ")"
            try:
                self._read_block(start[1].lower(), closing, start.start())
            except _NeverEndsError as error:
                self._note_broken(start.start(), error.position, error.reason)
                self._position = error.position
        self._note_stray(self._position, len(self._text))

    def _read_block(self, kind: str, closing: str, start: int) -> None:
        if kind in ("comment", "preamble"):
            self._position = self._end_of_braces(self._position) if closing == "}" else self._position
        elif kind == "string":
            for name, value in self._fields(closing):
                self._strings[name] = value
        else:
            key = self._key()
            fields: dict[str, str] = {}
            for name, value in self._fields(closing):
                fields.setdefault(name, value.strip())
            self.entries.append(ParsedEntry(kind, key, MappingProxyType(fields), self._lines.at(start)))

    def _key(self) -> str:
        match = _KEY.match(self._text, self._position)
        assert match  # it matches the empty text too
        key, end = match[1], match.end()
        if self._text[end : end + 1] == "=":
            # The key has no comma after it, or there is no key.
            key = key.rstrip().rpartition(" ")[0]
            end = match.start(1) + len(key)
        elif (closing := key.find(")")) >= 0 and self._text[end : end + 1] != ",":
            key, end = key[:closing], match.start(1) + closing
        self._position = end
        return key.strip()

    def _fields(self, closing: str) -> Iterator[tuple[str, str]]:
        """Yield the fields of the block, and move past its end."""
        swallowed = False
        while True:
            self._skip_space()
            character = self._text[self._position : self._position + 1]
            if not character or _START.match(self._text, self._position):
                # Only the closing brace of the entry is missing, unless a value swallowed other fields.
                if swallowed:
                    raise _NeverEndsError(self._position, "has a brace that is never closed")
                return
            if character == closing and not _BEHIND_BRACE.match(self._text, self._position):
                self._position += 1
                return
            name = _NAME.match(self._text, self._position)
            equals = _EQUALS.match(self._text, name.end()) if name else None
            if name is None or equals is None:
                self._position = name.end() if name else self._position + 1
                continue
            self._position = equals.end()
            value = self._value(closing)
            swallowed = swallowed or bool(_FIELD_WITHIN.search(value))
            yield name[0].lower(), value

    def _value(self, closing: str) -> str:
        """Return the value of an expression of strings, and move past it."""
        pieces: list[str] = []
        while True:
            self._skip_space()
            start = self._position
            character = self._text[start : start + 1]
            if character == "{":
                self._position = self._end_of_braces(start + 1)
                pieces.append(self._text[start + 1 : self._position - 1])
            elif character == '"':
                self._position = self._end_of_quotes(start + 1)
                pieces.append(self._text[start + 1 : self._position - 1])
            elif bare := _BARE.match(self._text, start):
                self._position = bare.end()
                pieces.append(self._strings.get(bare[0].lower(), bare[0]))
            self._skip_space()
            if self._text[self._position : self._position + 1] == "#":
                self._position += 1
                continue
            if _NEXT_FIELD.match(self._text, self._position) or _START.match(self._text, self._position):
                break
            # Words after a value, as in "year = 2010 spring" or after a surplus brace, belong to it.
            words = _WORDS.match(self._text, self._position)
            rest = words[0].rstrip() if words else ""
            if closing == ")":
                rest = rest.partition(")")[0].rstrip()
            if not rest:
                break
            pieces.append(f" {rest}")
            self._position += len(rest)
        return "".join(pieces)

    def _end_of_braces(self, position: int) -> int:
        """Return the position after the brace that closes the one opened before `position`."""
        depth = 1
        for mark in _BRACES.finditer(self._text, position):
            if "@" in mark[0]:
                raise _NeverEndsError(mark.start(), "has a brace that is never closed")
            depth += 1 if mark[0] == "{" else -1
            if depth == 0:
                return mark.end()
        raise _NeverEndsError(len(self._text), "has a brace that is never closed")

    def _end_of_quotes(self, position: int) -> int:
        """Return the position after the closing quotation mark, the first outside braces to end a value."""
        depth = 0
        for mark in _QUOTES.finditer(self._text, position):
            if "@" in mark[0]:
                raise _NeverEndsError(mark.start(), "has a quotation mark that is never closed")
            if mark[0] == '"':
                if depth == 0 and _BEHIND_QUOTE.match(self._text, mark.end()):
                    return mark.end()
            else:
                depth = max(0, depth + (1 if mark[0] == "{" else -1))
        raise _NeverEndsError(len(self._text), "has a quotation mark that is never closed")

    def _skip_space(self) -> None:
        space = _SPACE.match(self._text, self._position)
        self._position = space.end() if space else self._position

    def _note_stray(self, start: int, end: int) -> None:
        """Note text between entries that looks like a part of one; other text is a comment."""
        between = self._text[start:end]
        if start and self.entries and re.match(r"\s*,\s*[A-Za-z][\w.:+-]*\s*=", between):
            self._note_broken(start, end, "stands behind the end of the entry before it")
        elif stray := _STRAY.search(between):
            self._note_broken(start + stray.start(), end, "has no brace behind its type")

    def _note_broken(self, start: int, end: int, reason: str) -> None:
        text = self._text[start : min(end, start + 2_000)]
        head = _START.match(text.lstrip())
        key = _KEY.match(text.lstrip(), head.end()) if head else None
        start += len(text) - len(text.lstrip())
        shown = shortened(" ".join(storable(text).split()), 60)
        self.broken.append(BrokenEntry(self._lines.at(start), key[1].strip() if key else "", reason, shown))


class _LineNumbers:
    """Counts the lines up to increasing positions of a text."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._place, self._line = 0, 1

    def at(self, place: int) -> int:
        """Return the line of a position, counted from 1; positions must not decrease from call to call."""
        self._line += self._text.count("\n", self._place, place)
        self._place = max(self._place, place)
        return self._line
