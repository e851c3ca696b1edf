"""Events and documents that report a question's progress and answer to programs."""

from collections.abc import Iterable
from dataclasses import dataclass

from assistant import wording
from assistant.checking.overlap import CITATION_SCORES
from assistant.checking.scores.registry import ANSWERING_SCORES, CITING_SCORES
from assistant.records import (
    Answer,
    Answered,
    AnswerSentence,
    Checking,
    Citation,
    Event,
    Evidence,
    LabelledPaper,
    NearestPassage,
    Quick,
    Refusal,
    RefusalReason,
    RequestKind,
    Retrieved,
    Rewritten,
    SecondSearch,
    StepTime,
    Turn,
    Usage,
    Written,
)
from assistant.serving.documents import (
    PaperDocument,
    link_to,
    maybe_rounded,
    paper_document,
    rounded,
    rounded_scores,
)
from corpus.records import PaperHits, Passage, parse_passage_id


@dataclass(frozen=True, slots=True)
class CitationDocument:
    """A citation with the passage it leads to.

    `evidence` is the sentence that carries `claim` best, `sentence` its number in the passage. `support` is
    how likely it carries it, `overlap` how much of it it repeats, both 0..1. `found`: the check found the
    paper, the writer did not name it.
    """

    label: int
    claim: str
    paper: str
    passage: str
    sentence: int | None
    evidence: str
    text: str
    section: str
    page: int | None
    overlap: float | None
    support: float | None
    found: bool
    link: str


@dataclass(frozen=True, slots=True)
class SentenceDocument:
    """A sentence of an answer with what it cites; `needs_citation`: it makes a claim and cites nothing.

    `better` is another paper that supports it, where what it cites does not. `not_said` are phrases that
    nothing it cites says.
    """

    text: str
    labels: tuple[int, ...]
    unknown_labels: tuple[str, ...]
    needs_citation: bool
    support: float | None
    citations: tuple[CitationDocument, ...]
    better: CitationDocument | None
    not_said: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class LabelledPaperDocument:
    """A paper under the label that the answer cites it by."""

    label: int
    is_cited: bool
    paper: PaperDocument


@dataclass(frozen=True, slots=True)
class NearestDocument:
    """A passage that came nearest to a question that was refused."""

    paper: str
    title: str
    passage: str
    text: str
    score: float
    link: str


@dataclass(frozen=True, slots=True)
class RefusalDocument:
    """Why the corpus cannot answer, what came nearest, and what it covers."""

    reason: RefusalReason
    message: str
    nearest: tuple[NearestDocument, ...]
    covers: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class StepDocument:
    """The time that a step took."""

    step: str
    seconds: float


@dataclass(frozen=True, slots=True)
class CheckedTextDocument:
    """A text that was checked sentence by sentence.

    `problems` say what was wrong with what was written, `changes` what the check changed of it;
    `not_carried` are the sentences that it took out because no paper supports them.
    """

    text: str
    sentences: tuple[SentenceDocument, ...]
    papers: tuple[LabelledPaperDocument, ...]
    citation_recall: float | None
    citation_precision: float | None
    problems: tuple[str, ...]
    changes: tuple[str, ...]
    not_carried: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SecondSearchDocument:
    """A search for the part of a question that the first left open; `joined` are papers added to read."""

    part: str
    query: str
    joined: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class AnswerDocument:
    """An answer; with a `refusal` its text is empty. `relevance` is how likely it answers the question."""

    question: str
    asked: str
    search_query: str
    kind: RequestKind
    writer: str
    answer: CheckedTextDocument
    relevance: float | None
    refusal: RefusalDocument | None
    usage: Usage
    seconds: tuple[StepDocument, ...]
    second_searches: tuple[SecondSearchDocument, ...]


@dataclass(frozen=True, slots=True)
class RewrittenDocument:
    """The search query made from the question, and its kind."""

    search_query: str
    kind: RequestKind


@dataclass(frozen=True, slots=True)
class RetrievedPaper:
    """A paper that was found, and how many of its passages."""

    id: str
    title: str
    score: float
    passages: int


@dataclass(frozen=True, slots=True)
class RetrievedDocument:
    """The papers that were found, best first; told once more where there was a second search."""

    papers: tuple[RetrievedPaper, ...]
    second_searches: tuple[SecondSearchDocument, ...]


@dataclass(frozen=True, slots=True)
class QuickDocument:
    """The answer without a model, checked, to be read until that of a slow model comes."""

    answer: CheckedTextDocument


@dataclass(frozen=True, slots=True)
class WrittenDocument:
    """A piece of the draft; the pieces joined give its text, which is not checked yet."""

    text: str


@dataclass(frozen=True, slots=True)
class CheckingDocument:
    """The draft is complete, and its citations are being checked."""


EventDocument = (
    RewrittenDocument
    | RetrievedDocument
    | QuickDocument
    | WrittenDocument
    | CheckingDocument
    | AnswerDocument
)

EVENT_NAMES: dict[type[EventDocument], str] = {
    RewrittenDocument: "rewritten",
    RetrievedDocument: "retrieved",
    QuickDocument: "quick",
    WrittenDocument: "written",
    CheckingDocument: "checking",
    AnswerDocument: "answered",
}


def event_document(event: Event) -> EventDocument | None:
    """Convert an event for programs; None for one they are not told of, such as a piece without text."""
    match event:
        case Rewritten(rewrite):
            return RewrittenDocument(rewrite.searched_for, rewrite.kind)
        case Retrieved(papers, second):
            return RetrievedDocument(tuple(map(_retrieved, papers)), _searched_again(second))
        case Quick(turn):
            return QuickDocument(checked_text(turn.answer, turn.evidence))
        case Written(text):
            return WrittenDocument(text) if text else None
        case Checking():
            return CheckingDocument()
        case Answered(turn):
            return answer_document(turn)


def _retrieved(found: PaperHits) -> RetrievedPaper:
    return RetrievedPaper(found.paper.id, found.paper.title, rounded(found.score), len(found.hits))


def _searched_again(searches: Iterable[SecondSearch]) -> tuple[SecondSearchDocument, ...]:
    return tuple(SecondSearchDocument(second.part, second.query, second.joined) for second in searches)


def answer_document(turn: Turn) -> AnswerDocument:
    answer = turn.answer
    return AnswerDocument(
        question=turn.question,
        asked=turn.asked,
        search_query=turn.rewrite.searched_for,
        kind=turn.rewrite.kind,
        writer=turn.provenance.generator,
        answer=checked_text(answer, turn.evidence),
        refusal=_refusal(answer.refusal) if answer.refusal else None,
        usage=turn.usage,
        seconds=step_documents(turn.seconds),
        second_searches=_searched_again(turn.second_searches),
        **rounded_scores(answer, ANSWERING_SCORES),
    )


def step_documents(times: Iterable[StepTime]) -> tuple[StepDocument, ...]:
    return tuple(StepDocument(step.step, rounded(step.seconds)) for step in times)


def checked_text(answer: Answer, evidence: Evidence) -> CheckedTextDocument:
    """Return the text of an answer or a comparison with what carries each sentence of it."""
    passages = {passage.id: passage for paper in evidence.papers for passage in paper.passages}
    return CheckedTextDocument(
        text=answer.text,
        sentences=tuple(_sentence(answer, item, passages) for item in answer.sentences),
        papers=tuple(_labelled(item, answer) for item in evidence.papers),
        problems=tuple(wording.PROBLEMS[problem] for problem in answer.problems),
        changes=wording.changes(answer),
        not_carried=answer.not_carried,
        **rounded_scores(answer, CITING_SCORES),
    )


def _labelled(paper: LabelledPaper, answer: Answer) -> LabelledPaperDocument:
    return LabelledPaperDocument(paper.label, paper.label in answer.cited_labels, paper_document(paper.paper))


def _sentence(answer: Answer, sentence: AnswerSentence, passages: dict[str, Passage]) -> SentenceDocument:
    better = sentence.better
    return SentenceDocument(
        answer.text[sentence.start : sentence.end].strip(),
        sentence.labels,
        sentence.unknown_labels,
        sentence.needs_citation,
        maybe_rounded(sentence.support),
        tuple(_citation(citation, passages.get(citation.passage_id)) for citation in sentence.citations),
        _citation(better, passages.get(better.passage_id)) if better else None,
        sentence.not_said,
    )


def _citation(citation: Citation, passage: Passage | None) -> CitationDocument:
    paper, number = parse_passage_id(citation.passage_id)
    return CitationDocument(
        label=citation.label,
        claim=citation.claim,
        paper=paper,
        passage=citation.passage_id,
        sentence=citation.sentence,
        evidence=citation.evidence,
        text=passage.text if passage else "",
        section=passage.section_path if passage else "",
        page=passage.page if passage else None,
        found=citation.found,
        link=link_to(paper, number, citation.sentence),
        **rounded_scores(citation, CITATION_SCORES),
    )


def _refusal(refusal: Refusal) -> RefusalDocument:
    return RefusalDocument(
        refusal.reason, refusal.message, tuple(map(_nearest, refusal.nearest)), refusal.covers
    )


def _nearest(nearest: NearestPassage) -> NearestDocument:
    paper, number = parse_passage_id(nearest.passage_id)
    return NearestDocument(
        paper,
        nearest.title,
        nearest.passage_id,
        nearest.text,
        rounded(nearest.score),
        link_to(paper, number),
    )
