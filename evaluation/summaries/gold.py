"""Reads gold sections: related-work sections with their references and a description of the citing work.

They come from a file of NudtRwG-Citation or, without one, from CORWA with references from a copy of the ACL
Anthology. `gold_sections.jsonl` has the places and ids of the latter, no text;
docs/measurements/notes/2026-11-28-comparative-summaries.md describes how they were chosen.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, Field

from assistant.bounds import LONGEST_DESCRIPTION
from corpus.records import Author, Collection, Paper, paper_id
from corpus.store.corpus import Corpus
from evaluation.homes import ListedPapers
from evaluation.input_files import DATA, EvaluationError, read_json_lines, short_hash
from indexer.sources.acl_anthology import open_volumes

GOLD = DATA / "gold_sections.jsonl"
COLLECTION = Collection(id="gold", title="References of gold sections", source="gold sections")
INTRODUCTION = "introduction"
# The text that describes the citing work to all systems (ChatCite's D).
DescribedBy = Literal[
    "whole text", "abstract and introduction", "abstract", "words of the references' titles"
]
TITLE_WORDS: DescribedBy = "words of the references' titles"
_SET_HINT = "Each line is a set of NudtRwG-Citation: title, text, related_work, references."


class _Row(BaseModel, frozen=True, extra="forbid"):
    """A section of CORWA, its sentences that cite the references, and these references.

    A sentence is written as "paragraph:sentence", counted from 0, and a paper as "volume/paper". `topics` has
    distinctive words of the papers' titles. `target` is the citing paper, "" if unknown.
    """

    section: str
    sentences: tuple[str, ...]
    papers: tuple[str, ...]
    topics: tuple[str, ...]
    target: str = ""


class _Paragraph(BaseModel, frozen=True, extra="ignore"):
    sentences: tuple[str, ...]


class _Section(BaseModel, frozen=True, extra="ignore"):
    """A paper's related-work section in CORWA's format."""

    s2_paper_id: str = Field(min_length=1)
    paragraphs: tuple[_Paragraph, ...]


class _Reference(BaseModel, frozen=True, extra="forbid"):
    """A reference of a set; `authors` are "First Last", `text` is the body, "" if unknown."""

    title: str = Field(min_length=1)
    authors: tuple[str, ...]
    year: int
    abstract: str = Field(min_length=1)
    text: str = ""


class _Set(BaseModel, frozen=True, extra="forbid"):
    """A set of NudtRwG-Citation: a paper without its related work, that section, and its references.

    The sets are published as folders of PDFs; this is our JSON form of them.
    """

    title: str = Field(min_length=1)
    text: str = Field(min_length=1)
    related_work: str = Field(min_length=1)
    references: tuple[_Reference, ...] = Field(min_length=1)


@dataclass(frozen=True, slots=True)
class GoldSection:
    """A section's text on the references that are available; `papers` are in the order of first citation.

    `about` describes the citing work; `described_by` names its source. `key` is used in names of files.
    `texts` has the bodies of references by paper id; of other references only the abstract is known.
    """

    key: str
    papers: tuple[Paper, ...]
    about: str
    text: str
    described_by: DescribedBy
    texts: Mapping[str, str] = field(default_factory=dict)


def gold_papers(sections: Sequence[GoldSection], folder: Path) -> ListedPapers:
    """Return all references of sections as a source."""
    papers = {paper.id: paper for section in sections for paper in section.papers}
    texts = {name: text for section in sections for name, text in section.texts.items()}
    return ListedPapers(COLLECTION, tuple(papers.values()), texts, folder)


def read_sets(path: Path) -> tuple[GoldSection, ...]:
    """Read NudtRwG-Citation from JSON lines; raises EvaluationError."""
    return tuple(map(_set_section, read_json_lines(path, _Set, _SET_HINT)))


def _set_section(row: _Set) -> GoldSection:
    papers, texts = [], {}
    for reference in row.references:
        names = (name.rpartition(" ") for name in reference.authors)
        paper = Paper(
            id=paper_id(COLLECTION.id, short_hash(f"{reference.title}\0{reference.year}")),
            collection_id=COLLECTION.id,
            title=reference.title,
            authors=tuple(Author(first, last) for first, _, last in names),
            year=reference.year,
            venue="",
            abstract=reference.abstract,
        )
        papers.append(paper)
        if reference.text:
            texts[paper.id] = reference.text
    about = _description(row.title, row.text)
    return GoldSection(short_hash(row.title), tuple(papers), about, row.related_work, "whole text", texts)


def read_corwa(corwa: Path, anthology: Path, corpora: Sequence[Corpus] = ()) -> tuple[GoldSection, ...]:
    """Read the gold sections of a file of CORWA, with their papers from a copy of the Anthology.

    A citing paper is described by its abstract and, if one of `corpora` has it, its introduction. Raises
    EvaluationError, also for a file without gold sections, SourceError and CorpusError.
    """
    sections = {
        row.s2_paper_id: row for row in read_json_lines(corwa, _Section, "Each line is a section of CORWA.")
    }
    gold_rows = read_json_lines(GOLD, _Row, "Each line is a gold section.")
    rows = [row for row in gold_rows if row.section in sections]
    if not rows:
        raise EvaluationError(f"{corwa} has none of the gold sections of {GOLD}.")
    named = (paper for row in rows for paper in (*row.papers, row.target) if paper)
    volumes = dict.fromkeys(paper.partition("/")[0] for paper in named)
    entries = (
        entry for volume in open_volumes(list(volumes), anthology, anthology) for entry in volume.papers()
    )
    papers = {entry.paper.id: entry.paper for entry in entries}
    return tuple(_gold_section(row, sections[row.section], papers, corpora) for row in rows)


def _gold_section(
    row: _Row, section: _Section, papers: Mapping[str, Paper], corpora: Sequence[Corpus]
) -> GoldSection:
    """Reduce a section to its sentences on the references; raises EvaluationError if one is missing."""
    paragraphs: dict[int, list[str]] = {}
    try:
        for place in row.sentences:
            paragraph, sentence = map(int, place.split(":"))
            text = section.paragraphs[paragraph].sentences[sentence]
            paragraphs.setdefault(paragraph, []).append(text)
        references = [papers[paper.partition("/")[2]] for paper in row.papers]
    except LookupError as error:
        raise EvaluationError(
            f"Section {row.section} of CORWA differs from the one chosen, or its paper {error} is missing."
        ) from None
    described_by, about = _describe(row, papers, corpora)
    return GoldSection(
        short_hash(row.section),
        tuple(
            replace(paper, id=paper_id(COLLECTION.id, paper.id), collection_id=COLLECTION.id, bibtex="")
            for paper in references
        ),
        about,
        "\n\n".join(" ".join(sentences) for sentences in paragraphs.values()),
        described_by,
    )


def _describe(row: _Row, papers: Mapping[str, Paper], corpora: Sequence[Corpus]) -> tuple[DescribedBy, str]:
    target = papers.get(row.target.partition("/")[2])
    if target is None or not target.abstract:
        words = f"A work related to these topics: {', '.join(row.topics)}."
        return TITLE_WORDS, words
    sections = (
        [
            passage.text
            for passage in corpus.passages(target.id)
            if passage.section and INTRODUCTION in passage.section[0].heading.lower()
        ]
        for corpus in corpora
    )
    if introduction := "\n\n".join(next(filter(None, sections), [])):
        about = _description(target.title, f"{target.abstract}\n\n{introduction}")
        return "abstract and introduction", about
    return "abstract", _description(target.title, target.abstract)


def _description(title: str, text: str) -> str:
    """Return a title and a text, cut to the longest description that a comparison accepts."""
    whole = " ".join(f"{title}. {text}".split())
    cut = whole[:LONGEST_DESCRIPTION]
    return whole if cut == whole else cut.rpartition(" ")[0]
