"""Admission of comparisons: checks of the request, and the texts of its papers."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from assistant.bounds import LONGEST_DESCRIPTION
from assistant.comparing.protocol import SourceText
from assistant.comparing.questions import tidy_questions
from assistant.comparing.records import (
    DESCRIPTION,
    Ablation,
    ComparisonError,
    ComparisonOptions,
    ComparisonRequest,
    PaperOrder,
    TextKind,
)
from assistant.records import LabelledPaper
from corpus.encoders.base import Encoder
from corpus.records import Paper, Passage, Sentence, passage_id
from corpus.sentences import sentence_spans
from corpus.store.corpus import Corpus
from corpus.text import storable, words

FEWEST_PAPERS, MOST_PAPERS = 2, 30
_NO_YEAR = 9999
# The most of each, n_s, n_v and n_c of Algorithm 1; the least is one.
MOST_SAMPLES, MOST_VOTES, MOST_KEPT = 5, 9, 5
NO_MODEL = (
    "Without a model the summary is made in one pass: there are no samples, no votes and no parts to leave "
    "out. Leave these settings away, or choose a model."
)
_NAMES = {
    "samples": ("samples", MOST_SAMPLES),
    "votes": ("votes", MOST_VOTES),
    "keep": ("summaries to keep", MOST_KEPT),
}


@dataclass(frozen=True, slots=True)
class Admitted:
    """An admitted request, its papers in the given order, and remarks for the reader."""

    request: ComparisonRequest
    papers: tuple[Paper, ...]
    remarks: tuple[str, ...]


def admit_comparison(request: ComparisonRequest, corpus: Corpus) -> Admitted:
    """Return the cleaned request with its papers; raises ComparisonError if it cannot be taken."""
    about = " ".join(storable(request.about).split())
    _check_description(about)
    for field, (name, most) in _NAMES.items():
        value = getattr(request.options, field)
        if not 1 <= value <= most:
            raise ComparisonError(f"The number of {name} must be from 1 to {most}, not {value}.")
    questions = tidy_questions(request.questions)
    identifiers = tuple(dict.fromkeys(request.papers))
    papers = corpus.papers_by_id(identifiers)
    _check_papers(identifiers, papers)
    remarks = tuple(map(named_twice, (paper for paper in papers if request.papers.count(paper.id) > 1)))
    without = tuple(dict.fromkeys(request.options.without))
    options = replace(request.options, without=without)
    tidied = replace(request, about=about, papers=identifiers, options=options, questions=questions)
    return Admitted(tidied, papers, remarks)


def named_twice(paper: Paper) -> str:
    return f"“{paper.title}” was named more than once; it is compared once."


def _check_description(about: str) -> None:
    if not words(about):
        raise ComparisonError(
            "The description is empty. Say in a few words or sentences what the papers are compared for: "
            "your topic, your question or your abstract."
        )
    if len(about) > LONGEST_DESCRIPTION:
        raise ComparisonError(
            f"The description has {len(about):,} characters; {LONGEST_DESCRIPTION:,} can be taken. Shorten "
            "it, for example to an abstract."
        )


def check_applicable(part: Ablation, options: ComparisonOptions, *, reflects: bool) -> None:
    """Raise ComparisonError if leaving out this part would not change the comparison."""
    if not reflects:
        raise ComparisonError(
            f"Leaving out {part} is not applicable. Without a model the summary is made in one pass, which "
            "has no such part. Choose a model."
        )
    if part == "reflection" and options.samples == 1:
        raise ComparisonError(
            "Leaving out reflection is not applicable: of one sample a round has one candidate, so there is "
            "nothing to vote on. Take two samples or more."
        )


def check_single_pass(options: ComparisonOptions) -> None:
    """Raise ComparisonError for options of samples, votes or ablations without a model."""
    usual = ComparisonOptions()
    if any(getattr(options, name) != getattr(usual, name) for name in (*_NAMES, "without")):
        raise ComparisonError(NO_MODEL)


def _check_papers(wanted: Sequence[str], found: Sequence[Paper]) -> None:
    held = {paper.id for paper in found}
    if missing := [identifier for identifier in wanted if identifier not in held]:
        raise ComparisonError(f"The corpus has no paper {missing[0]!r}.")
    if len(wanted) < FEWEST_PAPERS:
        named = "No paper was" if not wanted else "Only one paper was"
        raise ComparisonError(f"{named} named; a comparison needs at least {FEWEST_PAPERS}.")
    if len(wanted) > MOST_PAPERS:
        raise ComparisonError(
            f"{len(wanted)} papers were named; at most {MOST_PAPERS} can be compared at once. Choose those "
            "that matter most, or compare them in parts."
        )


def effective(options: ComparisonOptions) -> ComparisonOptions:
    """Return the options with ablations applied: without reflection, one sample is written and kept."""
    return replace(options, samples=1, votes=0, keep=1) if leaves_out(options, "reflection") else options


def leaves_out(options: ComparisonOptions, part: Ablation) -> bool:
    return part in options.without


def read_description(about: str) -> SourceText:
    """Return the description of the proposed work as a source of key elements."""
    paper = Paper(id="", collection_id="", title="", authors=(), year=None, venue="", abstract=about)
    sentences = tuple(Sentence(start, end) for start, end in sentence_spans(about))
    passage = Passage("", "", "", 0, "abstract", (), about, sentences)
    return SourceText("description", LabelledPaper(DESCRIPTION, paper, (passage,)))


def read_papers(corpus: Corpus, papers: Sequence[Paper]) -> tuple[SourceText, ...]:
    """Return the papers with all their passages, labelled from 1 in the given order."""
    sources = []
    for label, paper in enumerate(papers, start=1):
        passages = corpus.passages(paper.id)
        sources.append(SourceText(_kind(paper, passages), LabelledPaper(label, paper, passages)))
    return tuple(sources)


def in_order(
    papers: Sequence[Paper], order: PaperOrder, about: str, corpus: Corpus, encoder: Encoder
) -> tuple[Paper, ...]:
    """Return the papers in the order of the comparison; ties stay as given.

    By year, the oldest comes first and those without one last; by similarity, the most similar one first.
    """
    if order == "year":
        return tuple(sorted(papers, key=lambda paper: paper.year or _NO_YEAR))
    if order == "similarity":
        likeness = _likeness(papers, about, corpus, encoder)
        return tuple(sorted(papers, key=lambda paper: -likeness[paper.id]))
    return tuple(papers)


def _likeness(papers: Sequence[Paper], about: str, corpus: Corpus, encoder: Encoder) -> dict[str, float]:
    query = encoder.encode_query(about)
    vectors = corpus.vectors([passage_id(paper.id, 0) for paper in papers])
    return {
        paper.id: float(np.dot(query, vectors[passage_id(paper.id, 0)]))
        if passage_id(paper.id, 0) in vectors
        else -1.0
        for paper in papers
    }


def _kind(paper: Paper, passages: Sequence[Passage]) -> TextKind:
    if any(passage.kind == "body" for passage in passages):
        return "full text"
    return "abstract" if paper.abstract.strip() else "title"
