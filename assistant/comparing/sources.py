"""The texts of a comparison: the description and the papers, ordered and labelled."""

from collections.abc import Sequence

import numpy as np

from assistant.comparing.protocol import SourceText
from assistant.comparing.records import DESCRIPTION, PaperOrder, TextKind
from assistant.records import LabelledPaper
from corpus.encoder import Encoder
from corpus.records import Paper, Passage, Sentence, passage_id
from corpus.sentences import sentence_spans
from corpus.store import Corpus

_NO_YEAR = 9999


def read_description(about: str) -> SourceText:
    """Return the description of the proposed work as a text that key elements can be taken from."""
    paper = Paper(id="", collection_id="", title="", authors=(), year=None, venue="", abstract=about)
    sentences = tuple(Sentence(start, end) for start, end in sentence_spans(about))
    passage = Passage("", "", "", 0, "abstract", (), about, sentences)
    return SourceText("description", LabelledPaper(DESCRIPTION, paper, (passage,)))


def read_papers(corpus: Corpus, papers: Sequence[Paper]) -> tuple[SourceText, ...]:
    """Return the papers with all their passages, labelled from 1 in the given order."""
    sources = []
    for label, paper in enumerate(papers, start=1):
        passages = corpus.passages(paper.id)
        sources.append(SourceText(_kind(paper, passages), LabelledPaper(label, paper, passages)))
    return tuple(sources)


def in_order(
    papers: Sequence[Paper], order: PaperOrder, about: str, corpus: Corpus, encoder: Encoder
) -> tuple[Paper, ...]:
    """Return the papers in the order in which they are to be compared; what is equal stays as given.

    By year the oldest comes first and what has none last; by similarity the most like the description.
    """
    if order == "year":
        return tuple(sorted(papers, key=lambda paper: paper.year or _NO_YEAR))
    if order == "similarity":
        likeness = _likeness(papers, about, corpus, encoder)
        return tuple(sorted(papers, key=lambda paper: -likeness[paper.id]))
    return tuple(papers)


def _likeness(papers: Sequence[Paper], about: str, corpus: Corpus, encoder: Encoder) -> dict[str, float]:
    query = encoder.encode_query(about)
    vectors = corpus.vectors([passage_id(paper.id, 0) for paper in papers])
    return {
        paper.id: float(np.dot(query, vectors[passage_id(paper.id, 0)]))
        if passage_id(paper.id, 0) in vectors
        else -1.0
        for paper in papers
    }


def _kind(paper: Paper, passages: Sequence[Passage]) -> TextKind:
    if any(passage.kind == "body" for passage in passages):
        return "full text"
    return "abstract" if paper.abstract.strip() else "title"
