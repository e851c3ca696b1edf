"""From a search query to labelled evidence."""

from dataclasses import replace

from assistant.records import Evidence, LabelledPaper, Rewrite
from corpus.encoders import Encoder
from corpus.records import PaperHits, Passage, Scope, passage_id
from corpus.search import read_query, search
from corpus.store import Corpus

PASSAGES_PER_PAPER = 3
PASSAGES_OF_ONE_PAPER = 12


def as_read(corpus: Corpus, rewrite: Rewrite) -> Rewrite:
    """Return a question understood, with its query as a corpus spells it; the reader's own is left alone."""
    query = read_query(corpus, rewrite.search_query, verbatim=rewrite.edited)
    return replace(rewrite, read_as=query.text) if query.respelt else rewrite


def retrieve(
    corpus: Corpus, encoder: Encoder, rewrite: Rewrite, scope: Scope, papers: int
) -> tuple[PaperHits, ...]:
    """Return the best papers for a query, best first; of a paper asked about alone, more passages."""
    passages = PASSAGES_OF_ONE_PAPER if len(scope.papers) == 1 else PASSAGES_PER_PAPER
    query = read_query(corpus, rewrite.searched_for, verbatim=rewrite.edited)
    return search(corpus, encoder, query, scope, papers=papers, passages_per_paper=passages)


def gather_evidence(corpus: Corpus, papers: tuple[PaperHits, ...]) -> Evidence:
    """Return the evidence of the papers found: labels by rank, passages in reading order.

    Each paper's abstract is among its passages: it says what the others only go on about.
    """
    abstracts = {
        abstract.paper_id: abstract
        for abstract in corpus.passages_by_id([passage_id(found.paper.id, 0) for found in papers])
    }
    return Evidence(
        tuple(
            LabelledPaper(label, found.paper, _in_reading_order(found, abstracts.get(found.paper.id)))
            for label, found in enumerate(papers, start=1)
        )
    )


def _in_reading_order(found: PaperHits, abstract: Passage | None) -> tuple[Passage, ...]:
    passages = {hit.passage.number: hit.passage for hit in found.hits}
    if abstract:
        passages[abstract.number] = abstract
    return tuple(passages[number] for number in sorted(passages))
