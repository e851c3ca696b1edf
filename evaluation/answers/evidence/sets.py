"""Rows of candidates made of data sets in which people marked what answers a question.

A text stands once among the candidates of a row, however often its paper has it.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Annotated, Self

from pydantic import BaseModel, ConfigDict, Field, NonNegativeInt, model_validator

from evaluation.answers.attribution.pairs import LabelledPair, evidence_sentences, groups, read_pairs
from evaluation.answers.evidence.rows import EvidenceRow
from evaluation.answers.rewriting import rouge_f1
from evaluation.harness import Report, command, table
from evaluation.input_files import EvaluationError, read_json_lines, read_numbered_json_lines

FEWEST_PARAGRAPHS = 3
_Sentences = Annotated[tuple[str, ...], Field(min_length=1)]
_Indices = tuple[NonNegativeInt, ...]


class _Record(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")


class _Asked(_Record):
    question: str = Field(min_length=1)
    title: str = ""


class _Marked(_Record):
    """Sentences, some of which are marked by their indices."""

    sentences: _Sentences
    answer_sentence_idx: _Indices = Field((), alias="evidence_idx")
    model_config = ConfigDict(frozen=True, extra="ignore", populate_by_name=True)

    @model_validator(mode="after")
    def _mark_own_sentences(self) -> Self:
        for index in self.answer_sentence_idx:
            if index >= len(self.sentences):
                raise ValueError(f"sentence {index} is marked, and there are {len(self.sentences)}")
        return self

    @property
    def marked(self) -> set[str]:
        return {self.sentences[index] for index in self.answer_sentence_idx}


class _Paragraph(_Marked):
    @property
    def text(self) -> str:
        return " ".join(self.sentences)


class _OfPaper(_Asked):
    """A question about a paper with its evidence (QASPER)."""

    paper_id: str
    evidence: tuple[_Paragraph, ...]


class _OfPassage(_Asked, _Marked):
    """A question with the sentences of its passage (CLAPNQ, QED)."""

    answer_sentence_idx: _Indices = Field(alias="evidence_idx")
    unanswerable: bool = False


class _Labelled(_Asked):
    sentences: _Sentences
    labels: tuple[bool, ...]

    @model_validator(mode="after")
    def _label_own_sentences(self) -> Self:
        if len(self.labels) != len(self.sentences):
            raise ValueError(f"there are {len(self.labels)} labels for {len(self.sentences)} sentences")
        return self


class _Document(_Record):
    doc_id: str
    title: str = ""
    sentences: _Sentences


class _OfDocument(_Asked):
    doc_id: str
    evidence_idx: _Indices


def _row(name: str, asked: _Asked, group: str, texts: Iterable[str], marked: Collection[str]) -> EvidenceRow:
    """Return a row of each text once; `marked` are the texts that answer."""
    candidates = tuple(dict.fromkeys(texts))
    return EvidenceRow(
        set=name,
        group=group,
        question=asked.question,
        title=asked.title,
        candidates=candidates,
        relevant=tuple(index for index, text in enumerate(candidates) if text in marked),
    )


def _papers(data: Path) -> dict[str, list[_OfPaper]]:
    papers: dict[str, list[_OfPaper]] = {}
    file = data / "questions" / "qasper_train.jsonl"
    for asked in read_json_lines(file, _OfPaper, "Each line has question, paper_id and evidence."):
        papers.setdefault(asked.paper_id, []).append(asked)
    return papers


def _qasper_sentences(data: Path) -> Iterator[EvidenceRow]:
    for paper, questions in _papers(data).items():
        held = [text for asked in questions for part in asked.evidence for text in part.sentences]
        for asked in questions:
            if marked := {text for part in asked.evidence for text in part.marked}:
                yield _row("qasper-sentences", asked, paper, held, marked)


def _qasper_paragraphs(data: Path) -> Iterator[EvidenceRow]:
    for paper, questions in _papers(data).items():
        held = dict.fromkeys(part.text for asked in questions for part in asked.evidence)
        for asked in questions if len(held) >= FEWEST_PARAGRAPHS else ():
            if marked := {part.text for part in asked.evidence}:
                yield _row("qasper-paragraphs", asked, paper, held, marked)


def _passages(data: Path, *, file: str, name: str) -> Iterator[EvidenceRow]:
    """Yield a row for each question; answerable ones without marks are left out."""
    hint = "Each line has question, sentences and evidence_idx."
    for asked in read_json_lines(data / "questions" / file, _OfPassage, hint):
        if asked.marked or asked.unanswerable:
            yield _row(name, asked, asked.title, asked.sentences, asked.marked)


def _wikiqa(data: Path) -> Iterator[EvidenceRow]:
    hint = "Each line has question, sentences and labels."
    for asked in read_json_lines(data / "questions" / "wikiqa_grouped.jsonl", _Labelled, hint):
        marked = {text for text, label in zip(asked.sentences, asked.labels, strict=True) if label}
        yield _row("wikiqa", asked, asked.question, asked.sentences, marked)


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
        titled = asked.model_copy(update={"title": document.title})
        yield _row(name, titled, document.doc_id, document.sentences, marked)


def _attributionbench(data: Path) -> Iterator[EvidenceRow]:
    """Yield a row for each question with a supported claim.

    Nobody marked the sentences: the sentence of its references most like a supported claim counts.
    """
    pairs = [
        pair for pair in read_pairs(data / "attribution" / "pairs.jsonl") if pair.set == "AttributionBench"
    ]
    questions: dict[str, list[tuple[LabelledPair, int]]] = {}
    for pair, group in zip(pairs, groups(pairs), strict=True):
        questions.setdefault(pair.question, []).append((pair, group))
    for question, claims in questions.items():
        sentences = [(pair, evidence_sentences(pair.references)) for pair, _ in claims]
        marked = {
            max(own, key=partial(rouge_f1, pair.claim)) for pair, own in sentences if pair.label == 1 and own
        }
        if marked:
            held = [text for _, own in sentences for text in own]
            yield _row("attributionbench", _Asked(question=question), f"claims-{claims[0][1]}", held, marked)


# Every set by its name, with the function that makes its rows from the folder of data.
SETS: Mapping[str, Callable[[Path], Iterator[EvidenceRow]]] = {
    "qasper-sentences": _qasper_sentences,
    "qasper-paragraphs": _qasper_paragraphs,
    "clapnq": partial(_passages, file="clapnq.jsonl", name="clapnq"),
    "attributionbench": _attributionbench,
    "covidqa": partial(_documents, stem="covidqa_cord19", name="covidqa"),
    "evidence-inference": partial(_documents, stem="evidence_inference", name="evidence-inference"),
    "qed": partial(_passages, file="qed_dev.jsonl", name="qed"),
    "wikiqa": _wikiqa,
}


@command("evidence-sets")
def evidence_sets(data: Path, out_file: Path, only_set: list[str] | None = None) -> Report:
    if unknown := sorted(set(only_set or ()) - SETS.keys()):
        raise EvaluationError(f"There is no set {unknown[0]!r}; there are {', '.join(SETS)}.")
    made = {name: list(make(data)) for name, make in SETS.items() if name in (only_set or SETS)}
    try:
        with out_file.open("w", encoding="utf-8") as file:
            file.writelines(f"{row.model_dump_json()}\n" for rows in made.values() for row in rows)
    except OSError as error:
        raise EvaluationError(f"The file {out_file} cannot be written: {error.strerror}.") from error
    counts = {
        name: {
            "rows": len(rows),
            "unanswerable": sum(not row.relevant for row in rows),
            "groups": len({row.group for row in rows}),
            "candidates": sum(len(row.candidates) for row in rows),
        }
        for name, rows in made.items()
    }
    shown = [(name, *(f"{count:,}" for count in own.values())) for name, own in counts.items()]
    return Report(counts, [table(("Set", "Rows", "Unanswerable", "Groups", "Candidates"), shown)])
