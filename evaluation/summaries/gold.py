"""Gold sections: what authors wrote on references whose title and abstract we hold.

Sections of CORWA, with references from a copy of the ACL Anthology. The rows of `gold_sections.jsonl` hold
places and ids, no text; docs/measurements/notes/2026-11-28-comparative-summaries.md tells how the references
were found.
"""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

from pydantic import BaseModel, Field

from corpus.records import Collection, Paper, paper_id
from evaluation.input_files import DATA, EvaluationError, read_json_lines
from indexer.sources import SourcePaper
from indexer.sources.acl_anthology import open_volumes

GOLD = DATA / "gold_sections.jsonl"
COLLECTION = Collection(id="gold", title="References of gold sections", source="ACL Anthology")


class _Row(BaseModel, frozen=True, extra="forbid"):
    """A section by its id, the places of its sentences on the references, and the references.

    A sentence is "paragraph:sentence", from 0; a paper "volume/paper"; `topics` are telling words of the
    papers' titles.
    """

    section: str
    sentences: tuple[str, ...]
    papers: tuple[str, ...]
    topics: tuple[str, ...]


class _Paragraph(BaseModel, frozen=True, extra="ignore"):
    sentences: tuple[str, ...]


class _Section(BaseModel, frozen=True, extra="ignore"):
    """A paper's section on related work, as CORWA has it."""

    s2_paper_id: str = Field(min_length=1)
    paragraphs: tuple[_Paragraph, ...]


@dataclass(frozen=True, slots=True)
class GoldSection:
    """The text of a section on the references that we hold, in the order of their first citation.

    `about` stands in for a description of the citing work. `key` names its files.
    """

    key: str
    papers: tuple[Paper, ...]
    about: str
    text: str


@dataclass(frozen=True, slots=True)
class GoldPapers:
    """The references of gold sections as a source that the indexer can build, each paper once."""

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


# Each writer's table wants the same.
@lru_cache(maxsize=1)
def read_gold_sections(corwa: Path, anthology: Path) -> tuple[GoldSection, ...]:
    """Read the gold sections that CORWA has, with their papers from a copy of the Anthology.

    Raises EvaluationError, also where there is none, and SourceError.
    """
    held = {
        row.s2_paper_id: row for row in read_json_lines(corwa, _Section, "Each line is a section of CORWA.")
    }
    rows = [row for row in read_json_lines(GOLD, _Row, "Each line is a gold section.") if row.section in held]
    if not rows:
        raise EvaluationError(f"{corwa} has none of the gold sections of {GOLD}.")
    volumes = dict.fromkeys(paper.partition("/")[0] for row in rows for paper in row.papers)
    entries = (
        entry for volume in open_volumes(list(volumes), anthology, anthology) for entry in volume.papers()
    )
    papers = {entry.paper.id: entry.paper for entry in entries}
    return tuple(_gold_section(row, held[row.section], papers) for row in rows)


def _gold_section(row: _Row, section: _Section, papers: Mapping[str, Paper]) -> GoldSection:
    """Cut a section to its sentences on the references; raises EvaluationError where one is missing."""
    paragraphs: dict[int, list[str]] = {}
    try:
        for place in row.sentences:
            paragraph, sentence = map(int, place.split(":"))
            text = section.paragraphs[paragraph].sentences[sentence]
            paragraphs.setdefault(paragraph, []).append(text)
        found = [papers[paper.partition("/")[2]] for paper in row.papers]
    except LookupError as error:
        raise EvaluationError(
            f"Section {row.section} of CORWA or its paper {error} is another here."
        ) from None
    return GoldSection(
        hashlib.sha256(row.section.encode()).hexdigest()[:12],
        tuple(
            replace(paper, id=paper_id(COLLECTION.id, paper.id), collection_id=COLLECTION.id, bibtex="")
            for paper in found
        ),
        f"A work related to these topics: {', '.join(row.topics)}.",
        "\n\n".join(" ".join(sentences) for sentences in paragraphs.values()),
    )
