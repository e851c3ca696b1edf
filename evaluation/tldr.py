"""One sentence on a paper beside those that people wrote: ROUGE against the targets of SciTLDR."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args

from pydantic import AliasChoices, BaseModel, ConfigDict, Field, field_validator

from evaluation.input_files import part_of, read_json_lines
from evaluation.rouge import Scores, find_keywords, highest_rouge1, mean_scores, score_text
from indexer.enrich import choose_tldr

# How several targets make one figure: by the one with the highest ROUGE-1, or by the mean over them.
OverTargets = Literal["highest", "mean"]
OVER_TARGETS: tuple[OverTargets, ...] = get_args(OverTargets)
_LINE = (
    "Each line is a JSON object with id, title, source (a list of sentences) and targets, or in the form of"
    " SciTLDR with paper_id, title, source and target."
)


class TldrItem(BaseModel):
    """A paper's title and the sentences of its abstract, with what people wrote of it in one sentence."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    id: str = Field(validation_alias=AliasChoices("id", "paper_id"))
    title: str
    split: str = ""
    source: tuple[str, ...]
    targets: tuple[str, ...] = Field(min_length=1, validation_alias=AliasChoices("targets", "target"))

    @field_validator("targets", mode="before")
    @classmethod
    def _one_target(cls, value: object) -> object:
        return (value,) if isinstance(value, str) else value


@dataclass(frozen=True, slots=True)
class TldrFigures:
    """How one sentence does, and what it is compared with; scores are 0..100 by rule over targets and metric.

    `unshortened` is the sentence that ours was made of; `lead` the abstract's first; `oracle` knows the
    targets and takes the sentence with the highest ROUGE-1.
    """

    split: str
    papers: int
    without_keywords: int
    ours: dict[OverTargets, Scores]
    unshortened: dict[OverTargets, Scores]
    lead: dict[OverTargets, Scores]
    oracle: dict[OverTargets, Scores]


def read_tldr_items(data: Path, split: str = "") -> tuple[str, list[TldrItem]]:
    """Return a split's name and papers; raises EvaluationError for another file, or where it has none."""
    return part_of(data, read_json_lines(data, TldrItem, _LINE), split)


def measure_tldr(data: Path, split: str = "") -> TldrFigures:
    """Score our sentences against the targets in `data`; raises EvaluationError where it cannot be read.

    Without a split, the dev part is taken where there is one, else everything.
    """
    name, items = read_tldr_items(data, split)
    without = sum(not find_keywords([*item.targets, item.title]) for item in items)
    ours, unshortened, lead, oracle = (
        score_tldrs(items, [write(item) for item in items]) for write in (_ours, _unshortened, _lead, _oracle)
    )
    return TldrFigures(name, len(items), without, ours, unshortened, lead, oracle)


def score_tldrs(items: Sequence[TldrItem], texts: Sequence[str]) -> dict[OverTargets, Scores]:
    """Return the mean scores of one text for each paper, whoever wrote it."""
    scores = [score_text(text, item.targets, item.title) for item, text in zip(items, texts, strict=True)]
    return {rule: mean_scores([getattr(one, rule) for one in scores]) for rule in OVER_TARGETS}


def _ours(item: TldrItem) -> str:
    tldr = choose_tldr(item.title, item.source)
    return tldr.text if tldr else ""


def _unshortened(item: TldrItem) -> str:
    tldr = choose_tldr(item.title, item.source)
    return item.source[tldr.sentence] if tldr else ""


def _lead(item: TldrItem) -> str:
    return item.source[0] if item.source else ""


def _oracle(item: TldrItem) -> str:
    return max(item.source, key=_closeness(item), default="")


def _closeness(item: TldrItem) -> Callable[[str], float]:
    return lambda sentence: highest_rouge1(sentence, item.targets)
