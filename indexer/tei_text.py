"""The text, the sentences and the boxes of elements of a TEI file, as GROBID writes them.

Expects tags without namespaces and a tree without comments (see `indexer.tei`).
"""

import math
import re
from collections.abc import Iterable, Iterator

from lxml import etree

from corpus.records import Box
from corpus.sentences import sentence_spans
from indexer.document import ParseError, Piece

Element = etree._Element

# Control characters, non-characters and marks that no reader sees but that break words for every search.
_INVISIBLE = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f\u00ad\u200b\u2060\ud800-\udfff\ufdd0-\ufdef\ufeff\ufffe\uffff]"
)
_REFERENCE = re.compile(r"&#(?:x([0-9a-fA-F]{1,8})|([0-9]{1,8}));")

# `strip_invisible` has removed these two from the source, so they can mark where references begin and end.
_OPEN, _CLOSE = "\x02", "\x03"
_REFERENCE_SPACING = re.compile(
    "(?<=[,;])\x03(?=\x02?\\w)"  # "[1,|2]"
    "|(?<=[\\])])\x03(?=\\w)"  # "[22]|and"
    "|(?<=\\w)\x03(?![a-z]\\b)(?=\\w)"  # "Table 7|shows", but not the panel in "Figure 2|a"
    "|(?<=\\w\\w)\x02(?=[\\[(\\w])"  # "machine|[16]", but not "Fig. S|1"
)
# The head of every page of some publishers, in the middle of a sentence: "Article https://doi.org/10.1038/..."
_RUNNING_HEAD = re.compile(
    "(?:^|(?<=\\s))Article\\s+\x02?https://doi\\.org/10\\.\\d{4,9}/[^\\s\x02\x03]+\x03?(?=\\s|$)"
)
_APART = frozenset({"note", "figure", "table", "graphic"})
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
    return _tidy("".join(_flow(element)))


def _flow(element: Element) -> Iterator[str]:
    yield element.text or ""
    for child in element:
        yield from _flow_child(child)
        yield child.tail or ""


def _flow_child(child: Element) -> Iterator[str]:
    if child.tag in _APART:
        yield " "
    elif child.tag == "ref":
        yield from (_OPEN, *_flow(child), _CLOSE)
    elif child.tag in _BLOCKS:
        yield from (" ", *_flow(child), " ")
    else:
        yield from _flow(child)


def _tidy(text: str) -> str:
    spaced = _REFERENCE_SPACING.sub(" ", _RUNNING_HEAD.sub(" ", text))
    return " ".join(spaced.replace(_OPEN, "").replace(_CLOSE, "").split())


def boxes_of(element: Element) -> tuple[Box, ...]:
    """Return the boxes of `element` itself; none for an empty @coords; raises ParseError for a broken one."""
    return tuple(_read_box(part) for part in element.get("coords", "").split(";") if part.strip())


def _read_box(text: str) -> Box:
    try:
        page, *numbers = text.split(",")
        x, y, width, height = map(float, numbers)
        box = Box(int(page), x, y, width, height)
    except ValueError:
        raise ParseError(f'the coordinates "{text[:60]}" are not page, x, y, width and height') from None
    if box.page < 1 or not all(math.isfinite(number) for number in (x, y, width, height)):
        raise ParseError(f'the coordinates "{text[:60]}" are not on a page')
    return box


def pieces_of(element: Element) -> tuple[Piece, ...]:
    """Return the sentences of a paragraph, those GROBID marked or else those the text shows.

    Only a sentence with coordinates of its own has boxes: those of its paragraph would point at lines that
    do not carry it. A paragraph of one sentence is that sentence.
    """
    pieces = _marked_sentences(element) if element.find(".//s") is not None else split(text_of(element))
    if len(pieces) == 1 and not pieces[0].boxes:
        return (Piece(pieces[0].text, _block_boxes(element)),)
    return pieces


def _block_boxes(element: Element) -> tuple[Box, ...]:
    """Return the boxes of a paragraph with those of its references, for which GROBID leaves gaps."""
    boxes = boxes_of(element)
    if not boxes:
        return ()
    inner = (
        box for child in element.iter("ref", "formula") if child is not element for box in boxes_of(child)
    )
    return tuple(sorted((*boxes, *inner), key=lambda box: box.page))


def split(text: str) -> tuple[Piece, ...]:
    """Return the sentences of `text` without boxes."""
    return tuple(Piece(part) for start, end in sentence_spans(text) if (part := text[start:end].strip()))


def _marked_sentences(element: Element) -> tuple[Piece, ...]:
    pieces: list[Piece] = []
    for run in _runs(element):
        if isinstance(run, str):
            _add_loose(pieces, _tidy(run))
        elif text := text_of(run):
            # GROBID loses spaces between sentences inside <s>, too; the split finds where.
            pieces.append(Piece(" ".join(piece.text for piece in split(text)), boxes_of(run)))
    return _mend(pieces)


def _runs(element: Element) -> Iterator[str | Element]:
    """Yield the <s> of a paragraph, at whatever depth, and the text between them, in order."""
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


def _add_loose(pieces: list[Piece], text: str) -> None:
    """Add text outside <s>: a mere citation or stop to the sentence before, words as sentences."""
    if not text:
        return
    if pieces and not _WORDS.search(text):
        space = " " if text[0].isalnum() or text[0] in "[(" else ""
        pieces[-1] = Piece(f"{pieces[-1].text}{space}{text}", pieces[-1].boxes)
    else:
        pieces.extend(split(text))


def _mend(pieces: Iterable[Piece]) -> tuple[Piece, ...]:
    """Join what GROBID cut inside a sentence, at "et al." or "Fig."."""
    mended: list[Piece] = []
    for piece in pieces:
        if mended and (runs_on(mended[-1].text, piece.text) or _is_cut(mended[-1].text, piece.text)):
            mended[-1] = join(mended[-1], piece)
        else:
            mended.append(piece)
    return tuple(mended)


def runs_on(before: str, after: str) -> bool:
    """Tell whether `after` continues the sentence of `before`: that has no stop and this no capital."""
    return after[:1].islower() and not _STOP.search(before)


def ends_with_stop(text: str) -> bool:
    """Tell whether `text` ends as a sentence does; a colon counts."""
    return _STOP.search(text) is not None


def _is_cut(before: str, after: str) -> bool:
    tail = before[-_LONGEST_TAIL:]
    border = len(tail) + 1
    return tail.endswith(".") and all(start != border for start, _ in sentence_spans(f"{tail} {after}"))


def join(before: Piece, after: Piece) -> Piece:
    """Return both pieces as one sentence; a hyphen at the break stays and takes no space."""
    broken_word = before.text[-2:-1].isalpha() and before.text.endswith("-") and after.text[:1].islower()
    return Piece(f"{before.text}{'' if broken_word else ' '}{after.text}", before.boxes + after.boxes)


def has_words(text: str) -> bool:
    """Tell text from bare numbers and symbols."""
    return _WORDS.search(text) is not None


def is_glyph_soup(text: str) -> bool:
    """Tell text that is no text: the encoded annotations that LaTeX leaves in figures and formulas."""
    tokens = text.split()
    if "l a t e x i t" in text:
        return True
    return len(tokens) > _SOUP_TOKENS and sum(len(token) == 1 for token in tokens) > _SOUP_SHARE * len(tokens)
