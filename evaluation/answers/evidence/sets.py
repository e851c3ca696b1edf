"""Rows of candidates made of data sets in which people marked what answers a question.

A text stands once among the candidates of a row, however often its paper has it.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Self

from pydantic import BaseModel, ConfigDict, Field, NonNegativeInt, model_validator
from rich.box import SIMPLE_HEAD
from rich.table import Column, Table

from evaluation.answers.attribution.pairs import LabelledPair, evidence_sentences, groups, read_pairs
from evaluation.answers.evidence.rows import EvidenceRow
from evaluation.answers.rewriting import rouge_f1
from evaluation.input_files import EvaluationError, read_json_lines, read_numbered_json_lines

FEWEST_PARAGRAPHS = 3


def write_evidence_sets(data: Path, file: Path, names: Sequence[str] = ()) -> dict[str, list[EvidenceRow]]:
    """Write the rows of the named sets, or of all, and return them by set; raises EvaluationError."""
    if unknown := sorted(set(names) - SETS.keys()):
        raise EvaluationError(f"There is no set {unknown[0]!r}; there are {', '.join(SETS)}.")
    made = {name: list(make(data)) for name, make in SETS.items() if name in (names or SETS)}
    try:
        with file.open("w", encoding="utf-8") as out:
            out.writelines(f"{row.model_dump_json()}\n" for rows in made.values() for row in rows)
    except OSError as error:
        raise EvaluationError(f"The file {file} cannot be written: {error.strerror}.") from error
    return made


def evidence_sets_table(made: Mapping[str, Sequence[EvidenceRow]]) -> Table:
    numbers = [Column(name, justify="right") for name in ("Rows", "Unanswerable", "Groups", "Candidates")]
    table = Table("Set", *numbers, box=SIMPLE_HEAD)
    for name, counts in count_rows(made).items():
        table.add_row(name, *(f"{count:,}" for count in counts.values()))
    return table


def count_rows(made: Mapping[str, Sequence[EvidenceRow]]) -> dict[str, dict[str, int]]:
    return {
        name: {
            "rows": len(rows),
            "unanswerable": sum(not row.relevant for row in rows),
            "groups": len({row.group for row in rows}),
            "candidates": sum(len(row.candidates) for row in rows),
        }
        for name, rows in made.items()
    }


_Sentences = Annotated[tuple[str, ...], Field(min_length=1)]


class _Record(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")


class _Asked(_Record):
    question: str = Field(min_length=1)
    title: str = ""


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


def _check_indices(indices: Sequence[int], sentences: Sequence[str]) -> None:
    for index in indices:
        if index >= len(sentences):
            raise ValueError(f"sentence {index} is marked, and there are {len(sentences)}")


class _Paragraph(_Record):
    sentences: _Sentences
    answer_sentence_idx: tuple[NonNegativeInt, ...] = ()

    @model_validator(mode="after")
    def _mark_own_sentences(self) -> Self:
        _check_indices(self.answer_sentence_idx, self.sentences)
        return self

    @property
    def text(self) -> str:
        return " ".join(self.sentences)

    @property
    def marked(self) -> list[str]:
        return [self.sentences[index] for index in self.answer_sentence_idx]


class _OfPaper(_Asked):
    """A question about a paper with its evidence, as QASPER's are."""

    paper_id: str
    evidence: tuple[_Paragraph, ...]


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
        if len(held) < FEWEST_PARAGRAPHS:
            continue
        for asked in questions:
            if marked := {part.text for part in asked.evidence}:
                yield _row("qasper-paragraphs", asked, paper, held, marked)


class _WithSentences(_Asked):
    """A question with the sentences of its passage and the indices of those that answer it."""

    sentences: _Sentences
    evidence_idx: tuple[NonNegativeInt, ...]
    unanswerable: bool = False

    @model_validator(mode="after")
    def _mark_own_sentences(self) -> Self:
        _check_indices(self.evidence_idx, self.sentences)
        return self


def _passages(data: Path, file: str, name: str) -> Iterator[EvidenceRow]:
    """Yield a row for each question; one that can be answered, nobody marked by what, is left out."""
    hint = "Each line has question, sentences and evidence_idx."
    for asked in read_json_lines(data / "questions" / file, _WithSentences, hint):
        marked = {asked.sentences[index] for index in asked.evidence_idx}
        if marked or asked.unanswerable:
            yield _row(name, asked, asked.title, asked.sentences, marked)


def _clapnq(data: Path) -> Iterator[EvidenceRow]:
    return _passages(data, "clapnq.jsonl", "clapnq")


def _qed(data: Path) -> Iterator[EvidenceRow]:
    return _passages(data, "qed_dev.jsonl", "qed")


class _Labelled(_Asked):
    sentences: _Sentences
    labels: tuple[bool, ...]

    @model_validator(mode="after")
    def _label_own_sentences(self) -> Self:
        if len(self.labels) != len(self.sentences):
            raise ValueError(f"there are {len(self.labels)} labels for {len(self.sentences)} sentences")
        return self


def _wikiqa(data: Path) -> Iterator[EvidenceRow]:
    hint = "Each line has question, sentences and labels."
    for asked in read_json_lines(data / "questions" / "wikiqa_grouped.jsonl", _Labelled, hint):
        marked = {text for text, label in zip(asked.sentences, asked.labels, strict=True) if label}
        yield _row("wikiqa", asked, asked.question, asked.sentences, marked)


class _Document(_Record):
    doc_id: str
    title: str = ""
    sentences: _Sentences


class _OfDocument(_Asked):
    doc_id: str
    evidence_idx: tuple[NonNegativeInt, ...]


def _documents(data: Path, stem: str, name: str) -> Iterator[EvidenceRow]:
    """Yield a row for each question about a document, all of whose sentences are candidates."""
    file, read = data / "questions" / f"{stem}_questions.jsonl", data / "questions" / f"{stem}_docs.jsonl"
    held = {
        one.doc_id: one for one in read_json_lines(read, _Document, "Each line has doc_id and sentences.")
    }
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


def _covidqa(data: Path) -> Iterator[EvidenceRow]:
    return _documents(data, "covidqa_cord19", "covidqa")


def _evidence_inference(data: Path) -> Iterator[EvidenceRow]:
    return _documents(data, "evidence_inference", "evidence-inference")


def _attributionbench(data: Path) -> Iterator[EvidenceRow]:
    """Yield a row for each question of which a claim is supported.

    Nobody marked the sentence that supports a claim: the one most like it, of the references that it cites,
    is taken for it.
    """
    pairs = [
        pair for pair in read_pairs(data / "attribution" / "pairs.jsonl") if pair.set == "AttributionBench"
    ]
    questions: dict[str, list[tuple[LabelledPair, int]]] = {}
    for pair, group in zip(pairs, groups(pairs), strict=True):
        questions.setdefault(pair.question, []).append((pair, group))
    for question, claims in questions.items():
        held = [text for pair, _ in claims for text in evidence_sentences(pair.references)]
        if marked := {text for pair, _ in claims if pair.label == 1 for text in _nearest(pair)}:
            yield _row("attributionbench", _Asked(question=question), f"claims-{claims[0][1]}", held, marked)


def _nearest(pair: LabelledPair) -> list[str]:
    """Return the sentence of a pair's references most like its claim, in a list; none where there is none."""
    sentences = evidence_sentences(pair.references)
    best = max(sentences, key=lambda sentence: rouge_f1(pair.claim, sentence), default=None)
    return [] if best is None else [best]


# Every set by its name, with what makes its rows from the folder of data.
SETS: Mapping[str, Callable[[Path], Iterator[EvidenceRow]]] = {
    "qasper-sentences": _qasper_sentences,
    "qasper-paragraphs": _qasper_paragraphs,
    "clapnq": _clapnq,
    "attributionbench": _attributionbench,
    "covidqa": _covidqa,
    "evidence-inference": _evidence_inference,
    "qed": _qed,
    "wikiqa": _wikiqa,
}
