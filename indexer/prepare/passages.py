"""Sections to passages: about 200 words of one section each, cut at sentences, never across a section.

Where passages overlap, a passage begins with the last sentences of the previous one in its section.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from math import ceil

from corpus.records import (
    USUAL_SIZE,
    Box,
    Paper,
    Passage,
    PassageKind,
    PassageSize,
    Section,
    Sentence,
    Table,
    passage_id,
)
from corpus.sentences import sentence_spans
from corpus.text import storable, words
from indexer.parsers.document import Document, Paragraph, Piece
from indexer.parsers.identifiers import letters_of

# A passage may exceed its even share of a section by this factor, so that no short remainder is left.
SLACK = 1.15


def make_passages(
    paper: Paper, document: Document | None, size: PassageSize = USUAL_SIZE
) -> tuple[Passage, ...]:
    """Return the passages of a paper: number 0 its abstract (without one, its title), then the full text."""
    passages = [_first_passage(paper, document)]
    for section in document.sections if document else ():
        for kind, paragraphs in groupby(section.paragraphs, key=lambda paragraph: paragraph.kind):
            for block in _blocks(kind, tuple(paragraphs), size):
                passages.append(_passage(paper, len(passages), kind, section.path, block))
    return tuple(passages)


def _first_passage(paper: Paper, document: Document | None) -> Passage:
    text = storable(paper.abstract or paper.title).strip()
    pieces = [piece for paragraph in (document.abstract if document else ()) for piece in paragraph.sentences]
    printed = {letters_of(piece.text): piece for piece in pieces}
    spans = ((start, end, printed.get(letters_of(text[start:end]))) for start, end in sentence_spans(text))
    sentences = tuple(
        Sentence(start, end, piece.boxes, piece.references) if piece else Sentence(start, end)
        for start, end, piece in spans
    )
    return _passage(paper, 0, "abstract", (), _Block(text, sentences))


@dataclass(frozen=True, slots=True)
class _Block:
    """The content of a passage, without its place in the paper."""

    text: str
    sentences: tuple[Sentence, ...]
    table: Table | None = None
    area: Box | None = None


def _passage(
    paper: Paper, number: int, kind: PassageKind, section: tuple[Section, ...], block: _Block
) -> Passage:
    pages = [box.page for sentence in block.sentences for box in sentence.boxes]
    return Passage(
        id=passage_id(paper.id, number),
        paper_id=paper.id,
        collection_id=paper.collection_id,
        number=number,
        kind=kind,
        section=section,
        text=block.text,
        sentences=block.sentences,
        page=min(pages) if pages else None,
        table=block.table,
        area=block.area,
    )


def _blocks(kind: PassageKind, paragraphs: Sequence[Paragraph], size: PassageSize) -> Iterator[_Block]:
    """Yield the content of each passage; every caption, note and table has its own passages."""
    if kind == "body":
        before: list[Piece] = []
        for block in _even_blocks(_flat(paragraphs), size.words - size.overlap):
            yield _joined([*_last(before, size.overlap), *block])
            before = block
        return
    for paragraph in paragraphs:
        if paragraph.table:
            yield from _table_blocks(paragraph, paragraph.table, size)
            continue
        for block in _even_blocks(_flat([paragraph]), size.words):
            yield replace(_joined(block), area=paragraph.area)


def _table_blocks(paragraph: Paragraph, table: Table, size: PassageSize) -> Iterator[_Block]:
    """Yield a table; a long one in parts, each with the caption and header."""
    heads, below = table.rows[: table.header], table.rows[table.header :]
    pieces = list(_stored(paragraph))
    caption, rows = pieces[: -len(below)], pieces[-len(below) :]
    caption = [replace(piece, text=f"{piece.text} ") for piece in caption[:-1]] + [
        replace(piece, text=f"{piece.text}\n") for piece in caption[-1:]
    ]
    start = 0
    # Every row repeats the column heads: twice the words of other passages.
    for block in _even_blocks([replace(row, text=f"{row.text}\n") for row in rows], 2 * size.words):
        part = below[start : start + len(block)]
        cells = tuple(tuple(" ".join(storable(cell).split()) for cell in row) for row in (*heads, *part))
        joined = _joined([*caption, *block])
        yield replace(joined, table=Table(cells, table.header), area=paragraph.area)
        start += len(block)


def _flat(paragraphs: Sequence[Paragraph]) -> list[Piece]:
    """Return all sentences with the white space after them: a blank line at the end of a paragraph."""
    flat = []
    for paragraph in paragraphs:
        pieces = [piece for piece in _stored(paragraph) if piece.text]
        for index, piece in enumerate(pieces):
            gap = "\n\n" if index == len(pieces) - 1 else " "
            flat.append(replace(piece, text=piece.text + gap))
    return flat


def _stored(paragraph: Paragraph) -> Iterator[Piece]:
    for piece in paragraph.sentences:
        yield replace(piece, text=" ".join(storable(piece.text).split()))


def _last(block: Sequence[Piece], most: int) -> list[Piece]:
    """Return the last sentences of a block with at most `most` words together, never the whole block."""
    last: list[Piece] = []
    for piece in reversed(block[1:]):
        most -= len(words(piece.text))
        if most < 0:
            break
        last.insert(0, piece)
    return last


def _even_blocks(sentences: Sequence[Piece], most: int) -> Iterator[list[Piece]]:
    """Cut sentences into runs of nearly the same number of words, at most about `most`."""
    counts = [len(words(sentence.text)) for sentence in sentences]
    share = sum(counts) / max(1, ceil(sum(counts) / (most * SLACK)))
    block: list[Piece] = []
    size = 0
    for sentence, count in zip(sentences, counts, strict=True):
        if block and size + count > share * SLACK:
            yield block
            block, size = [], 0
        block.append(sentence)
        size += count
    if block:
        yield block


def _joined(block: Sequence[Piece]) -> _Block:
    text = "".join(piece.text for piece in block).rstrip()
    sentences, start = [], 0
    for piece in block:
        end = min(start + len(piece.text), len(text))
        sentences.append(Sentence(start, end, piece.boxes, piece.references))
        start = end
    return _Block(text, tuple(sentences))
