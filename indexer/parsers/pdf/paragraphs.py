"""From lines to paragraphs: hyphens at line ends resolved, sentences with their boxes."""

import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import compress, groupby, pairwise, zip_longest
from typing import NamedTuple

from corpus.pdf.words import Word
from corpus.records import Box, PassageKind
from corpus.sentences import sentence_spans
from indexer.parsers.document import Paragraph, Piece
from indexer.parsers.hyphens import is_compound, is_word
from indexer.parsers.pdf.lines import Line

LIST_MARK = re.compile(r"(?:[•‣◦▪●■–—*-]|\d{1,2}[.)]|\(?[a-z0-9ivx]{1,3}\)|\[\d{1,3}\])(?:\s|$)")
LITTLE_WORDS = frozenset(
    "a an and are as be by for from in is it of on that the this to we which with".split()
)
"""Words that are frequent in prose, but not in titles, names and tables."""
_TERMINAL = re.compile(r"[.!?:;…][\"'”’)\]]*(?:\d{1,2}|\[\d+\])?$")
_LETTERS = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")
# A superscript number or sign; after few letters, Greek letters or a bracketed formula it is an exponent.
_NOTE_MARK = re.compile(r"\d{1,3}(?:[,–-]\d{1,3}){0,5}|[*†‡§¶∗]{1,3}")
_BEFORE_NOTE = re.compile(r"[^\W\d_\u0370-\u03ff]{4}$|[^\W_\u0370-\u03ff]{4}[)\]]$|[.,;:!?”’\"']$")
_LINE_END_HYPHEN = re.compile(r"[^\W_][-\u2010]$")
_LINE_END_DASH = re.compile(r"\w[\u2013\u2014]$")
# Addresses keep their hyphens, also at line ends.
_ADDRESS = re.compile(r"://|^www\.|@|^10\.\d{4,}/|/[^/]*\.|\.[^.]*/")
_CLOSING = frozenset((".", ",", ";", ":", ")", "]", ").", "),"))
# After a suspended hyphen: "two- or threefold".
_LINKING = frozenset("and or to und oder et y o nor versus vs. but".split())
# Words that are hardly ever the first half of a compound: "with-out" is "without".
_FUNCTION_WORDS = frozenset(
    "a an and as at be by can for fore further how in into is it may more of on or per some the there to up "
    "what when where with".split()
)
# First halves that keep their hyphen before any word of the document: "non-relevant".
_FIRST_HALVES = frozenset("cross high low multi non pre self semi zero".split())
# Second halves that nearly always follow a hyphen: "entailment-based", "word-level".
_SECOND_HALVES = frozenset("aware based driven grained level oriented specific".split())


class Vocabulary:
    """The words of one document, to tell hyphens of compounds from those of line breaks."""

    def __init__(self, lines: Iterable[Line]) -> None:
        whole: list[str] = []
        cut = False
        for line in lines:
            # Skip the second half of a broken word.
            words = line.words[1:] if cut else line.words
            cut = line.words[-1].hyphenated or _LINE_END_HYPHEN.search(line.words[-1].text) is not None
            whole.extend(word.text for word in (words[:-1] if cut else words))
        self._counts = Counter(map(str.lower, _LETTERS.findall(" ".join(whole))))

    def joint(self, before: str, after: str) -> str:
        """Return the joint of a word broken at a line end: "" or "-"."""
        left = re.search(r"(?<![^\W_])(?<![^\W_]-)[^\W_]++(?:-[^\W_]++)*+$", before)
        right = re.match(r"[^\W\d_]+(?:-[^\W\d_]+)*", after)
        if left is None or right is None:
            return "-"
        first, second = left[0].lower(), right[0].lower()
        joined, hyphenated = self._counts[first + second], self._counts[f"{first}-{second}"]
        if joined or hyphenated:
            return "-" if hyphenated > joined else ""
        (*lead, last), (head, *tail) = first.split("-"), second.split("-")
        is_ending = second in _SECOND_HALVES and len(last) > 3
        if (
            is_ending
            or not right[0][0].islower()
            or left[0][-1].isdecimal()
            or (tail and head in _FUNCTION_WORDS)
        ):
            return "-"
        if self._counts[last + head]:
            return ""
        # "state-of-the" and "art", but "well-under" and "stood".
        is_phrase = lead and last in _FUNCTION_WORDS and not is_word(last + head)
        return "-" if is_phrase or is_compound(last, head) or self._is_compound(lead, last, second) else ""

    def end_of_line(self, word: str, following: str) -> tuple[str, str]:
        """Return the last word of a line as it is in running text, and the gap after it."""
        first = word[:-1]
        if not _LINE_END_HYPHEN.search(word) or not following[:1].isalnum():
            is_joined = _LINE_END_DASH.search(word) and following[:1].isalnum()
            return word, "" if is_joined or (word.endswith("-") and _ADDRESS.search(word)) else " "
        if _ADDRESS.search(word):
            # In DOIs, hyphens between letters are line breaks; those between digits are part of them.
            is_hyphenated = "doi.org/10." in word and first[-1].isalpha() and following[0].isalpha()
            return first if is_hyphenated else word, ""
        if following.lower() in _LINKING and not is_word(
            re.sub(r".*[\W_]", "", first.lower()) + following.lower()
        ):
            return word, " "
        return first + self.joint(first, following), ""

    def join_lines(self, texts: Iterable[str]) -> str:
        """Join the texts of lines, such as those of a heading."""
        joined = ""
        for text in texts:
            start, _, last = joined.rpartition(" ")
            word, gap = self.end_of_line(last, text) if last else ("", "")
            joined = f"{start} {word}{gap}{text}" if start else f"{word}{gap}{text}"
        return joined

    def _is_compound(self, lead: Sequence[str], last: str, second: str) -> bool:
        """Return True if both halves are words of the document; `lead` are earlier parts: "end-to-"."""
        if second in lead:
            return True
        if not self._counts[second] or len(second) < 3:
            return False
        if last in _FIRST_HALVES:
            return True
        return self._counts[last] > 0 and (bool(lead) or (len(last) > 2 and last not in _FUNCTION_WORDS))


@dataclass(frozen=True, slots=True)
class Style:
    """The typography of running text: type size and leading in points, and font.

    `font` is "" if none prevails.
    """

    size: float
    leading: float
    font: str = ""

    @classmethod
    def of(cls, lines: Sequence[Line]) -> "Style":
        sizes: Counter[float] = Counter()
        for line in lines:
            sizes[round(line.size * 2) / 2] += len(line.text)
        size = max(1.0, sizes.most_common(1)[0][0]) if sizes else 10.0
        gaps: Counter[float] = Counter()
        for before, after in pairwise(lines):
            gap = after.baseline - before.baseline
            if before.column == after.column and 0.8 * size < gap < 2.6 * size and abs(after.size - size) < 1:
                gaps[round(gap * 2) / 2] += 1
        fonts = Counter(line.font for line in lines if line.font)
        font, count = fonts.most_common(1)[0] if fonts else ("", 0)
        font = font if count > 0.4 * len(lines) else ""
        return cls(size, gaps.most_common(1)[0][0] if gaps else 1.2 * size, font)


def paragraph(lines: Sequence[Line], vocabulary: Vocabulary, kind: PassageKind = "body") -> Paragraph:
    """Join lines to a paragraph; each sentence gets one box per line."""
    return Paragraph(tuple(_pieces(_joined(lines, vocabulary))), kind)


class _Joined(NamedTuple):
    """A text with the start, end, (page, line) and typography of each word."""

    text: str
    starts: Sequence[int]
    ends: Sequence[int]
    on: Sequence[tuple[int, int]]
    words: Sequence[Word]


def _joined(lines: Sequence[Line], vocabulary: Vocabulary) -> _Joined:
    parts: list[str] = []
    starts: list[int] = []
    ends: list[int] = []
    length = 0
    for line, below in zip_longest(lines, lines[1:]):
        following = below.words[0].text if below else None
        for index, word in enumerate(line.words, 1):
            after = line.words[index].text if index < len(line.words) else following
            text, gap = without_note(word), " "
            if after is None:
                text += "-" if word.hyphenated else ""
            elif word.hyphenated or index == len(line.words):
                text, gap = vocabulary.end_of_line(text + "-" if word.hyphenated else text, after)
            elif word.raised and after in _CLOSING and line.words[index].left - word.right < 0.15 * line.size:
                gap = ""
            parts += text, gap
            starts.append(length)
            ends.append(length + len(text))
            length += len(text) + len(gap)
    on = [(line.page, number) for number, line in enumerate(lines) for _ in line.words]
    return _Joined("".join(parts), starts, ends, on, [word for line in lines for word in line.words])


def without_note(word: Word) -> str:
    """Return the text of a word without footnote mark; other superscripts stay."""
    text, mark = word.text[: len(word.text) - word.raised], word.text[len(word.text) - word.raised :]
    return text if _NOTE_MARK.fullmatch(mark) and _BEFORE_NOTE.search(text) else word.marked or word.text


def printed_text(line: Line) -> str:
    """Return the text of a line without footnote marks, with superscripts."""
    return " ".join(map(without_note, line.words)) + ("-" if line.words[-1].hyphenated else "")


def _pieces(joined: _Joined) -> Iterable[Piece]:
    for start, end in sentence_spans(joined.text):
        if sentence := joined.text[start:end].strip():
            yield Piece(sentence, tuple(_boxes(joined, start, end)))


def _boxes(joined: _Joined, start: int, end: int) -> Iterable[Box]:
    within = range(bisect_right(joined.ends, start), bisect_left(joined.starts, end))
    for (page, _), group in groupby(within, key=joined.on.__getitem__):
        places = list(group)
        words = joined.words[places[0] : places[-1] + 1]
        _, lefts, tops, rights, bottoms, _, sizes, *_ = zip(*words, strict=True)
        left = min((_edge(joined, places[0], start, lefts[0]), *lefts[1:]))
        right = max((_edge(joined, places[-1], end, rights[-1]), *rights[:-1]))
        # Superscripts and subscripts would make the boxes of neighbouring lines overlap.
        full = 0.8 * max(sizes)
        is_full = [size >= full for size in sizes]
        top, bottom = min(compress(tops, is_full)), max(compress(bottoms, is_full))
        yield Box(page, round(left, 2), round(top, 2), round(right - left, 2), round(bottom - top, 2))


def _edge(joined: _Joined, place: int, offset: int, edge: float) -> float:
    """Return the position of an offset within a word, in points, else `edge`."""
    start, end, word = joined.starts[place], joined.ends[place], joined.words[place]
    if not start < offset < end:
        return edge
    return word.left + (offset - start) / (end - start) * (word.right - word.left)


def split_paragraphs(lines: Sequence[Line], style: Style) -> list[list[Line]]:
    """Group lines of running text into paragraphs, across columns and pages."""
    groups: list[list[Line]] = []
    lefts: dict[int, Counter[int]] = {}
    for line in lines:
        lefts.setdefault(line.column, Counter())[round(line.begin)] += 1
    # Per column, where most of its lines begin.
    margins: dict[int, float] = {
        column: min(counts, key=lambda x: (-counts[x], x)) for column, counts in lefts.items()
    }
    for line in lines:
        if groups and not _begins_paragraph(groups[-1], line, style, margins):
            groups[-1].append(line)
        else:
            groups.append([line])
    return groups


def _begins_paragraph(group: list[Line], line: Line, style: Style, margins: dict[int, float]) -> bool:
    last = group[-1]
    ended = _TERMINAL.search(last.text) is not None
    indent = line.begin - margins[line.column]
    if line.column != last.column:
        return _begins_column(last, line, ended, 0.6 * style.size < indent < 5 * style.size)
    if abs(line.size - last.size) > 0.14 * style.size:
        return ended or not line.text[0].islower()
    gap = line.baseline - last.baseline
    if gap > 1.4 * max(style.leading * line.size / style.size, 1.1 * line.size):
        return ended or not line.text[0].islower() or gap > 4 * style.leading
    return _turns(group, line, ended, style)


def _begins_column(last: Line, line: Line, ended: bool, indented: bool) -> bool:
    # Text that goes back to an earlier column of the page is a new paragraph.
    if line.page == last.page and line.end < last.begin:
        return True
    if not ended:
        return False
    short = last.end < last.column_end - 0.2 * (last.column_right - last.column_left)
    return (indented or short or LIST_MARK.match(line.text) is not None) and not line.text[0].islower()


def _turns(group: list[Line], line: Line, ended: bool, style: Style) -> bool:
    """Return True if indentation, a list mark or a short previous line begin a paragraph."""
    last = group[-1]
    marked = LIST_MARK.match(group[0].text) is not None
    if LIST_MARK.match(line.text) and (ended or marked):
        return True
    if _is_displayed(last, style) and line.text[0].isupper() and not _is_displayed(line, style):
        return True
    shift = line.begin - last.begin
    if shift > 0.6 * style.size and not (marked and len(group) == 1):
        return shift < 8 * style.size and (ended or line.text[0].isupper())
    if shift < -0.6 * style.size and len(group) > 1:
        return ended
    short = last.end < last.column_end - 0.2 * (last.column_right - last.column_left)
    return short and ended and not line.text[0].islower()


def _is_displayed(line: Line, style: Style) -> bool:
    """Return True for a displayed equation."""
    left, right = line.left - line.column_left, line.column_right - line.right
    return " = " in line.text and left > 0.6 * style.size and abs(left - right) < 0.4 * style.size
