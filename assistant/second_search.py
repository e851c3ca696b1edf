"""Second searches, for the parts of a question that what was found leaves open."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest

from assistant.generators.extractive.generator import papers_telling
from assistant.generators.protocol import MOST_SECOND_SEARCHES, Generator
from assistant.questions.plan import QuestionPlan, plan_of
from assistant.ranking.evidence import RankedEvidence
from assistant.records import AskOptions, CallLog, Evidence, Rewrite, ScoredPassage, SecondSearch
from assistant.retrieve import retrieve
from corpus.encoders.base import Encoder
from corpus.records import PaperHits
from corpus.store.corpus import Corpus

Gather = Callable[[QuestionPlan, tuple[PaperHits, ...], AskOptions], RankedEvidence]


@dataclass(frozen=True, slots=True)
class SecondSearcher:
    """Searches again for open parts of a question; `gather` returns the evidence of papers."""

    corpus: Corpus
    encoder: Encoder
    generator: Generator
    options: AskOptions
    gather: Gather

    def search(
        self, papers: tuple[PaperHits, ...], evidence: RankedEvidence, log: CallLog
    ) -> tuple[tuple[PaperHits, ...], RankedEvidence, tuple[SecondSearch, ...]]:
        """Return the papers and the evidence of all searches, and the second searches."""
        parts = (evidence.open_parts or ())[:MOST_SECOND_SEARCHES]
        made = [self._search_for(part, evidence.plan.rewrite, log) for part in parts]
        # The best of each part first.
        in_turn = (hits for best in zip_longest(*(telling for _, telling in made)) for hits in best if hits)
        added = join_papers(papers, tuple(in_turn), self.options.papers)
        kept = {hits.paper.id for hits in added}
        found_for = {
            second.part: [hits.paper.id for hits in telling if hits.paper.id in kept]
            for second, telling in made
        }
        searches = tuple(replace(second, joined=tuple(found_for[second.part])) for second, _ in made)
        if not any(found_for.values()):
            return papers, evidence, searches
        again = self.gather(evidence.plan, added, self.options)
        marked = (
            replace(paper, found_for=tuple(part for part in parts if paper.paper.id in found_for[part]))
            for paper in again.papers
        )
        return added, again.with_evidence(Evidence(tuple(marked))), searches

    def _search_for(self, part: str, rewrite: Rewrite, log: CallLog) -> tuple[SecondSearch, list[PaperHits]]:
        """Return the search for an open part, and the papers found by it that tell the part."""
        query = self.generator.query_for_part(part, rewrite, log)
        plan = plan_of(Rewrite(rewrite.question, query, kind=rewrite.kind))
        papers = retrieve(self.corpus, self.encoder, plan.rewrite, self.options)
        telling = papers_telling(self.gather(plan, papers, self.options))
        return SecondSearch(part, query, scored(papers)), [
            hits for hits in papers if hits.paper.id in telling
        ]


def join_papers(
    first: tuple[PaperHits, ...], second: Sequence[PaperHits], wanted: int
) -> tuple[PaperHits, ...]:
    """Return at most `wanted` papers of two searches, at most half of them from the second alone.

    A paper found by both has the passages of both. The last papers of the first search make room.
    """
    again: dict[str, PaperHits] = {}
    for hits in second:
        again[hits.paper.id] = _merged(again[hits.paper.id], hits) if hits.paper.id in again else hits
    merged = [_merged(hits, again[hits.paper.id]) if hits.paper.id in again else hits for hits in first]
    known = {hits.paper.id for hits in first}
    new = [hits for hits in again.values() if hits.paper.id not in known][: wanted // 2]
    overflow = max(0, len(merged) + len(new) - wanted)
    left_out = [hits.paper.id for hits in reversed(merged) if hits.paper.id not in again][:overflow]
    kept = [hits for hits in merged if hits.paper.id not in left_out]
    return (*kept, *new)[:wanted]


def _merged(first: PaperHits, second: PaperHits) -> PaperHits:
    known = {hit.passage.id for hit in first.hits}
    return replace(first, hits=(*first.hits, *(hit for hit in second.hits if hit.passage.id not in known)))


def scored(papers: Sequence[PaperHits]) -> tuple[ScoredPassage, ...]:
    """Return the hits in the form that trails keep."""
    return tuple(
        ScoredPassage(hit.passage.id, hit.score, hit.dense, hit.lexical, hit.sentence_score)
        for of_paper in papers
        for hit in of_paper.hits
    )
