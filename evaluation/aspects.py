"""Chosen aspects beside summaries that people wrote: ROUGE against the aspects of ACLSum."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from statistics import fmean
from typing import get_args

from pydantic import BaseModel
from rouge_score.rouge_scorer import RougeScorer
from rouge_score.tokenizers import DefaultTokenizer

from assistant.questions import content_words
from corpus.records import AspectName, Paper, Passage, PassageKind, Section, Sentence, passage_id
from evaluation.input_files import EvaluationError, read_json_lines
from indexer.enrich import choose_aspects

ASPECTS: tuple[AspectName, ...] = get_args(AspectName)
METRICS = ("rouge1", "rouge2", "rougeL", "rougeK")
# What is printed of other work: the best open model that GenGO Ultra reports, ROUGE-2 and ROUGE-K.
LLAMA: dict[AspectName, dict[str, float]] = {
    "challenge": {"rouge2": 9.4, "rougeK": 86.5},
    "approach": {"rouge2": 18.4, "rougeK": 84.8},
    "outcome": {"rouge2": 13.8, "rougeK": 85.2},
}
# The files call their splits by short names or long ones.
_VALIDATION = frozenset({"validation", "val", "valid", "dev"})
_LINE = (
    "Each line is a JSON object with id, title, source (abstract, introduction: lists of sentences) and"
    " aspects (challenge, approach, outcome)."
)

Scores = dict[str, float]
Choice = Callable[["_Record"], Mapping[AspectName, str]]


class _Source(BaseModel):
    abstract: list[str]
    introduction: list[str] = []


class _Summaries(BaseModel):
    challenge: str
    approach: str
    outcome: str


class _Record(BaseModel):
    id: str
    title: str
    split: str = ""
    source: _Source
    aspects: _Summaries

    def summary(self, name: AspectName) -> str:
        return str(getattr(self.aspects, name))


@dataclass(frozen=True, slots=True)
class AspectFigures:
    """How the chosen sentences do, and what they are compared with; scores are 0..100 by aspect and metric.

    `lead` takes the abstract's first sentence for the challenge, the one after it for the approach and the
    last for the outcome; `oracle` knows the reference and takes the sentence with the highest ROUGE-2.
    """

    split: str
    papers: int
    ours: dict[AspectName, Scores]
    lead: dict[AspectName, Scores]
    oracle: dict[AspectName, Scores]


def measure_aspects(data: Path, split: str = "") -> AspectFigures:
    """Score chosen sentences against the summaries in `data`; raises EvaluationError where it cannot be read.

    Without a split, the validation part is taken where there is one, else everything.
    """
    records = read_json_lines(data, _Record, _LINE)
    name, chosen = _part(records, split)
    if not chosen:
        known = ", ".join(sorted({record.split for record in records if record.split})) or "none"
        raise EvaluationError(f"{data} has no papers of the split {split!r}; its splits are: {known}.")
    return AspectFigures(
        name, len(chosen), _mean(chosen, _ours), _mean(chosen, _lead), _mean(chosen, _oracle)
    )


def score(reference: str, summary: str) -> Scores:
    """Return ROUGE-1, -2 and -L (F1, stemmed) and ROUGE-K of a summary, 0..100.

    ROUGE-K is the share of the reference's keywords that the summary has; keywords are its distinct words,
    stemmed, other than function words and words such as "method" that any paper has.
    """
    found = _scorer(*METRICS[:3]).score(reference, summary)
    scores = {metric: 100 * float(found[metric].fmeasure) for metric in METRICS[:3]}
    wanted, held = _keywords(reference), _keywords(summary)
    return scores | {"rougeK": 100 * len(wanted & held) / len(wanted) if wanted else 0.0}


def _part(records: Sequence[_Record], split: str) -> tuple[str, list[_Record]]:
    names = _VALIDATION if split in {"", *_VALIDATION} else {split}
    chosen = [record for record in records if record.split in names]
    if chosen or split:
        return split or "validation", chosen
    return "all", list(records)


def _mean(records: Sequence[_Record], choice: Choice) -> dict[AspectName, Scores]:
    """Return the mean scores over all papers; one without a sentence for an aspect scores 0."""
    pairs = [(record, choice(record)) for record in records]
    means: dict[AspectName, Scores] = {}
    for name in ASPECTS:
        rows = [score(record.summary(name), texts.get(name, "")) for record, texts in pairs]
        means[name] = {metric: fmean(row[metric] for row in rows) for metric in METRICS}
    return means


def _ours(record: _Record) -> dict[AspectName, str]:
    return {aspect.name: aspect.text for aspect in choose_aspects(*_paper(record))}


def _lead(record: _Record) -> dict[AspectName, str]:
    sentences = record.source.abstract or [""]
    return {"challenge": sentences[0], "approach": sentences[:2][-1], "outcome": sentences[-1]}


def _oracle(record: _Record) -> dict[AspectName, str]:
    sentences = [*record.source.abstract, *record.source.introduction]
    return {name: max(sentences, key=_rouge2_against(record.summary(name)), default="") for name in ASPECTS}


def _rouge2_against(reference: str) -> Callable[[str], float]:
    return lambda sentence: float(_scorer("rouge2").score(reference, sentence)["rouge2"].fmeasure)


def _paper(record: _Record) -> tuple[Paper, tuple[Passage, ...]]:
    """Return a paper as the indexer would have it, sentences cut as the file has them."""
    abstract = _passage(record.id, 0, (), record.source.abstract or [record.title])
    body = _passage(record.id, 1, (Section("1", "Introduction"),), record.source.introduction)
    paper = Paper(record.id, "ACLSum", record.title, (), None, "", " ".join(record.source.abstract))
    return paper, (abstract, body)


def _passage(paper: str, number: int, section: tuple[Section, ...], sentences: Sequence[str]) -> Passage:
    text, spans = "", []
    for sentence in sentences:
        spans.append(Sentence(len(text), len(text) + len(sentence) + 1))
        text += f"{sentence} "
    kind: PassageKind = "body" if number else "abstract"
    return Passage(passage_id(paper, number), paper, "ACLSum", number, kind, section, text, tuple(spans))


def _keywords(text: str) -> frozenset[str]:
    return frozenset(_tokenizer().tokenize(" ".join(content_words(text))))


@cache
def _scorer(*metrics: str) -> RougeScorer:
    return RougeScorer(list(metrics), use_stemmer=True)


@cache
def _tokenizer() -> DefaultTokenizer:
    return DefaultTokenizer(use_stemmer=True)
