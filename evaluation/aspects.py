"""Chosen aspects beside summaries that people wrote: ROUGE against the aspects of ACLSum."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import get_args

from pydantic import BaseModel

from corpus.records import AspectName, Paper, Passage, PassageKind, Section, Sentence, passage_id
from evaluation.input_files import part_of, read_json_lines
from evaluation.rouge import Scores, find_keywords, mean_scores, overlaps, score_text
from indexer.enrich import choose_aspects

ASPECTS: tuple[AspectName, ...] = get_args(AspectName)
# What is printed of other work: the best open model that GenGO Ultra reports, ROUGE-2 and ROUGE-K.
LLAMA: dict[AspectName, dict[str, float]] = {
    "challenge": {"rouge2": 9.4, "rougeK": 86.5},
    "approach": {"rouge2": 18.4, "rougeK": 84.8},
    "outcome": {"rouge2": 13.8, "rougeK": 85.2},
}
_LINE = (
    "Each line is a JSON object with id, title, source (abstract, introduction: lists of sentences) and"
    " aspects (challenge, approach, outcome)."
)

Summaries = Mapping[AspectName, str]


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
class AspectFigures:
    """How the chosen sentences do, and what they are compared with; scores are 0..100 by aspect and metric.

    `lead` takes the abstract's first sentence for the challenge, the one after it for the approach and the
    last for the outcome; `oracle` knows the reference and takes the sentence with the highest ROUGE-2.
    `without_keywords` counts summaries that share no keyword with the title, of which ROUGE-K says nothing.
    """

    split: str
    papers: int
    without_keywords: dict[AspectName, int]
    ours: dict[AspectName, Scores]
    lead: dict[AspectName, Scores]
    oracle: dict[AspectName, Scores]


def measure_aspects(data: Path, split: str = "") -> AspectFigures:
    """Score chosen sentences against the summaries in `data`; raises EvaluationError where it cannot be read.

    Without a split, the validation part is taken where there is one, else everything.
    """
    name, items = read_aspect_items(data, split)
    without = {aspect: sum(not _keywords(item, aspect) for item in items) for aspect in ASPECTS}
    ours, lead, oracle = (
        score_aspects(items, [write(item) for item in items]) for write in (_ours, _lead, _oracle)
    )
    return AspectFigures(name, len(items), without, ours, lead, oracle)


def read_aspect_items(data: Path, split: str = "") -> tuple[str, list[AspectItem]]:
    """Return a split's name and papers; raises EvaluationError for another file, or where it has none."""
    return part_of(data, read_json_lines(data, AspectItem, _LINE), split)


def _keywords(item: AspectItem, name: AspectName) -> tuple[str, ...]:
    return find_keywords([item.summary(name), item.title])


def score_aspects(items: Sequence[AspectItem], written: Sequence[Summaries]) -> dict[AspectName, Scores]:
    """Return the mean scores of summaries of each paper, whoever wrote them; a missing one scores 0."""
    return {
        name: mean_scores(
            [
                score_text(texts.get(name, ""), [item.summary(name)], item.title).mean
                for item, texts in zip(items, written, strict=True)
            ]
        )
        for name in ASPECTS
    }


def _ours(item: AspectItem) -> dict[AspectName, str]:
    return {aspect.name: aspect.text for aspect in choose_aspects(*paper_of(item))}


def _lead(item: AspectItem) -> dict[AspectName, str]:
    sentences = item.source.abstract or [""]
    return {"challenge": sentences[0], "approach": sentences[:2][-1], "outcome": sentences[-1]}


def _oracle(item: AspectItem) -> dict[AspectName, str]:
    sentences = [*item.source.abstract, *item.source.introduction]
    return {name: max(sentences, key=_rouge2_against(item.summary(name)), default="") for name in ASPECTS}


def _rouge2_against(reference: str) -> Callable[[str], float]:
    return lambda sentence: overlaps(reference, sentence)["rouge2"]


def paper_of(item: AspectItem) -> tuple[Paper, tuple[Passage, ...]]:
    """Return a paper as the indexer would have it, sentences cut as the file has them."""
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
