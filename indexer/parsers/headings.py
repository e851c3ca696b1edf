"""The tree of sections from flat headings: GROBID numbers about a third of them and nests none."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from corpus.records import Section
from indexer.parsers.section_names import is_back_matter, is_divided_part, is_part

Path = tuple[Section, ...]

_ARABIC = re.compile(r"(\d{1,2}(?:\.\d{1,2}){0,4})\.?\s+(?=\S)")
_ROMAN = re.compile(r"([IVX]{1,5})\.\s+(?=\S)|([IVX]{2,5})\s+(?=[A-Z])")
_LETTER = re.compile(r"([A-Z](?:\.\d{1,2}){1,3})[.:]?\s+(?=\S)|([A-Z])[.:]\s+(?=\S)")
_BARE_LETTER = re.compile(r"([A-Z])\s+(?=[A-Z])")
_APPENDIX = re.compile(r"appendix\s+([A-Z](?:\.\d{1,2}){0,3})\b[.:]?\s*", re.IGNORECASE)
_ITEM = re.compile(r"(\(?(?:\d{1,2}|[a-z])\))\s+(?=\S)")
_NUMBER = re.compile(r"\d{1,2}(?:\.\d{1,2})*")
_WORD = re.compile(r"[^\W\d_]{2,}")

_ARTIFACT = re.compile(
    r"arXiv:\S.*|©.*|continued|.*\bcontinued (?:on|from) (?:the )?(?:next|previous) page\W*|"
    r"(?:extended data )?(?:fig(?:ure|\.)?|table|tab\.|scheme|chart|gráfico|figura|tabla|cuadro|abbildung|"
    r"tabelle|tableau)\s*[A-Z]?\d+[.:]?(?:\s*\(?continued.*)?",
    re.IGNORECASE,
)
_LABELS_IN_A_ROW = 3
_NUMBERED_SHARE = 0.4


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading of GROBID; `alone` if no text follows before the next heading."""

    text: str
    number: str = ""
    alone: bool = False


def is_artifact(heading: Heading) -> bool:
    """Return True for a false heading: a margin stamp, a copyright, a figure's label."""
    return _ARTIFACT.fullmatch(heading.text.strip()) is not None


def is_fragment(heading: Heading) -> bool:
    """Return True if a heading is a piece of running text: "2018).", "who explains,"."""
    text = _ITEM.sub("", heading.text, count=1)
    unbalanced = text.count(")") > text.count("(")
    broken = text.endswith(",") or (text[:1].islower() and text.endswith("."))
    # A run-in heading ends with a full stop too, but text follows.
    return bool(_WORD.search(text) or unbalanced) and (
        unbalanced or broken or (heading.alone and text.endswith("."))
    )


def labels_in_figures(headings: Sequence[Heading]) -> frozenset[int]:
    """Return the indices of labels in drawings: three or more headings in a row without text."""
    labels: set[int] = set()
    run: list[int] = []
    for place, heading in enumerate((*headings, Heading(""))):
        if heading.alone and not heading.number and not _leading_number(heading.text, frozenset()):
            run.append(place)
            continue
        if len(run) >= _LABELS_IN_A_ROW:
            labels.update(run)
        run = []
    return frozenset(labels)


def continues_numbering(last: str, number: str) -> bool:
    """Return True if `number` may follow `last`: 2.2 and 3 may follow 2.1, as may 2.1.1."""
    before, after = _key(last), _key(number)
    if last and not before:
        return False
    if after[-1:] == (1,) and after[:-1] == before:
        return True
    place = len(after) - 1
    return after[:place] == before[:place] and len(before) > place and after[place] == before[place] + 1


def _key(number: str) -> tuple[int, ...]:
    return tuple(int(part) for part in number.split(".")) if _NUMBER.fullmatch(number) else ()


def find_paths(headings: Sequence[Heading], *, annex: bool = False) -> list[Path]:
    """Return the path of every heading, from the outermost to its own.

    A heading without text keeps the previous path. With `annex`, single letters number appendices.
    """
    letters = _letters(headings) | (frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZ") if annex else frozenset())
    readings = [_read_heading(heading, letters) for heading in headings]
    outline = _Outline(readings)
    last = ""
    paths: list[Path] = []
    for heading, sections in zip(headings, readings, strict=True):
        for section in sections:
            if not section.title and not continues_numbering(last, section.number):
                continue
            outline.add(section, alone=heading.alone or section is not sections[-1])
            last = section.number or last
        paths.append(outline.path)
    return paths


def _letters(headings: Iterable[Heading]) -> frozenset[str]:
    """Return the letters that number headings: those whose neighbour in the alphabet numbers another."""
    patterns = (_LETTER, _BARE_LETTER, _APPENDIX)
    matches = (pattern.match(heading.text) for heading in headings for pattern in patterns)
    letters = {next(filter(None, match.groups()))[0].upper() for match in matches if match}
    return frozenset(letter for letter in letters if {chr(ord(letter) - 1), chr(ord(letter) + 1)} & letters)


def _read_heading(heading: Heading, letters: frozenset[str]) -> tuple[Section, ...]:
    """Return number and title, of both headings if GROBID joined two ("2 Model 2.1 Overview")."""
    text = heading.text.strip()
    number = heading.number.strip().rstrip(".:")
    if not number:
        number, text = _leading_number(text, letters) or ("", text)
    if not _WORD.search(text):
        number, text = (text.rstrip("."), "") if _NUMBER.fullmatch(text.rstrip(".")) else (number, "")
        return (Section(number, ""),) if number else ()
    second = re.search(rf"\s({re.escape(number)}\.\d{{1,2}})\.?\s+(?=\S)", text) if number else None
    if not second:
        return (Section(number, text),)
    return (Section(number, text[: second.start()]), Section(second[1], text[second.end() :]))


def _leading_number(text: str, letters: frozenset[str]) -> tuple[str, str] | None:
    """Split the leading number off a heading: Arabic, Roman, an appendix's or a list's."""
    if appendix := _APPENDIX.match(text):
        return appendix[1].upper(), text[appendix.end() :] or "Appendix"
    for pattern in (_ARABIC, _ROMAN, _LETTER, _ITEM):
        match = pattern.match(text)
        if match and _WORD.search(text, match.end()):
            return next(group for group in match.groups() if group), text[match.end() :]
    bare = _BARE_LETTER.match(text)
    return (bare[1], text[bare.end() :]) if bare and bare[1] in letters else None


@dataclass(frozen=True, slots=True)
class _Entry:
    section: Section
    kind: str
    alone: bool


class _Outline:
    """The current path of headings, by numbers, known names and headings without text."""

    def __init__(self, readings: Sequence[tuple[Section, ...]]) -> None:
        sections = [section for reading in readings for section in reading]
        numbered = sum(bool(section.number) for section in sections)
        self._numbers = frozenset(section.number for section in sections)
        self._is_numbered = numbered > 1 and numbered >= _NUMBERED_SHARE * len(sections)
        self._stack: list[_Entry] = []
        self._letter = ""

    @property
    def path(self) -> Path:
        return tuple(entry.section for entry in self._stack)

    def add(self, section: Section, *, alone: bool) -> None:
        kind = self._kind(section)
        if kind:
            above = (_is_above(entry, section.number, kind) for entry in self._stack)
            keep = next((depth for depth, is_above in enumerate(above) if not is_above), len(self._stack))
        elif self._is_numbered and is_back_matter(section.title):
            keep = 0
        elif self._is_numbered:
            # A run-in or minor heading goes under the last numbered one.
            is_nested = bool(self._stack) and self._stack[-1].alone
            keep = len(self._stack) if is_nested else sum(bool(entry.kind) for entry in self._stack)
        else:
            keep = self._above_unnumbered(section, alone)
        self._stack = [*self._stack[:keep], _Entry(section, kind, alone)]

    def _kind(self, section: Section) -> str:
        number = section.number
        if number.endswith(")"):
            return "item"
        if not number or number[0].isdecimal():
            return "arabic" if number else ""
        before, self._letter = self._letter, number[0]
        is_roman = re.fullmatch(r"[IVX]+", number) is not None and bool(self._numbers & {"I", "II", "III"})
        if is_roman and (len(number) > 1 or before != chr(ord(number) - 1)):
            self._letter = ""
            return "roman"
        return "letter"

    def _above_unnumbered(self, section: Section, alone: bool) -> int:
        if is_part(section.title) or is_back_matter(section.title):
            return 0
        if self._stack and self._stack[-1].alone:
            return len(self._stack)
        standing = sum(not _is_run_in(entry.section) for entry in self._stack)
        if _is_run_in(section):
            return standing
        if self._stack and is_divided_part(self._stack[0].section.title):
            return max(1, standing - 1)
        return 0 if alone else max(0, standing - 1)


def _is_above(entry: _Entry, number: str, kind: str) -> bool:
    if kind == "item":
        return entry.kind not in ("", "item")
    if kind == "roman":
        return False
    if number.startswith(f"{entry.section.number}.") and entry.kind:
        return True
    if kind == "letter":
        is_appendix = not entry.kind and entry.section.title.strip(" .:").casefold().startswith("appendi")
        return entry.kind == "roman" or is_appendix
    return entry.kind in ("roman", "letter") and "." not in number


def _is_run_in(section: Section) -> bool:
    return section.title.endswith((".", ":"))
