"""From a search query to labelled evidence."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from itertools import chain, repeat

from assistant.questions.plan import is_verbatim
from assistant.reading.standing_alone import numbers_beside, read_with
from assistant.records import AskOptions, Evidence, LabelledPaper, Rewrite
from corpus.encoders.base import Encoder
from corpus.records import PaperHits, Passage, passage_id
from corpus.search.hybrid import search
from corpus.search.query import read_query
from corpus.store.corpus import Corpus

_PARTS_BESIDE = (-2, -1, 1, 2)
TIMES_ALONE = 4  # times as many passages of a paper that is asked about alone


def retrieve(
    corpus: Corpus, encoder: Encoder, rewrite: Rewrite, options: AskOptions
) -> tuple[PaperHits, ...]:
    """Return the best papers for a query, best first; of a single paper in scope, more passages."""
    scope = options.scope
    is_alone = len(scope.papers) == 1
    most = (TIMES_ALONE * options.passages[0],) if is_alone else options.passages
    query = read_query(corpus, rewrite.searched_for, verbatim=is_verbatim(rewrite))
    papers = search(corpus, encoder, query, scope, papers=options.papers, passages_per_paper=max(most))
    limits = chain(most, repeat(most[-1]))
    return tuple(
        replace(paper, hits=paper.hits[:limit]) for paper, limit in zip(papers, limits, strict=False)
    )


def gather_evidence(corpus: Corpus, papers: tuple[PaperHits, ...], *, in_context: bool = False) -> Evidence:
    """Return the evidence of the papers found: labels by rank, passages in reading order.

    Each paper's abstract is included, since the other passages presuppose it, and with `in_context` the
    neighbours of passages that say little alone.
    """
    near = corpus.passages_by_id(
        [identifier for hits in papers for identifier in _ids_near(hits, in_context=in_context)]
    )
    by_paper = defaultdict[str, list[Passage]](list)
    for passage in near:
        by_paper[passage.paper_id].append(passage)
    return Evidence(
        tuple(
            LabelledPaper(label, hits.paper, _with_context(hits, by_paper[hits.paper.id]))
            for label, hits in enumerate(papers, start=1)
        )
    )


def _ids_near(paper: PaperHits, *, in_context: bool) -> list[str]:
    """Return the ids of the abstract and of possible neighbours of a paper's hits."""
    passages = [hit.passage for hit in paper.hits]
    beside = {number for passage in passages for number in numbers_beside(passage) if in_context}
    beside |= {passage.number + step for passage in passages if passage.table for step in _PARTS_BESIDE}
    numbers = {0, *beside} - {passage.number for passage in passages}
    return [passage_id(paper.paper.id, number) for number in sorted(numbers) if number >= 0]


def _with_context(paper: PaperHits, near: Sequence[Passage]) -> tuple[Passage, ...]:
    """Return a paper's hits in reading order, with its abstract and those passages `near` that they need."""
    hits_found = [hit.passage for hit in paper.hits]
    # The row asked for may be in another part of a table that was found.
    captions = {passage.caption for passage in hits_found if passage.table}
    joining = [beside for passage in hits_found for beside in read_with(passage, near)]
    joining += [
        passage
        for passage in near
        if passage.number == 0 or (passage.table is not None and passage.caption in captions)
    ]
    passages = {passage.number: passage for passage in (*hits_found, *joining)}
    return tuple(passages[number] for number in sorted(passages))
