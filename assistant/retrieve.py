"""From a search query to labelled evidence."""

from assistant.records import Evidence, LabelledPaper, Rewrite
from corpus.encoder import Encoder
from corpus.records import PaperHits, Scope
from corpus.search import search
from corpus.store import Corpus

PASSAGES_PER_PAPER = 3
PASSAGES_OF_ONE_PAPER = 12


def retrieve(
    corpus: Corpus, encoder: Encoder, rewrite: Rewrite, scope: Scope, papers: int
) -> tuple[PaperHits, ...]:
    """Return the best papers for a query, best first; of a paper asked about alone, more passages."""
    passages = PASSAGES_OF_ONE_PAPER if len(scope.papers) == 1 else PASSAGES_PER_PAPER
    return search(corpus, encoder, rewrite.search_query, scope, papers=papers, passages_per_paper=passages)


def gather_evidence(papers: tuple[PaperHits, ...]) -> Evidence:
    """Return the evidence of the papers found: labels by rank, passages in reading order."""
    return Evidence(
        tuple(
            LabelledPaper(
                label,
                found.paper,
                tuple(sorted((hit.passage for hit in found.hits), key=lambda passage: passage.number)),
            )
            for label, found in enumerate(papers, start=1)
        )
    )
