"""A document that was read, made rows of a corpus."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from corpus import rows
from corpus.encoder import Encoder, Vectors
from corpus.indexed import indexed_text, sentence_texts
from explorer.documents.read import ReadDocument

TEXTS_AT_ONCE = 128


@dataclass(frozen=True, slots=True)
class DocumentRows:
    """The rows of one document for the tables of papers and of passages."""

    papers: pa.Table
    passages: pa.Table


def document_rows(found: ReadDocument, encoder: Encoder, told: Callable[[float], None]) -> DocumentRows:
    """Encode a document, whole passages and each sentence alone.

    `told` is called with the share that is done, 0..1, and may raise to end it.
    """
    indexed = [indexed_text(found.paper, passage) for passage in found.passages]
    alone = [sentence_texts(found.paper, passage) for passage in found.passages]
    texts = list(dict.fromkeys([*indexed, *(text for passage in alone for text in passage)]))
    encoded = np.concatenate(list(_encoded(texts, encoder, told)))
    row = {text: number for number, text in enumerate(texts)}
    return DocumentRows(
        rows.paper_rows([rows.PaperEntry(found.paper, found.references)]),
        rows.passage_rows(
            found.passages,
            {found.paper.id: found.paper},
            indexed,
            encoded[[row[text] for text in indexed]],
            [encoded[[row[text] for text in passage]] for passage in alone],
        ),
    )


def _encoded(texts: Sequence[str], encoder: Encoder, told: Callable[[float], None]) -> Iterator[Vectors]:
    """Yield vectors a few at a time: others ask questions meanwhile, and a removal need not wait."""
    for start in range(0, len(texts), TEXTS_AT_ONCE):
        told(start / len(texts))
        yield encoder.encode_passages(texts[start : start + TEXTS_AT_ONCE])
