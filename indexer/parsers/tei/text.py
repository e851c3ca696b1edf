"""The text, sentences and boxes of elements of a TEI file.

Expects tags without namespaces and a tree without comments (see `indexer.parsers.tei.document`).
"""

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from corpus.markup.raised import lower_text, raise_text
from corpus.records import Box
from corpus.sentences import sentence_spans
from corpus.text import INVISIBLE
from indexer.parsers.document import Piece
from indexer.parsers.tei.boxes import Element, boxes_of
from indexer.parsers.tei.citations import entries_of

# Control characters, non-characters and invisible marks, which would break words for search.
_INVISIBLE = re.compile(
    f"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f\ud800-\udfff\ufdd0-\ufdef\ufffe\uffff{INVISIBLE}]"
)
_REFERENCE = re.compile(r"&#(?:x([0-9a-fA-F]{1,8})|([0-9]{1,8}));")

# `strip_invisible` removes these from the source, so they can mark where references begin and end, and
# encode which entries they cite: eleven characters for the digits and a separator.
_OPEN, _CLOSE = "\x02", "\x03"
_DIGITS = "\ufdd0\ufdd1\ufdd2\ufdd3\ufdd4\ufdd5\ufdd6\ufdd7\ufdd8\ufdd9\ufdda"
_TO_DIGITS = str.maketrans("0123456789 ", _DIGITS)
_FROM_DIGITS = str.maketrans(_DIGITS, "0123456789 ")
_MARK = re.compile(f"({_OPEN}[{_DIGITS}]*|{_CLOSE})")
# Where a space is missing after or before a reference, shown as |.
_REFERENCE_SPACING = re.compile(
    f"(?<=[,;]\x03)(?=(?:\x02[{_DIGITS}]*)?\\w)"  # "[1,|2]"
    "|(?<=[\\])]\x03)(?=\\w)"  # "[22]|and"
    "|(?<=\\w\x03)(?![a-z]\\b)(?=\\w)"  # "Table 7|shows", but not the panel in "Figure 2|a"
    f"|(?<=\\w\\w)(?=\x02[{_DIGITS}]*[\\[(\\w])"  # "machine|[16]", but not "Fig. S|1"
)
# Some publishers' running head, within a sentence: "Article https://doi.org/10.1038/..."
_RUNNING_HEAD = re.compile(
    "(?:^|(?<=\\s))Article\\s+\x02?https://doi\\.org/10\\.\\d{4,9}/[^\\s\x02\x03]+\x03?(?=\\s|$)"
)
_LABEL_SPACING = " ,;–-"
_APART = frozenset({"note", "figure", "table", "graphic"})
_SHIFTS = {
    rend: shift
    for names, shift in (("superscript super sup", raise_text), ("subscript sub", lower_text))
    for rend in names.split()
}
_BLOCKS = frozenset("s p div head label formula list item lb row cell quote".split())

_STOP = re.compile(r"[.!?:…。！？][\"'”’»)\]}]*(?:\s*\[[\d,; –-]+\])?$")
_WORDS = re.compile(r"[^\W\d_]{2,}")
_LONGEST_TAIL = 120
_SOUP_TOKENS = 40
_SOUP_SHARE = 0.8


def strip_invisible(source: str) -> str:
    """Remove control characters and non-characters, also those written as numeric references."""
    return _INVISIBLE.sub("", _REFERENCE.sub(_keep_visible, source))


def _keep_visible(match: re.Match[str]) -> str:
    code = int(match[1], 16) if match[1] else int(match[2])
    return match[0] if code <= 0x10FFFF and not _INVISIBLE.match(chr(code)) else ""


def text_of(element: Element) -> str:
    """Return the text of `element` on one line, without the notes and figures in it."""
    return _read_line("".join(_flow(element))).text


@dataclass(frozen=True, slots=True)
class _Citation:
    """The characters from `start` to `end` cite entry `entry` of the bibliography."""

    start: int
    end: int
    entry: int


@dataclass(frozen=True, slots=True)
class _Line:
    """Text on one line and its citations."""

    text: str
    citations: tuple[_Citation, ...] = ()

    @property
    def references(self) -> tuple[int, ...]:
        return _unique(citation.entry for citation in self.citations)

    def sentences(self) -> tuple[Piece, ...]:
        if not self.text:
            return ()
        labels = {citation.start: citation.end for citation in self.citations if self._is_number(citation)}
        edges = [self._behind_labels(start, labels) if start else 0 for start, _ in sentence_spans(self.text)]
        cited: list[list[int]] = [[] for _ in edges]
        for citation in self.citations:
            cited[bisect_right(edges, citation.start) - 1].append(citation.entry)
        spans = zip(edges, [*edges[1:], len(self.text)], cited, strict=True)
        return tuple(
            Piece(part, references=_unique(entries))
            for start, end, entries in spans
            if (part := self.text[start:end].strip())
        )

    def _is_number(self, citation: _Citation) -> bool:
        return self.text[citation.start : citation.end].strip(_LABEL_SPACING).isdecimal()

    def _behind_labels(self, start: int, labels: Mapping[int, int]) -> int:
        """Return the start of a sentence after citation numbers of the one before: "it. 7, 8 We"."""
        place = start
        while place in labels:
            place = labels[place]
            while self.text[place : place + 1] in _LABEL_SPACING and place < len(self.text):
                place += 1
        return place if self.text[place : place + 1].isupper() else start


def _flow(element: Element) -> Iterator[str]:
    yield element.text or ""
    for child in element:
        yield from _flow_child(child)
        yield child.tail or ""


def _flow_child(child: Element) -> Iterator[str]:
    if child.tag in _APART:
        yield " "
    elif child.tag == "ref":
        entries = "".join(f"{entry} " for entry in entries_of(child))
        yield from (_OPEN, entries.translate(_TO_DIGITS), *_flow(child), _CLOSE)
    elif child.tag == "hi" and child.get("rend") in _SHIFTS and not len(child):
        yield _SHIFTS[child.get("rend", "")](child.text or "")
    elif child.tag in _BLOCKS:
        yield from (" ", *_flow(child), " ")
    else:
        yield from _flow(child)


def _read_line(flow: str) -> _Line:
    """Resolve the marks of references in a text and normalise white space."""
    parts: list[str] = []
    citations: list[_Citation] = []
    started: list[tuple[int, int]] = []
    length, opened = 0, ""
    for part in _MARK.split(_REFERENCE_SPACING.sub(" ", _RUNNING_HEAD.sub(" ", flow))):
        if part.startswith(_OPEN):
            opened += part[1:].translate(_FROM_DIGITS)
        elif part == _CLOSE:
            # A reference without text belongs to the text before it.
            started.extend((max(0, length - 1), int(entry)) for entry in opened.split())
            citations.extend(_Citation(start, length, entry) for start, entry in started)
            started, opened = [], ""
        elif text := _collapse(part, after_space=not parts or parts[-1].endswith(" ")):
            if text != " ":
                start = length + text.startswith(" ")
                started.extend((start, int(entry)) for entry in opened.split())
                opened = ""
            parts.append(text)
            length += len(text)
    return _Line("".join(parts).rstrip(), tuple(citations))


def _collapse(text: str, *, after_space: bool) -> str:
    """Replace runs of white space by one space, and drop a leading one after a space."""
    collapsed = re.sub(r"\s+", " ", text)
    return collapsed.removeprefix(" ") if after_space else collapsed


def _unique(entries: Iterable[int]) -> tuple[int, ...]:
    return tuple(dict.fromkeys(entries))


def pieces_of(element: Element) -> tuple[Piece, ...]:
    """Return the sentences of a paragraph, as GROBID marked them, else by splitting its text.

    Only sentences with coordinates of their own have boxes, as those of a paragraph would point at other
    lines. The single sentence of a paragraph has the paragraph's boxes.
    """
    marked = element.find(".//s") is not None
    pieces = _marked_sentences(element) if marked else _read_line("".join(_flow(element))).sentences()
    if len(pieces) == 1 and not pieces[0].boxes:
        return (replace(pieces[0], boxes=_block_boxes(element)),)
    return pieces


def _block_boxes(element: Element) -> tuple[Box, ...]:
    """Return the boxes of a paragraph and of its references, where GROBID's boxes have gaps."""
    boxes = boxes_of(element)
    if not boxes:
        return ()
    inner = (
        box for child in element.iter("ref", "formula") if child is not element for box in boxes_of(child)
    )
    return tuple(sorted((*boxes, *inner), key=lambda box: box.page))


def split(text: str) -> tuple[Piece, ...]:
    """Return the sentences of `text` without boxes."""
    return _Line(text).sentences()


def _marked_sentences(element: Element) -> tuple[Piece, ...]:
    pieces: list[Piece] = []
    for run in _runs(element):
        if isinstance(run, str):
            _add_loose(pieces, _read_line(run))
        elif (line := _read_line("".join(_flow(run)))).text:
            # GROBID also loses spaces between sentences within <s>; splitting restores them.
            text = " ".join(piece.text for piece in line.sentences())
            pieces.append(Piece(text, boxes_of(run), line.references))
    return _mend(pieces)


def _runs(element: Element) -> Iterator[str | Element]:
    """Yield the <s> of a paragraph, at any depth, and the text between them, in order."""
    loose: list[str] = []
    for part in _parts(element):
        if isinstance(part, str):
            loose.append(part)
        else:
            yield "".join(loose)
            loose = []
            yield part
    yield "".join(loose)


def _parts(element: Element) -> Iterator[str | Element]:
    yield element.text or ""
    for child in element:
        if child.tag == "s":
            yield child
        elif child.tag not in _APART and child.find(".//s") is not None:
            yield from (" ", *_parts(child), " ")
        else:
            yield from _flow_child(child)
        yield child.tail or ""


def _add_loose(pieces: list[Piece], line: _Line) -> None:
    """Add text outside <s>: citations and punctuation to the previous sentence, words as sentences."""
    text = line.text
    if pieces and not _WORDS.search(text):
        before = pieces[-1]
        space = " " if text[:1].isalnum() or text.startswith(("[", "(")) else ""
        references = _unique((*before.references, *line.references))
        pieces[-1] = Piece(f"{before.text}{space}{text}", before.boxes, references)
    else:
        pieces.extend(line.sentences())


def _mend(pieces: Iterable[Piece]) -> tuple[Piece, ...]:
    """Join sentences that GROBID cut at "et al." or "Fig."."""
    mended: list[Piece] = []
    for piece in pieces:
        if mended and (runs_on(mended[-1].text, piece.text) or _is_cut(mended[-1].text, piece.text)):
            mended[-1] = join(mended[-1], piece)
        else:
            mended.append(piece)
    return tuple(mended)


def runs_on(before: str, after: str) -> bool:
    """Return True if `before` has no final stop and `after` begins in lower case."""
    return after[:1].islower() and not _STOP.search(before)


def ends_with_stop(text: str) -> bool:
    """Return True if `text` ends with a sentence's punctuation or a colon."""
    return _STOP.search(text) is not None


def _is_cut(before: str, after: str) -> bool:
    tail = before[-_LONGEST_TAIL:]
    border = len(tail) + 1
    return tail.endswith(".") and all(start != border for start, _ in sentence_spans(f"{tail} {after}"))


def join(before: Piece, after: Piece) -> Piece:
    """Join two pieces to one sentence, without a space after a hyphen."""
    broken_word = before.text[-2:-1].isalpha() and before.text.endswith("-") and after.text[:1].islower()
    return Piece(
        f"{before.text}{'' if broken_word else ' '}{after.text}",
        before.boxes + after.boxes,
        _unique((*before.references, *after.references)),
    )


def has_words(text: str) -> bool:
    """Return True if a text has words, not only numbers and symbols."""
    return _WORDS.search(text) is not None


def is_glyph_soup(text: str) -> bool:
    """Return True for glyph debris, such as annotations that LaTeX leaves in figures."""
    tokens = text.split()
    return "l a t e x i t" in text or (
        len(tokens) > _SOUP_TOKENS and sum(len(token) == 1 for token in tokens) > _SOUP_SHARE * len(tokens)
    )
