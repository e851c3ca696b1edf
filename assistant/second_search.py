"""A second search, for the part of a question that what was found leaves open."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from assistant.generators import Generator, cannot_answer, open_parts, papers_telling
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
        """Return the papers and the evidence of both searches, and the second search if one was made.

        Without an open part, or a query of its own for it, no second search is made.
        """
        part = self._open_part(rewrite, evidence)
        query = self.generator.query_for_part(part, rewrite, log) if part else ""
        if not query or query == rewrite.searched_for:
            return papers, evidence, None
        asked = Rewrite(rewrite.question, query, kind=rewrite.kind)
        found = retrieve(self.corpus, self.encoder, asked, options)
        to_answer = rewrite if part == rewrite.searched_for else asked
        telling = papers_telling(*self.gather(to_answer, found, options), self.encoder)
        added = join_papers(papers, [one for one in found if one.paper.id in telling], options.papers)
        joined = tuple(one.paper.id for one in added if one.paper.id in telling)
        second = SecondSearch(part, query, scored(found), joined)
        if not joined:
            return papers, evidence, second
        _, evidence = self.gather(rewrite, added, options)
        marked = (replace(one, found_for=part if one.paper.id in joined else "") for one in evidence.papers)
        return added, Evidence(tuple(marked)), second

    def _open_part(self, rewrite: Rewrite, evidence: Evidence) -> str:
        """Return the first part of a question that the evidence does not answer, "" where it answers all."""
        if not evidence.papers:
            return ""
        parts = open_parts(rewrite, evidence, self.encoder)
        if parts is not None:
            return parts[0] if parts else ""
        return rewrite.searched_for if cannot_answer(rewrite, evidence, self.encoder) else ""


def join_papers(
    first: tuple[PaperHits, ...], second: Sequence[PaperHits], wanted: int
) -> tuple[PaperHits, ...]:
    """Return the papers of two searches, `wanted` at most; those of the second take half the places at most.

    A paper that both found has the passages of both. The last of the first search make room.
    """
    again = {one.paper.id: one for one in second}
    merged = [_merged(one, again[one.paper.id]) if one.paper.id in again else one for one in first]
    known = {one.paper.id for one in first}
    new = [one for one in second if one.paper.id not in known][: wanted // 2]
    overflow = max(0, len(merged) + len(new) - wanted)
    left_out = [one.paper.id for one in reversed(merged) if one.paper.id not in again][:overflow]
    kept = [one for one in merged if one.paper.id not in left_out]
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
