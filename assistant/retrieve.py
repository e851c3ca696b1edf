"""From a search query to labelled evidence."""

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
TIMES_ALONE = 4  # as many passages of a paper that is asked about alone


def retrieve(
    corpus: Corpus, encoder: Encoder, rewrite: Rewrite, options: AskOptions
) -> tuple[PaperHits, ...]:
    """Return the best papers for a query, best first; of a paper asked about alone, more passages."""
    scope = options.scope
    is_alone = len(scope.papers) == 1
    most = (TIMES_ALONE * options.passages[0],) if is_alone else options.passages
    query = read_query(corpus, rewrite.searched_for, verbatim=is_verbatim(rewrite))
    found = search(corpus, encoder, query, scope, papers=options.papers, passages_per_paper=max(most))
    passages = chain(most, repeat(most[-1]))
    return tuple(replace(one, hits=one.hits[:kept]) for one, kept in zip(found, passages, strict=False))


def gather_evidence(corpus: Corpus, papers: tuple[PaperHits, ...], *, in_context: bool = False) -> Evidence:
    """Return the evidence of the papers found: labels by rank, passages in reading order.

    Each paper's abstract is among its passages: it says what the others only go on about. `in_context`: so is
    what stands beside a passage that says little alone.
    """
    near = corpus.passages_by_id(
        [identifier for found in papers for identifier in _ids_near(found, in_context=in_context)]
    )
    return Evidence(
        tuple(
            LabelledPaper(
                label,
                found.paper,
                _in_reading_order(found, [one for one in near if one.paper_id == found.paper.id]),
            )
            for label, found in enumerate(papers, start=1)
        )
    )


def _ids_near(found: PaperHits, *, in_context: bool) -> list[str]:
    """Return the ids that the abstract and what stands beside the passages found would have."""
    beside = {number for hit in found.hits for number in numbers_beside(hit.passage) if in_context}
    beside |= {hit.passage.number + step for hit in found.hits if hit.passage.table for step in _PARTS_BESIDE}
    numbers = {0, *beside} - {hit.passage.number for hit in found.hits}
    return [passage_id(found.paper.id, number) for number in sorted(numbers) if number >= 0]


def _is_part_of_found(passage: Passage, found: PaperHits) -> bool:
    """Return True for a part of a table of which another was found: the row asked for may be in either."""
    return passage.table is not None and any(
        hit.passage.table and hit.passage.caption == passage.caption for hit in found.hits
    )


def _in_reading_order(found: PaperHits, near: Sequence[Passage]) -> tuple[Passage, ...]:
    passages = {hit.passage.number: hit.passage for hit in found.hits}
    joining = [one for hit in found.hits for one in read_with(hit.passage, near)]
    joining += [one for one in near if one.number == 0 or _is_part_of_found(one, found)]
    passages |= {one.number: one for one in joining}
    return tuple(passages[number] for number in sorted(passages))
