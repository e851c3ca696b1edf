"""How well a claim is carried by the text it cites; the only file that imports rouge_score."""

from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING, Literal

from assistant.thresholds import thresholds

if TYPE_CHECKING:
    from rouge_score.rouge_scorer import RougeScorer

OverlapWord = Literal["weak", "partial", "strong"]


def score_attribution(claim: str, evidence: str) -> float:
    """Return ROUGE-1 precision of `claim` against `evidence`, 0..1 (TruthReader, section 2)."""
    return float(_scorer().score(evidence, claim)["rouge1"].precision)


def overlap_word(overlap: float) -> OverlapWord:
    """Return the word that stands beside an overlap score."""
    bars = thresholds().overlap
    if overlap < bars.partial:
        return "weak"
    return "partial" if overlap < bars.strong else "strong"


def best_sentence(claim: str, sentences: Sequence[str]) -> tuple[int, float]:
    """Return index and score of the sentence most like `claim`; (0, 0.0) when there is none.

    The score is ROUGE-1 F1: precision alone would always prefer the longest sentence.
    """
    scores = [float(_scorer().score(sentence, claim)["rouge1"].fmeasure) for sentence in sentences]
    best = max(range(len(scores)), key=scores.__getitem__, default=0)
    return best, scores[best] if scores else 0.0


@cache
def _scorer() -> "RougeScorer":
    # Here, because it brings a second of imports that only checking needs.
    from rouge_score.rouge_scorer import RougeScorer  # noqa: PLC0415

    return RougeScorer(["rouge1"])
