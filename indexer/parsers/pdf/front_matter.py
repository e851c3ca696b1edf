"""The front matter of a PDF: title, authors, and the beginning of the abstract."""

import re
from collections.abc import Iterable, Sequence

from corpus.pdf.pages import PdfPage
from corpus.records import Author
from indexer.parsers.identifiers import letters_of
from indexer.parsers.pdf.fragments import fragments_of
from indexer.parsers.pdf.headings import parse_heading
from indexer.parsers.pdf.lines import Line
from indexer.parsers.pdf.paragraphs import LITTLE_WORDS, Style
from indexer.parsers.section_names import ABSTRACT, INTRODUCTION

_BANNER = re.compile(
    r"proceedings|arxiv:|\bjournal\b|transactions on|\bvol(?:ume)?\b\.? ?\d|https?://|\bdoi\b|^contents lists"
    r"|©|conference|workshop|^(?:original |research |review )?article$|^open access$|^\W*\d+\W*$"
    r"|^(?:letter|research|report|paper)s?$|available online",
    re.IGNORECASE,
)
_YEAR = re.compile(r"\b(?:19[5-9]\d|20[0-4]\d)\b")
# TeX's circled c is extracted as "c" or "flc".
_COPYRIGHT = re.compile(rf"(?:©|\bcopyright|\(c\)|\b(?:fl)?c\b) ?c?[ ,]*({_YEAR.pattern})", re.IGNORECASE)
_IMPRINT = re.compile(
    r"proceedings|conference|workshop|symposium|\bjournal\b|transactions on|\bvol(?:ume)?\b|\bpages? \d"
    r"|\b(?:january|february|march|april|may|june|july|august|september|october|november|december)\b",
    re.IGNORECASE,
)
_COVER = re.compile(
    r"repositor|see discussions, stats|download(?:ed)? from|citation for|(?:please|how to|to) cite"
    r"|this (?:is an? )?(?:version|copy|accepted|author|open access|pre-?print|post-?print)"
    r"|document version"
    r"|general rights|take ?-?down|link to publi|publisher'?s? (?:page|version)"
    r"|terms (?:and conditions )?of use"
    r"|researchgate|archive ouverte|jstor|eprint|accepted (?:manuscript|version)|peer[- ]reviewed version"
    r"|final published version|self-archiv",
    re.IGNORECASE,
)
_MOST_COVERS = 2
_TITLE_AT_MOST = 8  # lines above the title of a first page
_LETTERS_OF_TITLE = 12
_MARGIN = 0.1  # of a page's height
_AFFILIATION = re.compile(
    r"universit|institut|department|dept|school|college|laborator|\blab\b|\binc\b|research|center|centre|corporation"
    r"|faculty|academy|@|www|http|street|avenue|\d{3}|group|company|technolog|sciences?\b|abstract|\bltd\b|hospital|national",
    re.IGNORECASE,
)
_PARTICLES = frozenset("van von de der den da di du la le el al bin ten".split())
_NAME_PART = re.compile(r"[^\W\d_][\w'’.‐-]*")
_ORCID = re.compile(r"\[[\d-]{15,}[\dX]\]")
_MARKS = re.compile(r"[\d*∗†‡§¶‖♠♣♥♦♯⋆★✉#]+(?:,[\d*∗†‡§¶]+)*")
_GRADES = re.compile(
    r",? (?:(?:graduate )?student |senior |life ){0,4}(?:member|fellow),? IEEE", re.IGNORECASE
)
_BETWEEN_NAMES = re.compile(r"(?:(?<!\s)\s++)?(?:,|;|&|\band\b)\s*+")
_LONGEST_NAMES, _LONGEST_AFFILIATION = 3, 6  # lines
_RUN_IN = re.compile(r"(?:abstract|summary)\s*(?:[—–:.-]+|$)\s*", re.IGNORECASE)
_WORD_RUN_IN = re.compile(r"(?:abstract|summary)\b[\s—–:.-]*", re.IGNORECASE)


def cover_pages(lines: Sequence[Line], style: Style) -> int:
    """Count the pages before the paper's first: cover sheets of a repository, or a title page.

    They have no text of the paper, and the next page begins with its title; they repeat the title or name the
    file's origin.
    """
    covers = 0
    while covers < _MOST_COVERS:
        cover = [line for line in lines if line.page == covers + 1]
        paper = [line for line in lines if line.page > covers + 1]
        if not cover or not paper or paper[0].page != covers + 2 or _begins_text(cover):
            break
        title = title_lines(paper, style)
        first = [line for line in paper if line.page == paper[0].page]
        if not title or title.start > _TITLE_AT_MOST or not _begins_text(first[title.stop :]):
            break
        text = " ".join(line.text for line in cover)
        letters = letters_of("".join(paper[index].text for index in title))
        is_repeated = len(letters) >= _LETTERS_OF_TITLE and letters in letters_of(text)
        if not is_repeated and not _COVER.search(text):
            break
        covers += 1
    return covers


def _begins_text(lines: Sequence[Line]) -> bool:
    """Return True if an abstract or the introduction begins in these lines of a page."""
    return any(
        is_abstract_heading(line)
        or (len(line.text) > 0 and begins_run_in(line))
        or INTRODUCTION.fullmatch(parse_heading(line.text).title)
        for line in lines
    )


def printed_year(first: PdfPage) -> int | None:
    """Return the year of a first page's copyright, else of the imprint in its margins; None if ambiguous."""
    margin = _MARGIN * first.height
    rows = [(row, " ".join(word.text for word in row.words)) for row in fragments_of(first.words)]
    years = {int(match[1]) for _, text in rows for match in _COPYRIGHT.finditer(text)}
    if not years:
        edges = [text for row, text in rows if row.bottom < margin or row.top > first.height - margin]
        years = {int(year) for text in edges if _IMPRINT.search(text) for year in _YEAR.findall(text)}
    return years.pop() if len(years) == 1 else None


def find_title(lines: Sequence[Line], title: str) -> range:
    """Return the lines of the first page that print `title`, from the file's properties; may be empty."""
    letters = letters_of(title)
    first = [line for line in lines if line.page == lines[0].page]
    if len(title.split()) < 3 or len(letters) < 12 or _BANNER.search(title):
        return range(0)
    for start in range(len(first)):
        text = ""
        for stop in range(start, min(start + 6, len(first))):
            text += letters_of(first[stop].text)
            if text == letters:
                return range(start, stop + 1)
            if not letters.startswith(text):
                break
    return range(0)


def title_lines(lines: Sequence[Line], style: Style) -> range:
    """Return the title lines: those in the largest type before the abstract; may be empty."""
    end = next((i for i, line in enumerate(lines) if is_abstract_heading(line)), 0) or len(lines)
    first = [
        index
        for index, line in enumerate(lines[:end])
        if line.page == lines[0].page and not _BANNER.search(line.text) and _has_words(line)
    ]
    if not first:
        return range(0)
    largest = max(lines[index].size for index in first)
    if largest < 1.08 * style.size:
        return range(first[0], _end_of_plain(lines, first[0])) if first[0] < 3 else range(0)
    start = next(index for index in first if lines[index].size > 0.97 * largest)
    stop = start + 1
    while stop < end and _continues_title(lines, stop, lines[start]):
        stop += 1
    return range(start, stop)


def _end_of_plain(lines: Sequence[Line], start: int) -> int:
    """Return the end of a title in the body's type: one line, or two close lines above names."""
    if start + 3 > len(lines):
        return start + 1
    first, second, names = lines[start : start + 3]
    gap = second.baseline - first.baseline
    is_close = _in_type(second, first) and 0 < gap < 1.35 * first.size
    return start + (2 if is_close and names.baseline - second.baseline > 1.3 * gap and _names([names]) else 1)


def _has_words(line: Line) -> bool:
    return sum(map(str.isalpha, line.text)) >= 4 and len(line.words) > 1


def _continues_title(lines: Sequence[Line], index: int, first: Line) -> bool:
    before, line = lines[index - 1], lines[index]
    gap = line.baseline - before.baseline
    if line.page != first.page or line.bold != first.bold:
        return False
    if not 0 < gap < 2.3 * first.size or _BANNER.search(line.text):
        return False
    if abs(line.size - first.size) < 0.05 * first.size:
        return True
    after = lines[index + 1].baseline - line.baseline if index + 1 < len(lines) else 0.0
    # OCR misjudges sizes: a close line with a gap before the authors belongs to the title too.
    return gap < 1.3 * first.size and 0.8 * first.size < line.size < first.size and after > 1.6 * gap


def is_abstract_heading(line: Line) -> bool:
    return ABSTRACT.fullmatch(line.text.strip(" .:—-*∗†‡§¶0123456789")) is not None


def begins_run_in(line: Line) -> bool:
    """Return True if a line begins with "Abstract", set off by punctuation or type."""
    if not line.text[0].isupper() or len(line.words) < 2:
        return False
    if _RUN_IN.match(line.text):
        return True
    word, following = line.words[:2]
    types = (word.bold, word.italic), (following.bold, following.italic)
    return _WORD_RUN_IN.fullmatch(word.text) is not None and types[0] != types[1] and any(types[0])


def without_run_in(text: str) -> str:
    match = _WORD_RUN_IN.match(text)
    return text[match.end() :] if match else text


def bare_abstract(lines: Sequence[Line], start: int) -> range:
    """Return the lines of an abstract without heading; empty unless it is unmistakable.

    It is prose directly above the introduction on the first page, in one type and of usual length.
    """
    page = [i for i in range(start, len(lines)) if lines[i].page == lines[0].page]
    stop = next((i for i in page if INTRODUCTION.fullmatch(parse_heading(lines[i].text).title)), start)
    first = stop
    while first > start and (first == stop or _same_block(lines[first - 1], lines[first])):
        first -= 1
    words = [word.text.lower() for line in lines[first:stop] for word in line.words]
    prose = sum(word in LITTLE_WORDS for word in words) > 0.2 * len(words)
    whole = stop > first and lines[first].text[0].isupper() and lines[stop - 1].text.endswith(".")
    return range(first, stop) if whole and prose and 50 <= len(words) <= 450 else range(0)


def leaves_inset(lines: Sequence[Line], first: int, index: int) -> bool:
    """Return True if an abstract indented on both sides ends above a line."""
    above, below = lines[first:index], lines[index : index + 2]
    if (
        len(above) < 3
        or len(below) < 2
        or {line.column for line in (*above, *below)} != {lines[first].column}
    ):
        return False
    left, right = min(line.left for line in above), max(line.right for line in above)
    inset = 0.6 * lines[first].size
    return below[0].right > right + inset and below[1].left < left - inset


def _same_block(line: Line, below: Line) -> bool:
    gap = below.baseline - line.baseline
    # The short last line of a text across the page may be in the left column.
    aligned = line.page == below.page and abs(line.left - below.left) < 3 * below.size
    near = aligned and 0 < gap < 1.5 * below.size
    return near and abs(line.size - below.size) < 0.06 * below.size and line.bold == below.bold


def authors_beside(lines: Sequence[Line], title: range, abstract: int) -> range:
    """Return the lines of authors in the column to the right of the abstract's, above it.

    Most are indented, few fill the column, and white space separates them from the text below.
    """
    heading = lines[abstract]
    start = stop = next(
        (i for i in range(abstract + 1, len(lines)) if lines[i].column != heading.column), len(lines)
    )
    while stop < len(lines) and lines[stop].page == heading.page and lines[stop].baseline < heading.top:
        stop += 1
    if not title or start == stop or stop == len(lines) or lines[start].page != heading.page:
        return range(0)
    below_title = lines[start].baseline > lines[title.start].baseline
    apart = lines[stop].baseline - lines[stop - 1].baseline > 1.8 * lines[stop - 1].size
    loose = sum(line.fills for line in lines[start:stop]) <= 0.34 * (stop - start)
    margin = min(line.left for line in lines[stop:] if line.column == lines[stop].column)
    loose = loose and sum(line.left > margin + 2 for line in lines[start:stop]) >= 0.5 * (stop - start)
    return range(start, stop) if below_title and apart and loose else range(0)


def author_names(blocks: Iterable[Sequence[Line]]) -> tuple[Author, ...]:
    """Return the authors at the beginning of blocks of lines below a title.

    After affiliations in another type, and in later blocks, only names in the type of the first ones count.
    There are none if the first block begins with anything else.
    """
    authors: list[Author] = []
    first: Line | None = None
    for lines in blocks:
        index = 0
        while index < len(lines) and (first is None or _in_type(lines[index], first)):
            names, stop = _names_from(lines, index)
            if not names:
                break
            authors.extend(names)
            first = first or lines[index]
            index = stop
            while index < min(stop + _LONGEST_AFFILIATION, len(lines)) and not _in_type(lines[index], first):
                index += 1
        if first is None:
            break
    return tuple(authors)


def _in_type(line: Line, first: Line) -> bool:
    return line.bold == first.bold and abs(line.size - first.size) < 0.06 * first.size


def _names_from(lines: Sequence[Line], start: int) -> tuple[list[Author], int]:
    """Return the authors named in the lines from `start` on, and the index of the next other line."""
    authors: list[Author] = []
    index = start
    while (
        index < len(lines)
        and _in_type(lines[index], lines[start])
        and (stop := _end_of_names(lines, index)) > index
    ):
        authors.extend(_names(lines[index:stop]))
        index = stop
    return authors, index


def _end_of_names(lines: Sequence[Line], start: int) -> int:
    """Return the end of lines with whole names from `start` on; a name may be broken across lines."""
    most = _LONGEST_NAMES if _BETWEEN_NAMES.search(lines[start].text) else 1
    stops = range(start + 1, min(start + most, len(lines)) + 1)
    whole = [stop for stop in stops if _names(lines[start:stop])]
    broken = [stop for stop in whole if whole[0] > start + 1 or not _names(lines[stop - 1 : stop])]
    return max(broken or whole[:1], default=start)


def _names(lines: Sequence[Line]) -> list[Author]:
    """Return the authors in lines that hold only names, else none."""
    names: list[Author] = []
    for cell in _cells(lines):
        plain = _GRADES.sub(",", _ORCID.sub(",", cell)).strip()
        if _AFFILIATION.search(plain) or plain[:1].isdigit():
            return []
        for part in _BETWEEN_NAMES.split(_MARKS.sub(",", plain)):
            if name := part.strip(" .·•|"):
                if not (authors := _read_names(name)):
                    return []
                names.extend(authors)
    return names


def _cells(lines: Sequence[Line]) -> list[str]:
    """Return the texts of lines, split at wide gaps."""
    cells = [""]
    for line in lines:
        for before, word in zip((None, *line.words), line.words, strict=False):
            if before is not None and word.left - before.right > 1.2 * line.size:
                cells.append("")
            cells[-1] = f"{cells[-1]} {word.text}"
    return cells


def _read_names(text: str) -> list[Author]:
    """Parse one name, or several with capitalised family names first; empty for other text."""
    parts = text.split()
    if not all(p in _PARTICLES or (p[0].isupper() and _NAME_PART.fullmatch(p)) for p in parts):
        return []
    if _families_first(parts):
        return [Author(given, family.title()) for family, given in zip(parts[::2], parts[1::2], strict=True)]
    if not 2 <= len(parts) <= 5:
        return []
    family = len(parts) - 1
    while family > 1 and parts[family - 1] in _PARTICLES:
        family -= 1
    return [Author(" ".join(parts[:family]), " ".join(parts[family:]))]


def _families_first(parts: Sequence[str]) -> bool:
    """Return True for "LEE Ann" and "LEE Ann KIM BoMi"."""
    families, given = parts[::2], parts[1::2]
    is_loud = all(part.isalpha() and part.isupper() and len(part) > 1 for part in families)
    return len(families) == len(given) and is_loud and not any(map(str.isupper, given))
