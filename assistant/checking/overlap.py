"""How well a claim is carried by the text it cites; the only file that imports rouge_score."""

from collections.abc import Callable, Sequence
from functools import cache
from typing import TYPE_CHECKING, Literal

from assistant.checking.thresholds import Bars, thresholds
from assistant.records import AnswerSentence
from corpus.text import words

if TYPE_CHECKING:
    from rouge_score.rouge_scorer import RougeScorer
    from rouge_score.tokenizers import Tokenizer

_LAST_LATIN = "\u02af"
ScoreWord = Literal["weak", "partial", "strong"]


def score_attribution(claim: str, evidence: str) -> float:
    """Return ROUGE-1 precision of `claim` against `evidence`, 0..1 (TruthReader, section 2)."""
    return float(_scorer().score(evidence, claim)["rouge1"].precision)


def overlap_word(overlap: float) -> ScoreWord:
    """Return the word that stands beside an overlap score."""
    return _word(overlap, thresholds().overlap)


def support_word(support: float) -> ScoreWord:
    """Return the word that stands beside a support score."""
    return _word(support, thresholds().support)


# How the word beside a score is found, by the score's name.
WORD_BESIDE: dict[str, Callable[[float], ScoreWord]] = {"overlap": overlap_word, "support": support_word}


def is_weak(sentence: AnswerSentence) -> bool:
    """Return True if what a sentence cites hardly supports it, by overlap where support was not measured."""
    if not sentence.citations:
        return False
    if sentence.support is not None:
        return support_word(sentence.support) == "weak"
    supports = [one.support for one in sentence.citations if one.support is not None]
    if supports:
        return support_word(max(supports)) == "weak"
    overlaps = [one.overlap for one in sentence.citations if one.overlap is not None]
    return bool(overlaps) and overlap_word(max(overlaps)) == "weak"


def _word(score: float, bars: Bars) -> ScoreWord:
    if score < bars.partial:
        return "weak"
    return "partial" if score < bars.strong else "strong"


def likeness(claim: str, sentence: str) -> float:
    """Return how like two texts are: ROUGE-1 F1, 0..1."""
    return float(_scorer().score(sentence, claim)["rouge1"].fmeasure)


def best_sentence(claim: str, sentences: Sequence[str]) -> tuple[int, float]:
    """Return index and score of the sentence most like `claim`; (0, 0.0) when there is none.

    The score is ROUGE-1 F1: precision alone would always prefer the longest sentence.
    """
    scores = [likeness(claim, sentence) for sentence in sentences]
    best = max(range(len(scores)), key=scores.__getitem__, default=0)
    return best, scores[best] if scores else 0.0


@cache
def _scorer() -> "RougeScorer":
    # Here, because it brings a second of imports that only checking needs.
    from rouge_score.rouge_scorer import RougeScorer  # noqa: PLC0415
    from rouge_score.tokenizers import DefaultTokenizer  # noqa: PLC0415

    return RougeScorer(["rouge1"], tokenizer=_Words(DefaultTokenizer()))


class _Words:
    """ROUGE's own words, which are of Latin letters and digits, and behind them those of other scripts."""

    def __init__(self, own: "Tokenizer") -> None:
        self._own = own

    def tokenize(self, text: str) -> list[str]:
        return [*self._own.tokenize(text), *(word for word in words(text) if _is_of_other_script(word))]


def _is_of_other_script(word: str) -> bool:
    """Return True for two letters or more that are not Latin: signs of formulae stand alone."""
    return len(word) > 1 and word[0] > _LAST_LATIN and word[0].isalpha()
