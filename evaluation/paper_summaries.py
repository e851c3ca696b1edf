"""Summaries of single papers, scored by ROUGE: one sentence (SciTLDR) and three aspects (ACLSum)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import get_args

from pydantic import AliasChoices, BaseModel, Field, field_validator

from corpus.records import AspectName, Paper, Passage, PassageKind, Section, Sentence, passage_id
from corpus.wording import counted
from evaluation.harness import Report, command, decimals, table
from evaluation.input_files import part_of, read_json_lines
from evaluation.rouge import METRICS, Scores, find_keywords, highest_rouge1, mean_scores, overlaps, score_text
from indexer.enrich import choose_aspects, choose_tldr

ASPECTS: tuple[AspectName, ...] = get_args(AspectName)
# How several targets make one figure: by the target with the highest ROUGE-1, or by the mean over them.
OVER_TARGETS = ("highest", "mean")
# Printed by GenGO Ultra for the best open model: ROUGE-2 and ROUGE-K.
LLAMA: dict[str, Scores] = {
    "challenge": {"rouge2": 9.4, "rougeK": 86.5},
    "approach": {"rouge2": 18.4, "rougeK": 84.8},
    "outcome": {"rouge2": 13.8, "rougeK": 85.2},
}
_ASPECT_LINE = (
    "Each line is a JSON object with id, title, source (abstract, introduction: lists of sentences) and"
    " aspects (challenge, approach, outcome)."
)
_TLDR_LINE = (
    "Each line is a JSON object with id, title, source (a list of sentences) and targets, or in the form of"
    " SciTLDR with paper_id, title, source and target."
)


class TldrItem(BaseModel, frozen=True, extra="ignore"):
    """A paper's title and the sentences of its abstract, with what people wrote of it in one sentence."""

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


class _Summaries(BaseModel):
    challenge: str
    approach: str
    outcome: str


class AspectItem(BaseModel):
    """A paper's title, abstract and introduction, with what people wrote of its three aspects."""

    id: str
    title: str
    split: str = ""
    source: _Source
    aspects: _Summaries

    def summary(self, name: AspectName) -> str:
        return str(getattr(self.aspects, name))


@dataclass(frozen=True, slots=True)
class SummaryFigures:
    """Scores 0..100 by system and by aspect, or by the rule over targets.

    "lead" takes first sentences, "oracle" knows the references and takes the closest sentence.
    `without_keywords` counts summaries that share no keyword with the title: ROUGE-K leaves them out.
    """

    split: str
    papers: int
    without_keywords: Mapping[str, int]
    systems: Mapping[str, Mapping[str, Scores]]


def read_tldr_items(data: Path, split: str = "") -> tuple[str, list[TldrItem]]:
    """Return a split's name and papers; raises EvaluationError."""
    return part_of(data, read_json_lines(data, TldrItem, _TLDR_LINE), split)


def read_aspect_items(data: Path, split: str = "") -> tuple[str, list[AspectItem]]:
    """Return a split's name and papers; raises EvaluationError."""
    return part_of(data, read_json_lines(data, AspectItem, _ASPECT_LINE), split)


def score_tldrs(items: Sequence[TldrItem], texts: Sequence[str]) -> dict[str, Scores]:
    """Return the mean scores of one text for each paper."""
    scores = [score_text(text, item.targets, item.title) for item, text in zip(items, texts, strict=True)]
    return {rule: mean_scores([getattr(one, rule) for one in scores]) for rule in OVER_TARGETS}


def score_aspects(
    items: Sequence[AspectItem], written: Sequence[Mapping[AspectName, str]]
) -> dict[str, Scores]:
    """Return the mean scores of summaries of each paper; a missing one scores 0."""
    pairs = list(zip(items, written, strict=True))
    return {
        name: mean_scores(
            [score_text(texts.get(name, ""), [item.summary(name)], item.title).mean for item, texts in pairs]
        )
        for name in ASPECTS
    }


def measure_tldr(data: Path, split: str = "") -> SummaryFigures:
    """Score our sentences against the targets in `data`, by default on its dev part, else on everything."""
    name, items = read_tldr_items(data, split)
    chosen = [choose_tldr(item.title, item.source) for item in items]
    sources = [list(item.source) for item in items]
    texts = {
        "ours": [tldr.text if tldr else "" for tldr in chosen],
        "unshortened": [
            own[tldr.sentence] if tldr else "" for own, tldr in zip(sources, chosen, strict=True)
        ],
        "lead": [own[0] if own else "" for own in sources],
        "oracle": [_closest(item) for item in items],
    }
    without = sum(not find_keywords([*item.targets, item.title]) for item in items)
    scores = {system: score_tldrs(items, own) for system, own in texts.items()}
    return SummaryFigures(name, len(items), {"tldr": without}, scores)


def _closest(item: TldrItem) -> str:
    """Return the sentence that is most like a target."""
    return max(item.source, key=lambda sentence: highest_rouge1(sentence, item.targets), default="")


def measure_aspects(data: Path, split: str = "") -> SummaryFigures:
    """Score chosen sentences against the summaries in `data`, by default on its validation part."""
    name, items = read_aspect_items(data, split)
    without: dict[str, int] = {
        aspect: sum(not find_keywords([item.summary(aspect), item.title]) for item in items)
        for aspect in ASPECTS
    }
    systems = {"ours": _chosen_aspects, "lead": _lead_aspects, "oracle": _oracle_aspects}
    scores = {
        system: score_aspects(items, [write(item) for item in items]) for system, write in systems.items()
    }
    return SummaryFigures(name, len(items), without, scores)


def _chosen_aspects(item: AspectItem) -> dict[AspectName, str]:
    return {aspect.name: aspect.text for aspect in choose_aspects(*paper_of(item))}


def _lead_aspects(item: AspectItem) -> dict[AspectName, str]:
    sentences = item.source.abstract or [""]
    return {"challenge": sentences[0], "approach": sentences[:2][-1], "outcome": sentences[-1]}


def _oracle_aspects(item: AspectItem) -> dict[AspectName, str]:
    sentences = [*item.source.abstract, *item.source.introduction]

    def closest(reference: str) -> str:
        return max(sentences, key=lambda sentence: overlaps(reference, sentence)["rouge2"], default="")

    return {name: closest(item.summary(name)) for name in ASPECTS}


def paper_of(item: AspectItem) -> tuple[Paper, tuple[Passage, ...]]:
    """Return a paper as the indexer would have it, with the file's own sentences."""
    abstract = _passage(item.id, 0, (), item.source.abstract or [item.title])
    body = _passage(item.id, 1, (Section("1", "Introduction"),), item.source.introduction)
    return Paper(item.id, "ACLSum", item.title, (), None, "", " ".join(item.source.abstract)), (
        abstract,
        body,
    )


def _passage(paper: str, number: int, section: tuple[Section, ...], sentences: Sequence[str]) -> Passage:
    text, spans = "", []
    for sentence in sentences:
        spans.append(Sentence(len(text), len(text) + len(sentence) + 1))
        text += f"{sentence} "
    kind: PassageKind = "body" if number else "abstract"
    return Passage(passage_id(paper, number), paper, "ACLSum", number, kind, section, text, tuple(spans))


def _report(
    figures: SummaryFigures,
    groups: Sequence[str],
    head: str,
    systems: Mapping[str, str],
    notes: tuple[str, str],
) -> Report:
    """Return the report: a row for each group and system; ours are the figures for programs."""
    printed = {**figures.systems, "llama": LLAMA}
    rows: list[list[str] | None] = []
    for group in groups:
        for system, label in systems.items():
            scores = printed[system][group]
            cells = [decimals(scores.get(metric), 1) for metric in METRICS]
            rows.append([group if system == "ours" else "", label, *cells])
        rows.append(None)
    title = f"{counted(figures.papers, 'paper')}, split: {figures.split}{notes[0]}"
    columns = (head, "Sentence", *(metric.replace("rouge", "ROUGE-") for metric in METRICS))
    return Report(
        figures.systems["ours"],
        [table(columns, rows, title=title, caption=f"ROUGE-K without {notes[1]}", left=2)],
    )


@command("aspects")
def aspects(data: Path, split: str = "") -> Report:
    figures = measure_aspects(data, split)
    without = " / ".join(str(count) for count in figures.without_keywords.values())
    systems = {"ours": "Ours", "lead": "Lead", "oracle": "Oracle", "llama": "Llama-3.3-70B"}
    notes = (
        "; Llama's figures as printed by GenGO Ultra",
        f"{without} summaries that share no keyword with the title",
    )
    return _report(figures, ASPECTS, "Aspect", systems, notes)


@command("tldr")
def tldr(data: Path, split: str = "") -> Report:
    figures = measure_tldr(data, split)
    without = counted(figures.without_keywords["tldr"], "paper")
    systems = {"ours": "Ours", "unshortened": "Ours, not shortened", "lead": "Lead", "oracle": "Oracle"}
    return _report(
        figures, OVER_TARGETS, "Over targets", systems, ("", f"{without} whose texts share no keyword")
    )
