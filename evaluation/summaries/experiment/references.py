"""Which papers of the Anthology a section cites: found by author and year, decided by what is said."""

import math
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from corpus.language import terms_of
from corpus.records import Paper
from evaluation.summaries.citation_style import CITE, NamedWork, comparable_name, neutral, parse_work
from evaluation.summaries.corwa import TaggedSection

# How much of what is said must be what the paper is about, 0..2: where one paper fits the names, where
# several do, and by how much the best of these must lead.
ENOUGH_ALONE, ENOUGH, LEAD = 0.2, 0.5, 0.3

Stems = frozenset[str]


@dataclass(frozen=True, slots=True)
class PaperIndex:
    """Papers by the family name of their first author and the year, and in how many titles stems stand."""

    papers: Mapping[tuple[str, int], Sequence[Paper]]
    titles: Mapping[str, int]
    count: int

    def named(self, work: NamedWork) -> list[Paper]:
        """Return the papers that a citation may mean; "et al." stands for two authors or more."""
        papers = self.papers.get((work.authors[0], work.year), ())
        if work.has_more:
            return [paper for paper in papers if len(paper.authors) > len(work.authors) + 1]
        return [paper for paper in papers if _families(paper) == work.authors]

    def rarity(self, stems: Iterable[str]) -> float:
        return sum(math.log((self.count + 1) / (self.titles.get(stem, 0) + 1)) for stem in stems)

    def likeness(self, said: Stems, paper: Paper) -> float:
        """Return how much of a title is said, and how much of what is said the paper says, 0..2."""
        title = frozenset(terms_of(paper.title))
        text = title.union(terms_of(paper.abstract))
        return self._share(said & title, title) + self._share(said & text, said)

    def meant(self, work: NamedWork, said: Stems) -> Paper | None:
        """Return the paper that a citation means, None where that is not sure."""
        likeness = {paper.id: self.likeness(said, paper) for paper in self.named(work)}
        ranked = sorted(self.named(work), key=lambda paper: -likeness[paper.id])
        if not ranked:
            return None
        best, *others = (likeness[paper.id] for paper in ranked)
        is_sure = best >= ENOUGH and best - others[0] >= LEAD if others else best >= ENOUGH_ALONE
        return ranked[0] if is_sure else None

    def _share(self, part: Stems, whole: Stems) -> float:
        total = self.rarity(whole)
        return self.rarity(part) / total if total else 0.0


def index_papers(papers: Iterable[Paper], wanted: Collection[NamedWork]) -> PaperIndex:
    """Return an index of the papers that one of the works may be; the titles of all count for rarity."""
    keys = {(work.authors[0], work.year) for work in wanted}
    found: dict[tuple[str, int], list[Paper]] = defaultdict(list)
    titles: Counter[str] = Counter()
    count = 0
    for paper in papers:
        count += 1
        titles.update(set(terms_of(paper.title)))
        if paper.authors and (key := (_families(paper)[0], paper.year or 0)) in keys:
            found[key].append(paper)
    return PaperIndex(found, titles, count)


def resolve_references(section: TaggedSection, index: PaperIndex) -> dict[NamedWork, Paper]:
    """Return the papers that a section surely cites, in the order of their first citation.

    Of two works that come to the same paper one is another paper, so neither counts.
    """
    said: dict[NamedWork, set[str]] = defaultdict(set)
    for sentence in sentences(section):
        stems = terms_of(neutral(sentence).text.replace(CITE, " "))
        for work in cited_works(sentence):
            said[work].update(stems)
    meant = {work: index.meant(work, frozenset(stems)) for work, stems in said.items()}
    times = Counter(paper.id for paper in meant.values() if paper)
    return {work: paper for work, paper in meant.items() if paper and times[paper.id] == 1}


def cited_works(sentence: str) -> tuple[NamedWork, ...]:
    """Return the works that a sentence cites by author and year, each once, always in the same order."""
    parsed = (parse_work(work) for work in sorted(neutral(sentence).cited))
    return tuple(dict.fromkeys(work for work in parsed if work))


def sentences(section: TaggedSection) -> tuple[str, ...]:
    return tuple(sentence for paragraph in section.text for sentence in paragraph)


def _families(paper: Paper) -> tuple[str, ...]:
    return tuple(comparable_name(author.family) for author in paper.authors)
