"""Gold sections: what people wrote on references of which we hold title and abstract."""

import hashlib
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from corpus import records
from corpus.language import stem, stop_words
from corpus.records import Paper, paper_id
from corpus.text import words
from evaluation.input_files import EvaluationError
from evaluation.summaries.citation_style import NamedWork
from evaluation.summaries.corwa import TaggedParagraph, TaggedSection, read_sections
from evaluation.summaries.experiment.references import (
    PaperIndex,
    cited_works,
    index_papers,
    resolve_references,
    sentences,
)
from indexer.sources import SourcePaper
from indexer.sources.acl_anthology import all_volumes

FEWEST_REFERENCES, FEWEST_WORDS = 3, 40
TOPIC_WORDS = 8
COLLECTION = records.Collection(id="gold", title="References of gold sections", source="ACL Anthology")


@dataclass(frozen=True, slots=True)
class GoldSection:
    """What a section says of the references that we hold, in the order of their first citation.

    `about` stands for the description of the citing paper's work, which CORWA does not have: telling words
    of the references' titles. `key` names its files.
    """

    key: str
    papers: tuple[Paper, ...]
    about: str
    text: str

    @property
    def paper_ids(self) -> tuple[str, ...]:
        return tuple(paper.id for paper in self.papers)


@dataclass(frozen=True, slots=True)
class GoldPapers:
    """The references of gold sections as a collection, each once."""

    sections: Sequence[GoldSection]
    collection = COLLECTION

    def __len__(self) -> int:
        return len(self._papers)

    def papers(self) -> Iterator[SourcePaper]:
        for position, paper in enumerate(self._papers.values()):
            yield SourcePaper(paper.id, replace(paper, position=position))

    @property
    def _papers(self) -> dict[str, Paper]:
        return {paper.id: paper for section in self.sections for paper in section.papers}


def read_gold_sections(corwa: Path, anthology: Path) -> tuple[GoldSection, ...]:
    """Return the gold sections of CORWA over a copy of the Anthology.

    Raises EvaluationError, also where there is none, and SourceError.
    """
    sections = read_sections(corwa)
    every = (sentence for section in sections for sentence in sentences(section))
    wanted = {work for sentence in every for work in cited_works(sentence)}
    index = index_papers(_anthology_papers(anthology), wanted)
    gold = tuple(found for section in sections if (found := gold_section(section, index)))
    if not gold:
        raise EvaluationError(
            f"No section of {corwa} cites {FEWEST_REFERENCES} papers of {anthology} that have an abstract."
        )
    return gold


def gold_section(section: TaggedSection, index: PaperIndex) -> GoldSection | None:
    """Return what a section says of the references that we hold, None where it is too little."""
    resolved = resolve_references(section, index)
    held = {work: paper for work, paper in resolved.items() if paper.abstract.strip()}
    told = [_told(paragraph, held.keys()) for paragraph in section.paragraphs]
    text = "\n\n".join(" ".join(chosen) for chosen in told if chosen)
    cited = {work for chosen in told for sentence in chosen for work in cited_works(sentence)}
    papers = tuple(_in_collection(paper) for work, paper in held.items() if work in cited)
    if len(papers) < FEWEST_REFERENCES or len(words(text)) < FEWEST_WORDS:
        return None
    key = hashlib.sha256(section.s2_paper_id.encode()).hexdigest()[:12]
    return GoldSection(key, papers, _topic(papers, index), text)


def _told(paragraph: TaggedParagraph, held: Collection[NamedWork]) -> list[str]:
    """Return the sentences on references that we hold: half of what they cite, or more, is held.

    Those that go on summarising one of them, which papers leave without a citation, belong to it.
    """
    chosen = []
    goes_on = False
    for sentence, tag in zip(paragraph.sentences, paragraph.tags, strict=True):
        cited = cited_works(sentence)
        if cited:
            goes_on = 2 * sum(work in held for work in cited) >= len(cited)
        elif tag != "Single_summ":
            goes_on = False
        if goes_on:
            chosen.append(sentence)
    return chosen


def _topic(papers: Sequence[Paper], index: PaperIndex) -> str:
    """Return the words of the titles that tell most: rare ones, and those of several titles."""
    titles: Counter[str] = Counter()
    written: dict[str, str] = {}
    for paper in papers:
        stems = {stem(word): word for word in words(paper.title) if word not in stop_words()}
        titles.update(stems.keys())
        written = stems | written
    telling = sorted(titles, key=lambda term: (-titles[term] * index.rarity([term]), term))[:TOPIC_WORDS]
    return f"A work related to these topics: {', '.join(written[term] for term in telling)}."


def _in_collection(paper: Paper) -> Paper:
    return replace(paper, id=paper_id(COLLECTION.id, paper.id), collection_id=COLLECTION.id, bibtex="")


def _anthology_papers(folder: Path) -> Iterator[Paper]:
    volumes = all_volumes(folder, folder)
    for volume in volumes:
        yield from (entry.paper for entry in volume.papers() if not entry.problem)
