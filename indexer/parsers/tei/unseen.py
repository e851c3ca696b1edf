"""Removal of text that GROBID read from a PDF but that is invisible on its pages."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path

from corpus.pdf.file import PdfError
from corpus.pdf.pages import read_pages
from corpus.pdf.words import Word
from indexer.parsers.document import Document, DocumentSection, Paragraph
from indexer.parsers.identifiers import letters_of

MOST_PAGES = 1_000
# Word n-grams up to this length identify hidden sentences.
_LONGEST_RUN = 3

Run = tuple[str, ...]


def without_unseen(document: Document, pdf: Path) -> Document:
    """Remove the sentences of a document that are invisible in its PDF."""
    try:
        pages = list(islice(read_pages(pdf), MOST_PAGES))
    except PdfError as error:
        return replace(document, notes=(*document.notes, f"not searched for hidden text: {error}"))
    hidden = [page for page in pages if page.unseen]
    if not hidden:
        return document
    unseen = {run for page in hidden for run in _runs(_letters(page.unseen))}
    unseen -= {run for page in pages for run in _runs(_letters(page.words))}
    return replace(
        document,
        title="" if _is_unseen(document.title, unseen) else document.title,
        abstract=_seen(document.abstract, unseen),
        keywords=tuple(word for word in document.keywords if not _is_unseen(word, unseen)),
        sections=tuple(
            DocumentSection(section.path, _seen(section.paragraphs, unseen))
            for section in document.sections
            if not any(_is_unseen(part.title, unseen) for part in section.path)
        ),
        hidden_text=sum(len(word.text) for page in hidden for word in page.unseen),
        hidden_pages=tuple(page.number for page in hidden),
    )


def _seen(paragraphs: Iterable[Paragraph], unseen: set[Run]) -> tuple[Paragraph, ...]:
    visible = []
    for paragraph in paragraphs:
        sentences = tuple(piece for piece in paragraph.sentences if not _is_unseen(piece.text, unseen))
        # A table, whose sentences are its rows, is kept or dropped as a whole.
        if sentences and (paragraph.table is None or len(sentences) == len(paragraph.sentences)):
            visible.append(replace(paragraph, sentences=sentences))
    return tuple(visible)


def _is_unseen(text: str, unseen: set[Run]) -> bool:
    words = list(filter(None, map(letters_of, text.split())))
    length = min(len(words), _LONGEST_RUN)
    return any(len(run) == length and run in unseen for run in _runs(words))


def _letters(words: Iterable[Word]) -> list[str]:
    return list(filter(None, (letters_of(word.text) for word in words)))


def _runs(words: Sequence[str]) -> set[Run]:
    """Return all word n-grams up to _LONGEST_RUN."""
    return {
        tuple(words[start : start + length])
        for length in range(1, _LONGEST_RUN + 1)
        for start in range(len(words) - length + 1)
    }
