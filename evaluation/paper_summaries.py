"""Scores summaries of single papers by ROUGE: one sentence (SciTLDR) and three aspects (ACLSum)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import get_args

from pydantic import AliasChoices, BaseModel, Field, field_validator

from corpus.records import AspectName, Paper, Passage, PassageKind, Section, Sentence, passage_id
from corpus.wording import counted
from evaluation.harness import Report, command, decimals, grouped_table
from evaluation.input_files import choose_split, read_json_lines
from evaluation.rouge import METRICS, Scores, highest_rouge1, mean_scores, overlaps, score_text
from indexer.enrich.aspects import choose_aspects
from indexer.enrich.tldr import choose_tldr

ASPECTS: tuple[AspectName, ...] = get_args(AspectName)
_ASPECT_LINE = (
    "Each line is a JSON object with id, title, source (abstract, introduction: lists of sentences) and"
    " aspects (challenge, approach, outcome)."
)
_TLDR_LINE = (
    "Each line is a JSON object with id, title, source (a list of sentences) and targets, or in the form of"
    " SciTLDR with paper_id, title, source and target."
)


class TldrItem(BaseModel, frozen=True, extra="ignore"):
    """A paper's title and the sentences of its abstract, with one-sentence summaries that people wrote."""

    id: str = Field(validation_alias=AliasChoices("id", "paper_id"))
    title: str
    split: str = ""
    source: tuple[str, ...]
    targets: tuple[str, ...] = Field(min_length=1, validation_alias=AliasChoices("targets", "target"))

    @field_validator("targets", mode="before")
    @classmethod
    def _one_target(cls, value: object) -> object:
        return (value,) if isinstance(value, str) else value


class _Source(BaseModel):
    abstract: list[str]
    introduction: list[str] = []


class AspectItem(BaseModel):
    """A paper's title, abstract and introduction, with summaries of its three aspects that people wrote."""

    id: str
    title: str
    split: str = ""
    source: _Source
    aspects: dict[AspectName, str]

    @field_validator("aspects")
    @classmethod
    def _check_complete(cls, aspects: dict[AspectName, str]) -> dict[AspectName, str]:
        if missing := [name for name in ASPECTS if name not in aspects]:
            raise ValueError(f"there is no {missing[0]}")
        return aspects


@dataclass(frozen=True, slots=True)
class SummaryFigures:
    """Mean scores 0..100 by system and by aspect; the aspect of a one-sentence summary is "tldr".

    "lead" takes the first sentences, "oracle" the sentence closest to the references. The mean of ROUGE-K
    leaves out papers without keywords.
    """

    split: str
    papers: int
    systems: Mapping[str, Mapping[str, Scores]]


def read_tldr_items(data: Path, split: str = "") -> tuple[str, list[TldrItem]]:
    """Read the papers of a split, with its name; raises EvaluationError."""
    return choose_split(data, read_json_lines(data, TldrItem, _TLDR_LINE), split)


def read_aspect_items(data: Path, split: str = "") -> tuple[str, list[AspectItem]]:
    """Read the papers of a split, with its name; raises EvaluationError."""
    return choose_split(data, read_json_lines(data, AspectItem, _ASPECT_LINE), split)


def score_tldrs(items: Sequence[TldrItem], texts: Sequence[str]) -> Scores:
    """Return the mean scores of `texts`, one for each paper."""
    pairs = zip(items, texts, strict=True)
    return mean_scores([score_text(text, item.targets, item.title) for item, text in pairs])


def score_aspects(
    items: Sequence[AspectItem], written: Sequence[Mapping[AspectName, str]]
) -> dict[str, Scores]:
    """Return the mean scores by aspect of the summaries written for each paper; a missing one scores 0."""
    pairs = list(zip(items, written, strict=True))
    return {
        name: mean_scores(
            [score_text(texts.get(name, ""), [item.aspects[name]], item.title) for item, texts in pairs]
        )
        for name in ASPECTS
    }


def measure_tldr(data: Path, split: str = "") -> SummaryFigures:
    """Score our sentences against the targets in `data`, by default on its validation split, else on all."""
    name, items = read_tldr_items(data, split)
    chosen = [(item, choose_tldr(item.title, item.source)) for item in items]
    texts = {
        "ours": [tldr.text if tldr else "" for _, tldr in chosen],
        "unshortened": [item.source[tldr.sentence] if tldr else "" for item, tldr in chosen],
        "lead": [item.source[0] if item.source else "" for item in items],
        "oracle": [
            max(item.source, key=partial(highest_rouge1, references=item.targets), default="")
            for item in items
        ],
    }
    scores = {system: {"tldr": score_tldrs(items, sentences)} for system, sentences in texts.items()}
    return SummaryFigures(name, len(items), scores)


def measure_aspects(data: Path, split: str = "") -> SummaryFigures:
    """Score our sentences against the summaries in `data`, by default on the validation split, else all."""
    name, items = read_aspect_items(data, split)
    written: dict[str, list[dict[AspectName, str]]] = {"ours": [], "lead": [], "oracle": []}
    for item in items:
        lead = item.source.abstract or [""]
        sentences = [*item.source.abstract, *item.source.introduction]
        written["ours"].append({aspect.name: aspect.text for aspect in choose_aspects(*paper_of(item))})
        written["lead"].append({"challenge": lead[0], "approach": lead[:2][-1], "outcome": lead[-1]})
        closest = {
            aspect: max(sentences, key=partial(_rouge2, reference), default="")
            for aspect, reference in item.aspects.items()
        }
        written["oracle"].append(closest)
    scores = {system: score_aspects(items, texts) for system, texts in written.items()}
    return SummaryFigures(name, len(items), scores)


def _rouge2(reference: str, text: str) -> float:
    return overlaps(reference, text)["rouge2"]


def paper_of(item: AspectItem) -> tuple[Paper, tuple[Passage, ...]]:
    """Return an item as the paper and passages that the indexer would make, with the data set's sentences."""
    abstract = _passage(item.id, 0, (), item.source.abstract or [item.title])
    body = _passage(item.id, 1, (Section("1", "Introduction"),), item.source.introduction)
    paper = Paper(item.id, "ACLSum", item.title, (), None, "", " ".join(item.source.abstract))
    return paper, (abstract, body)


def _passage(paper: str, number: int, section: tuple[Section, ...], sentences: Sequence[str]) -> Passage:
    text, spans = "", []
    for sentence in sentences:
        spans.append(Sentence(len(text), len(text) + len(sentence) + 1))
        text += f"{sentence} "
    kind: PassageKind = "body" if number else "abstract"
    return Passage(passage_id(paper, number), paper, "ACLSum", number, kind, section, text, tuple(spans))


def _report(figures: SummaryFigures, systems: Mapping[str, str]) -> Report:
    """Report a row for each aspect and system; the JSON line has the figures of "ours" only."""
    groups = {
        aspect: [
            (label, *(decimals(figures.systems[system][aspect].get(metric), 1) for metric in METRICS))
            for system, label in systems.items()
        ]
        for aspect in figures.systems["ours"]
    }
    title = f"{counted(figures.papers, 'paper')}, split: {figures.split}"
    columns = ("Of", "Sentence", *(metric.replace("rouge", "ROUGE-") for metric in METRICS))
    return Report(figures.systems["ours"], [grouped_table(columns, groups, title)])


@command("aspects")
def aspects(data: Path, split: str = "") -> Report:
    return _report(measure_aspects(data, split), {"ours": "Ours", "lead": "Lead", "oracle": "Oracle"})


@command("tldr")
def tldr(data: Path, split: str = "") -> Report:
    systems = {"ours": "Ours", "unshortened": "Ours, not shortened", "lead": "Lead", "oracle": "Oracle"}
    return _report(measure_tldr(data, split), systems)
