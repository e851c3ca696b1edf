"""The bibliography of a PDF: split into entries, with certain metadata of each."""

import re
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise

from corpus.records import Reference
from indexer.parsers.identifiers import find_arxiv_id, find_doi
from indexer.parsers.pdf.lines import Line
from indexer.parsers.pdf.paragraphs import Vocabulary, paragraph

_LABEL = re.compile(r"(?:\[[^\]]{1,30}\]|\(?\d{1,3}[.)])(?:\s|$)")
_YEAR = re.compile(r"(?<![\d.:/-])((?:19|20)\d\d)[a-z]?(?![\d/-])")
_QUOTED = re.compile(r"[“\"](?P<title>[^”\"]{10,300}?)[,.?!]?[”\"]")
_AFTER_YEAR = re.compile(r"(?:19|20)\d\d[a-z]?\)?[.,:]\s++(?P<title>[^.?!]{12,300}[?!]?)(?:[.?!](?:\s|$))")


def split_references(lines: Sequence[Line], vocabulary: Vocabulary) -> tuple[Reference, ...]:
    """Split the lines of a bibliography into entries; lines before the first are dropped."""
    entries: list[list[Line]] = []
    labelled = [_LABEL.match(line.text) is not None for line in lines]
    is_labelled = bool(lines) and labelled[0] and sum(labelled) >= 0.15 * len(lines)
    begins = labelled if is_labelled else _hanging(lines) or _by_full_stops(lines)
    for line, begin in zip(lines, begins, strict=True):
        if begin:
            entries.append([line])
        elif entries:
            entries[-1].append(line)
    texts = (paragraph(entry, vocabulary).text for entry in entries)
    return tuple(read_reference(text) for text in texts if len(text) > 15)


def read_reference(text: str) -> Reference:
    """Parse title, year and identifiers of an entry where certain; authors stay in the text."""
    years = sorted({int(year) for year in _YEAR.findall(text)})
    title = _QUOTED.search(text) or _AFTER_YEAR.search(text)
    return Reference(
        text=text,
        title=title["title"].strip(" ,.") if title else "",
        year=years[0] if len(years) == 1 else None,
        doi=find_doi(text),
        arxiv_id=find_arxiv_id(text),
    )


def _hanging(lines: Sequence[Line]) -> list[bool]:
    """Flag the first lines of hanging entries; [] without hanging indents."""
    edges = {}
    for column in {line.column for line in lines}:
        lefts = Counter(round(line.left) for line in lines if line.column == column)
        # A column may have lines of a single entry, most of them indented.
        usual = [left for left, count in lefts.items() if count >= 2 or lefts.total() <= 6]
        usual = usual or list(lefts)
        edges[column] = min(usual)
    starts = [line.left < edges[line.column] + 3.5 for line in lines]
    indented = len(lines) - sum(starts)
    return starts if indented >= 0.25 * len(lines) else []


def _by_full_stops(lines: Sequence[Line]) -> list[bool]:
    starts = [True] if lines else []
    for before, line in pairwise(lines):
        ended = before.text.rstrip().endswith(".")
        short = before.right < before.column_right - 0.1 * (before.column_right - before.column_left)
        gap = before.column == line.column and line.baseline - before.baseline > 1.35 * line.size
        starts.append(ended and (short or gap) and line.text[0].isupper())
    return starts
