"""Papers as the enrichment sees them: a title, an abstract and sections, cut by the indexer's own code."""

from collections.abc import Mapping

from corpus.records import Paper, Passage, Section
from corpus.sentences import sentence_spans
from indexer.parsers.document import Document, DocumentSection, Paragraph, Piece
from indexer.prepare.passages import make_passages


def make(
    title: str, abstract: str = "", sections: Mapping[str, str] | None = None
) -> tuple[Paper, tuple[Passage, ...]]:
    """Return a paper and its passages; `sections` are texts by their headings."""
    paper = Paper("c/p", "c", title, (), 2020, "", abstract)
    document = Document(sections=tuple(_section(*section) for section in (sections or {}).items()))
    return paper, make_passages(paper, document)


def _section(heading: str, text: str) -> DocumentSection:
    pieces = tuple(Piece(text[start:end].strip()) for start, end in sentence_spans(text))
    return DocumentSection((Section("1", heading),), (Paragraph(pieces),))
