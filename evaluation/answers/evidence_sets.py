"""Makes rows of candidates from data sets in which people marked the sentences that answer a question.

A text is a candidate of a row once, even if its paper repeats it.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import AliasChoices, BaseModel, Field, NonNegativeInt, model_validator

from evaluation.answers.attribution import evidence_sentences, groups, read_pairs
from evaluation.answers.evidence import EvidenceRow
from evaluation.answers.rewriting import rouge_f1
from evaluation.harness import Report, command, figures_table, group_by
from evaluation.input_files import EvaluationError, read_json_lines, read_numbered_json_lines, write_text

FEWEST_PARAGRAPHS = 3
ABSTRACTS = "papers_abstracts.jsonl"
_Sentences = Annotated[tuple[str, ...], Field(min_length=1)]
_Indices = Annotated[
    tuple[NonNegativeInt, ...], Field(validation_alias=AliasChoices("evidence_idx", "answer_sentence_idx"))
]


class _Paragraph(BaseModel, frozen=True):
    """Sentences, some of them marked: by `indices`, or by `labels` with a value for each sentence."""

    sentences: _Sentences
    indices: _Indices = ()
    labels: tuple[bool, ...] = ()

    @model_validator(mode="after")
    def _check_indices(self) -> Self:
        if self.indices and (last := max(self.indices)) >= len(self.sentences):
            raise ValueError(f"sentence {last} is marked, but there are {len(self.sentences)}")
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


class _PassageQuestion(_Paragraph, frozen=True):
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


class _DocumentQuestion(BaseModel, frozen=True):
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
    """Make a row with each text once; the texts in `marked` are relevant."""
    candidates = tuple(dict.fromkeys(texts))
    relevant = tuple(index for index, text in enumerate(candidates) if text in marked)
    return EvidenceRow(
        set=name, group=group, question=question, title=title, candidates=candidates, relevant=relevant
    )


def _qasper(data: Path, *, name: str, by_sentence: bool) -> Iterator[EvidenceRow]:
    """Yield a row for each question; its candidates are the evidence of all questions on the same paper."""
    for paper, questions in group_by(read_qasper(data), "paper_id").items():
        parts = [part for question in questions for part in question.evidence]
        texts = [text for part in parts for text in (part.sentences if by_sentence else [part.text])]
        if by_sentence or len(set(texts)) >= FEWEST_PARAGRAPHS:
            for question in questions:
                marks = (part.marked if by_sentence else {part.text} for part in question.evidence)
                if marked := set[str]().union(*marks):
                    yield _row(name, question.question, question.title, paper, texts, marked)


def _passages(
    data: Path, *, file: str, name: str, marks: str = "evidence_idx", keeps_unmarked: bool = False
) -> Iterator[EvidenceRow]:
    """Yield a row for each question; an answerable one without marks is skipped unless `keeps_unmarked`."""
    hint = f"Each line has question, sentences and {marks}."
    for question in read_json_lines(data / "questions" / file, _PassageQuestion, hint):
        if question.marked or question.unanswerable or keeps_unmarked:
            group = question.title if marks == "evidence_idx" else question.question
            yield _row(name, question.question, question.title, group, question.sentences, question.marked)


def _documents(data: Path, *, stem: str, name: str) -> Iterator[EvidenceRow]:
    """Yield a row for each question about a document; all sentences of the document are candidates."""
    file = data / "questions" / f"{stem}_questions.jsonl"
    document_file = data / "questions" / f"{stem}_docs.jsonl"
    documents = {
        document.doc_id: document
        for document in read_json_lines(document_file, _Document, "Each line has doc_id and sentences.")
    }
    hint = "Each line has question, doc_id and evidence_idx."
    for number, question in read_numbered_json_lines(file, _DocumentQuestion, hint):
        try:
            document = documents[question.doc_id]
            marked = {document.sentences[index] for index in question.evidence_idx}
        except LookupError:
            raise EvaluationError(
                f"{file}, line {number}: {document_file.name} has no such document or sentence."
            ) from None
        yield _row(name, question.question, document.title, document.doc_id, document.sentences, marked)


def _attributionbench(data: Path) -> Iterator[EvidenceRow]:
    """Yield a row for each question with a supported claim.

    The data set marks no sentences: the sentence of the references most similar to a supported claim counts
    as relevant.
    """
    pairs = [
        pair for pair in read_pairs(data / "attribution" / "pairs.jsonl") if pair.set == "AttributionBench"
    ]
    numbered = list(zip(pairs, groups(pairs), strict=True))
    for question, claims in group_by(numbered, lambda pair_and_group: pair_and_group[0].question).items():
        by_pair = [(pair, evidence_sentences(pair.references)) for pair, _ in claims]
        marked = {
            max(sentences, key=partial(rouge_f1, pair.claim))
            for pair, sentences in by_pair
            if pair.label == 1 and sentences
        }
        if marked:
            texts = [text for _, sentences in by_pair for text in sentences]
            yield _row("attributionbench", question, "", f"claims-{claims[0][1]}", texts, marked)


class WrittenPaper(BaseModel, frozen=True):
    """An abstract that questions were written for."""

    paper: str
    title: str
    year: int
    sentences: _Sentences


class _Judged(BaseModel, frozen=True):
    """A question with the numbers of the sentences that answer it, and of those that add context to them."""

    standalone: str = Field(min_length=1, validation_alias=AliasChoices("standalone", "question"))
    answers: tuple[NonNegativeInt, ...]
    helps: tuple[NonNegativeInt, ...] = ()
    kind: Literal["fact", "how", "comparison", "overview", "definition", "list"] = "fact"


class WrittenQuestion(_Judged, frozen=True):
    """A question written for an abstract; `answers` is empty if the abstract does not answer it."""

    paper: str

    def row(self, abstract: WrittenPaper) -> EvidenceRow:
        """Make a row of the abstract's sentences; raises IndexError for the number of a missing sentence."""
        marked = {abstract.sentences[index] for index in self.answers}
        return _row("papers", self.standalone, abstract.title, self.paper, abstract.sentences, marked)

    def helping(self, abstract: WrittenPaper) -> set[str]:
        """Return the sentences that add context to an answer but do not answer the question themselves."""
        return {abstract.sentences[index] for index in self.helps}


class _PoolSentence(BaseModel, frozen=True):
    text: str = Field(min_length=1)
    title: str


class PooledQuestion(_Judged, frozen=True):
    """A question over several papers; `pool` has sentences of the abstracts that a search returned for it."""

    id: str
    pool: Annotated[tuple[_PoolSentence, ...], Field(min_length=1)]

    def row(self, *, with_helping: bool = True) -> EvidenceRow:
        """Make a row of the pool, each text once; raises IndexError for the number of a missing sentence."""
        marked = {self.pool[index].text for index in self.answers}
        left_out = set() if with_helping else {self.pool[index].text for index in self.helps} - marked
        titles = {sentence.text: sentence.title for sentence in self.pool if sentence.text not in left_out}
        row = _row("pools", self.standalone, "", self.id, titles, marked)
        return row.model_copy(update={"titles": tuple(titles.values())})


def read_abstracts(data: Path) -> list[WrittenPaper]:
    """Read the abstracts; raises EvaluationError, also if a paper is listed twice."""
    file = data / "questions" / ABSTRACTS
    papers = read_json_lines(file, WrittenPaper, "Each line has paper, title, year and sentences.")
    if len({paper.paper for paper in papers}) < len(papers):
        raise EvaluationError(f"{file} lists a paper twice.")
    return papers


def written_questions(data: Path) -> Iterator[tuple[WrittenQuestion, WrittenPaper]]:
    """Yield the questions written for papers, each with its abstract.

    Raises EvaluationError for a missing paper or sentence, and for a paper that is listed twice.
    """
    file = data / "questions" / "papers_questions.jsonl"
    abstracts = {paper.paper: paper for paper in read_abstracts(data)}
    hint = "Each line has paper, standalone and answers."
    for number, question in read_numbered_json_lines(file, WrittenQuestion, hint):
        abstract = abstracts.get(question.paper)
        if abstract is None or max((*question.answers, *question.helps), default=0) >= len(
            abstract.sentences
        ):
            raise EvaluationError(f"{file}, line {number}: {ABSTRACTS} has no such paper or sentence.")
        yield question, abstract


def pooled_questions(data: Path) -> Iterator[PooledQuestion]:
    """Yield the questions over several papers; raises EvaluationError for a missing sentence."""
    file = data / "questions" / "pools.jsonl"
    for number, question in read_numbered_json_lines(
        file, PooledQuestion, "Each line has id, answers and pool."
    ):
        if max((*question.answers, *question.helps), default=0) >= len(question.pool):
            raise EvaluationError(f"{file}, line {number}: the pool has no such sentence.")
        yield question


# The function that makes the rows of each set from the data folder.
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
    rows_by_set = {name: list(make(data)) for name, make in SETS.items() if name in (only_set or SETS)}
    lines = (f"{row.model_dump_json()}\n" for rows in rows_by_set.values() for row in rows)
    write_text(out_file, "".join(lines))
    counts = {
        name: {
            "rows": len(rows),
            "unanswerable": sum(not row.relevant for row in rows),
            "groups": len({row.group for row in rows}),
            "candidates": sum(len(row.candidates) for row in rows),
        }
        for name, rows in rows_by_set.items()
    }
    columns = {key: key.capitalize() for key in ("rows", "unanswerable", "groups", "candidates")}
    return Report(counts, [figures_table("Set", counts, columns)])
