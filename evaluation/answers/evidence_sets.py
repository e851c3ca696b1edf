"""Rows of candidates made of data sets in which people marked the sentences that answer a question.

A text stands once among the candidates of a row, however often its paper has it.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import AliasChoices, BaseModel, Field, NonNegativeInt, model_validator

from evaluation.answers.attribution import evidence_sentences, groups, read_pairs
from evaluation.answers.evidence import EvidenceRow
from evaluation.answers.rewriting import rouge_f1
from evaluation.harness import Report, command, figures_table, grouped
from evaluation.input_files import EvaluationError, read_json_lines, read_numbered_json_lines, write_text

FEWEST_PARAGRAPHS = 3
ABSTRACTS = "papers_abstracts.jsonl"
_Sentences = Annotated[tuple[str, ...], Field(min_length=1)]
_Indices = Annotated[
    tuple[NonNegativeInt, ...], Field(validation_alias=AliasChoices("evidence_idx", "answer_sentence_idx"))
]


class _Paragraph(BaseModel, frozen=True):
    """Sentences, some of which are marked by their indices or by a label for each."""

    sentences: _Sentences
    indices: _Indices = ()
    labels: tuple[bool, ...] = ()

    @model_validator(mode="after")
    def _check_indices(self) -> Self:
        if self.indices and (last := max(self.indices)) >= len(self.sentences):
            raise ValueError(f"sentence {last} is marked, and there are {len(self.sentences)}")
        if self.labels and len(self.labels) != len(self.sentences):
            raise ValueError(f"there are {len(self.labels)} labels for {len(self.sentences)} sentences")
        return self

    @property
    def marked(self) -> set[str]:
        labelled = {text for text, label in zip(self.sentences, self.labels, strict=False) if label}
        return labelled | {self.sentences[index] for index in self.indices}

    @property
    def text(self) -> str:
        return " ".join(self.sentences)


class _OfPassage(_Paragraph, frozen=True):
    """A question with the sentences of its passage (CLAPNQ, QED, WikiQA)."""

    question: str = Field(min_length=1)
    title: str = ""
    unanswerable: bool = False


class PaperQuestion(BaseModel, frozen=True):
    """A question about a paper with its evidence (QASPER)."""

    question: str = Field(min_length=1)
    title: str = ""
    paper_id: str
    answers: tuple[str, ...] = ()
    evidence: tuple[_Paragraph, ...]


def read_qasper(data: Path) -> list[PaperQuestion]:
    """Read QASPER's questions; raises EvaluationError."""
    file = data / "questions" / "qasper_train.jsonl"
    return read_json_lines(file, PaperQuestion, "Each line has question, paper_id and evidence.")


class _OfDocument(BaseModel, frozen=True):
    question: str = Field(min_length=1)
    doc_id: str
    evidence_idx: tuple[NonNegativeInt, ...]


class _Document(BaseModel, frozen=True):
    doc_id: str
    title: str = ""
    sentences: _Sentences


def _row(
    name: str, question: str, title: str, group: str, texts: Iterable[str], marked: Collection[str]
) -> EvidenceRow:
    """Make a row of each text once; `marked` are the texts that answer."""
    candidates = tuple(dict.fromkeys(texts))
    relevant = tuple(index for index, text in enumerate(candidates) if text in marked)
    return EvidenceRow(
        set=name, group=group, question=question, title=title, candidates=candidates, relevant=relevant
    )


def _qasper(data: Path, *, name: str, by_sentence: bool) -> Iterator[EvidenceRow]:
    """Yield a row for each question; candidates are the evidence of all questions about its paper."""
    for paper, questions in grouped(read_qasper(data), "paper_id").items():
        parts = [part for asked in questions for part in asked.evidence]
        texts = [text for part in parts for text in (part.sentences if by_sentence else [part.text])]
        if by_sentence or len(set(texts)) >= FEWEST_PARAGRAPHS:
            for asked in questions:
                marks = (part.marked if by_sentence else {part.text} for part in asked.evidence)
                if marked := set[str]().union(*marks):
                    yield _row(name, asked.question, asked.title, paper, texts, marked)


def _passages(
    data: Path, *, file: str, name: str, marks: str = "evidence_idx", keeps_unmarked: bool = False
) -> Iterator[EvidenceRow]:
    """Yield a row for each question; answerable ones without marks are left out unless kept."""
    hint = f"Each line has question, sentences and {marks}."
    for asked in read_json_lines(data / "questions" / file, _OfPassage, hint):
        if asked.marked or asked.unanswerable or keeps_unmarked:
            group = asked.title if marks == "evidence_idx" else asked.question
            yield _row(name, asked.question, asked.title, group, asked.sentences, asked.marked)


def _documents(data: Path, *, stem: str, name: str) -> Iterator[EvidenceRow]:
    """Yield a row for each question about a document, all of whose sentences are candidates."""
    file, read = data / "questions" / f"{stem}_questions.jsonl", data / "questions" / f"{stem}_docs.jsonl"
    documents = read_json_lines(read, _Document, "Each line has doc_id and sentences.")
    held = {document.doc_id: document for document in documents}
    hint = "Each line has question, doc_id and evidence_idx."
    for number, asked in read_numbered_json_lines(file, _OfDocument, hint):
        try:
            document = held[asked.doc_id]
            marked = {document.sentences[index] for index in asked.evidence_idx}
        except LookupError:
            raise EvaluationError(
                f"{file}, line {number}: {read.name} has no such document or sentence."
            ) from None
        yield _row(name, asked.question, document.title, document.doc_id, document.sentences, marked)


def _attributionbench(data: Path) -> Iterator[EvidenceRow]:
    """Yield a row for each question with a supported claim.

    Nobody marked the sentences: the sentence of its references most like a supported claim counts.
    """
    pairs = [
        pair for pair in read_pairs(data / "attribution" / "pairs.jsonl") if pair.set == "AttributionBench"
    ]
    numbered = list(zip(pairs, groups(pairs), strict=True))
    for question, claims in grouped(numbered, lambda own: own[0].question).items():
        sentences = [(pair, evidence_sentences(pair.references)) for pair, _ in claims]
        marked = {
            max(own, key=partial(rouge_f1, pair.claim)) for pair, own in sentences if pair.label == 1 and own
        }
        if marked:
            texts = [text for _, own in sentences for text in own]
            yield _row("attributionbench", question, "", f"claims-{claims[0][1]}", texts, marked)


class WrittenPaper(BaseModel, frozen=True):
    """An abstract that questions were written for."""

    paper: str
    title: str
    year: int
    sentences: _Sentences


class _Judged(BaseModel, frozen=True):
    """A question with the numbers of the sentences that answer it, and of those that belong beside them."""

    standalone: str = Field(min_length=1, validation_alias=AliasChoices("standalone", "question"))
    answers: tuple[NonNegativeInt, ...]
    helps: tuple[NonNegativeInt, ...] = ()
    kind: Literal["fact", "how", "comparison", "overview", "definition", "list"] = "fact"


class WrittenQuestion(_Judged, frozen=True):
    """A question written by reading an abstract; one that it does not answer has no `answers`."""

    paper: str

    def row(self, abstract: WrittenPaper) -> EvidenceRow:
        """Return the question with the abstract's sentences; raises IndexError for one that is not there."""
        marked = {abstract.sentences[index] for index in self.answers}
        return _row("papers", self.standalone, abstract.title, self.paper, abstract.sentences, marked)

    def helping(self, abstract: WrittenPaper) -> set[str]:
        """Return the sentences that belong beside an answer without being one."""
        return {abstract.sentences[index] for index in self.helps}


class _PoolSentence(BaseModel, frozen=True):
    text: str = Field(min_length=1)
    title: str


class PooledQuestion(_Judged, frozen=True):
    """A question over several papers, with the sentences of the abstracts that a search found for it."""

    id: str
    pool: Annotated[tuple[_PoolSentence, ...], Field(min_length=1)]

    def row(self, *, with_helping: bool = True) -> EvidenceRow:
        """Return the question with its pool, a text once; raises IndexError for a sentence outside it."""
        marked = {self.pool[index].text for index in self.answers}
        left_out = set() if with_helping else {self.pool[index].text for index in self.helps} - marked
        titles = {found.text: found.title for found in self.pool if found.text not in left_out}
        row = _row("pools", self.standalone, "", self.id, titles, marked)
        return row.model_copy(update={"titles": tuple(titles.values())})


def read_abstracts(data: Path) -> list[WrittenPaper]:
    """Read the abstracts; raises EvaluationError, also for a paper that stands twice."""
    file = data / "questions" / ABSTRACTS
    papers = read_json_lines(file, WrittenPaper, "Each line has paper, title, year and sentences.")
    if len({paper.paper for paper in papers}) < len(papers):
        raise EvaluationError(f"{file} has a paper twice.")
    return papers


def written_questions(data: Path) -> Iterator[tuple[WrittenQuestion, WrittenPaper]]:
    """Yield the questions written for papers, each with its abstract.

    Raises EvaluationError for a paper or sentence that is not there, and for a paper that stands twice.
    """
    file = data / "questions" / "papers_questions.jsonl"
    held = {paper.paper: paper for paper in read_abstracts(data)}
    hint = "Each line has paper, standalone and answers."
    for number, asked in read_numbered_json_lines(file, WrittenQuestion, hint):
        abstract = held.get(asked.paper)
        if abstract is None or max((*asked.answers, *asked.helps), default=0) >= len(abstract.sentences):
            raise EvaluationError(f"{file}, line {number}: {ABSTRACTS} has no such paper or sentence.")
        yield asked, abstract


def pooled_questions(data: Path) -> Iterator[PooledQuestion]:
    """Yield the questions over several papers; raises EvaluationError for a sentence that is not there."""
    file = data / "questions" / "pools.jsonl"
    for number, asked in read_numbered_json_lines(
        file, PooledQuestion, "Each line has id, answers and pool."
    ):
        if max((*asked.answers, *asked.helps), default=0) >= len(asked.pool):
            raise EvaluationError(f"{file}, line {number}: the pool has no such sentence.")
        yield asked


# Every set by its name, with the function that makes its rows from the folder of data.
SETS: Mapping[str, Callable[[Path], Iterator[EvidenceRow]]] = {
    "qasper-sentences": partial(_qasper, name="qasper-sentences", by_sentence=True),
    "qasper-paragraphs": partial(_qasper, name="qasper-paragraphs", by_sentence=False),
    "clapnq": partial(_passages, file="clapnq.jsonl", name="clapnq"),
    "attributionbench": _attributionbench,
    "covidqa": partial(_documents, stem="covidqa_cord19", name="covidqa"),
    "evidence-inference": partial(_documents, stem="evidence_inference", name="evidence-inference"),
    "qed": partial(_passages, file="qed_dev.jsonl", name="qed"),
    "wikiqa": partial(
        _passages, file="wikiqa_grouped.jsonl", name="wikiqa", marks="labels", keeps_unmarked=True
    ),
}


@command("evidence-sets")
def evidence_sets(data: Path, out_file: Path, only_set: list[str] | None = None) -> Report:
    if unknown := sorted(set(only_set or ()) - SETS.keys()):
        raise EvaluationError(f"There is no set {unknown[0]!r}; there are {', '.join(SETS)}.")
    made = {name: list(make(data)) for name, make in SETS.items() if name in (only_set or SETS)}
    lines = (f"{row.model_dump_json()}\n" for rows in made.values() for row in rows)
    write_text(out_file, "".join(lines))
    counts = {
        name: {
            "rows": len(rows),
            "unanswerable": sum(not row.relevant for row in rows),
            "groups": len({row.group for row in rows}),
            "candidates": sum(len(row.candidates) for row in rows),
        }
        for name, rows in made.items()
    }
    columns = {key: key.capitalize() for key in ("rows", "unanswerable", "groups", "candidates")}
    return Report(counts, [figures_table("Set", counts, columns)])
