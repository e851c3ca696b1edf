"""A second search, for the part of a question that what was found leaves open."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from assistant.generators import Generator, open_parts, papers_telling
from assistant.records import (
    AskOptions,
    CallLog,
    Evidence,
    Rewrite,
    ScoredPassage,
    SecondSearch,
)
from assistant.retrieve import retrieve
from corpus.encoders import Encoder
from corpus.records import PaperHits
from corpus.store import Corpus

Gather = Callable[[Rewrite, tuple[PaperHits, ...], AskOptions], tuple[Rewrite, Evidence]]


@dataclass(frozen=True, slots=True)
class SecondSearcher:
    """Searches again where a part of a question is open; `gather` returns the evidence of papers."""

    corpus: Corpus
    encoder: Encoder
    generator: Generator
    gather: Gather

    def search(
        self,
        rewrite: Rewrite,
        papers: tuple[PaperHits, ...],
        evidence: Evidence,
        options: AskOptions,
        log: CallLog,
    ) -> tuple[tuple[PaperHits, ...], Evidence, SecondSearch | None]:
        """Return the papers and the evidence of both searches, and the second search if one was made."""
        parts = open_parts(rewrite, evidence, self.encoder)
        if not parts:
            return papers, evidence, None
        part = parts[0]
        query = self.generator.query_for_part(part, rewrite, log)
        asked = Rewrite(rewrite.question, query, kind=rewrite.kind)
        found = retrieve(self.corpus, self.encoder, asked, options)
        telling = papers_telling(*self.gather(asked, found, options), self.encoder)
        added = join_papers(papers, [hits for hits in found if hits.paper.id in telling], options.papers)
        joined = tuple(hits.paper.id for hits in added if hits.paper.id in telling)
        second = SecondSearch(part, query, scored(found), joined)
        if not joined:
            return papers, evidence, second
        _, evidence = self.gather(rewrite, added, options)
        marked = (
            replace(paper, found_for=part if paper.paper.id in joined else "") for paper in evidence.papers
        )
        return added, Evidence(tuple(marked)), second


def join_papers(
    first: tuple[PaperHits, ...], second: Sequence[PaperHits], wanted: int
) -> tuple[PaperHits, ...]:
    """Return the papers of two searches, `wanted` at most; those of the second take half the places at most.

    A paper that both found has the passages of both. The last of the first search make room.
    """
    again = {hits.paper.id: hits for hits in second}
    merged = [_merged(hits, again[hits.paper.id]) if hits.paper.id in again else hits for hits in first]
    known = {hits.paper.id for hits in first}
    new = [hits for hits in second if hits.paper.id not in known][: wanted // 2]
    overflow = max(0, len(merged) + len(new) - wanted)
    left_out = [hits.paper.id for hits in reversed(merged) if hits.paper.id not in again][:overflow]
    kept = [hits for hits in merged if hits.paper.id not in left_out]
    return (*kept, *new)[:wanted]


def _merged(first: PaperHits, second: PaperHits) -> PaperHits:
    known = {hit.passage.id for hit in first.hits}
    return replace(first, hits=(*first.hits, *(hit for hit in second.hits if hit.passage.id not in known)))


def scored(papers: Sequence[PaperHits]) -> tuple[ScoredPassage, ...]:
    """Return the passages that were found as the trail keeps them."""
    return tuple(
        ScoredPassage(hit.passage.id, hit.score, hit.dense, hit.lexical, hit.sentence_score)
        for found in papers
        for hit in found.hits
    )
