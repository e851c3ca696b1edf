"""Gold sections: related work as its authors wrote it, with the references and the work that cites them.

They are those of NudtRwG-Citation where its file is at hand, else sections of CORWA with references from a
copy of the ACL Anthology. The rows of `gold_sections.jsonl` hold places and ids, no text;
docs/measurements/notes/2026-11-28-comparative-summaries.md tells how references and citing papers were found.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, Field

from assistant.bounds import LONGEST_DESCRIPTION
from corpus.records import Author, Collection, Paper, Section, paper_id
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
    """A section by its id, the places of its sentences on the references, and the references.

    A sentence is "paragraph:sentence", from 0; a paper "volume/paper"; `topics` are telling words of the
    papers' titles. `target` is the citing paper, "" where it is not known.
    """

    section: str
    sentences: tuple[str, ...]
    papers: tuple[str, ...]
    topics: tuple[str, ...]
    target: str = ""


class _Paragraph(BaseModel, frozen=True, extra="ignore"):
    sentences: tuple[str, ...]


class _Section(BaseModel, frozen=True, extra="ignore"):
    """A paper's section on related work, as CORWA has it."""

    s2_paper_id: str = Field(min_length=1)
    paragraphs: tuple[_Paragraph, ...]


class _Reference(BaseModel, frozen=True, extra="forbid"):
    """A reference of a set; `authors` are "First Last", `text` is its body, "" for the abstract alone."""

    title: str = Field(min_length=1)
    authors: tuple[str, ...]
    year: int
    abstract: str = Field(min_length=1)
    text: str = ""


class _Set(BaseModel, frozen=True, extra="forbid"):
    """A set of NudtRwG-Citation: a target paper without its related work, that section, and the references.

    The sets are published as folders of PDFs; this is the form in which they are read here.
    """

    title: str = Field(min_length=1)
    text: str = Field(min_length=1)
    related_work: str = Field(min_length=1)
    references: tuple[_Reference, ...] = Field(min_length=1)


@dataclass(frozen=True, slots=True)
class GoldSection:
    """The text of a section on the references that we hold, in the order of their first citation.

    `about` describes the citing work, by what `described_by` says. `key` names the section's files. `texts`
    are bodies of references by paper id; other references are known by their abstracts.
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
    """Read the gold sections that CORWA has, with their papers from a copy of the Anthology.

    A citing paper is described by its abstract, and by its introduction where one of `corpora` has it.
    Raises EvaluationError, also where there is no section, SourceError and CorpusError.
    """
    held = {
        row.s2_paper_id: row for row in read_json_lines(corwa, _Section, "Each line is a section of CORWA.")
    }
    rows = [row for row in read_json_lines(GOLD, _Row, "Each line is a gold section.") if row.section in held]
    if not rows:
        raise EvaluationError(f"{corwa} has none of the gold sections of {GOLD}.")
    named = (paper for row in rows for paper in (*row.papers, row.target) if paper)
    volumes = dict.fromkeys(paper.partition("/")[0] for paper in named)
    entries = (
        entry for volume in open_volumes(list(volumes), anthology, anthology) for entry in volume.papers()
    )
    papers = {entry.paper.id: entry.paper for entry in entries}
    return tuple(_gold_section(row, held[row.section], papers, corpora) for row in rows)


def _gold_section(
    row: _Row, section: _Section, papers: Mapping[str, Paper], corpora: Sequence[Corpus]
) -> GoldSection:
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
    described_by, about = _describe(row, papers, corpora)
    return GoldSection(
        short_hash(row.section),
        tuple(
            replace(paper, id=paper_id(COLLECTION.id, paper.id), collection_id=COLLECTION.id, bibtex="")
            for paper in found
        ),
        about,
        "\n\n".join(" ".join(sentences) for sentences in paragraphs.values()),
        described_by,
    )


def _opens(section: Section) -> bool:
    return INTRODUCTION in section.heading.lower()


def _describe(row: _Row, papers: Mapping[str, Paper], corpora: Sequence[Corpus]) -> tuple[DescribedBy, str]:
    target = papers.get(row.target.partition("/")[2])
    if target is None or not target.abstract:
        words = f"A work related to these topics: {', '.join(row.topics)}."
        return TITLE_WORDS, words
    sections = (
        [part.text for part in corpus.passages(target.id) if part.section and _opens(part.section[0])]
        for corpus in corpora
    )
    if introduction := "\n\n".join(next(filter(None, sections), [])):
        about = _description(target.title, f"{target.abstract}\n\n{introduction}")
        return "abstract and introduction", about
    return "abstract", _description(target.title, target.abstract)


def _description(title: str, text: str) -> str:
    """Return a title and a text, cut to the longest description that a comparison takes."""
    whole = " ".join(f"{title}. {text}".split())
    cut = whole[:LONGEST_DESCRIPTION]
    return whole if cut == whole else cut.rpartition(" ")[0]
