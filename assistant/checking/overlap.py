"""Overlap of a claim and the text it cites, in shared words.

Tests compare these figures with rouge_score, whose import would take two seconds at the start.
"""

import re
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Literal

from assistant.checking.thresholds import Bars, thresholds
from assistant.records import AnswerSentence
from corpus.text import words, write_out_numbers

_ROUGE_WORD = re.compile("[a-z0-9]+")
_LAST_LATIN = "\u02af"
ScoreWord = Literal["weak", "partial", "strong"]


def score_attribution(claim: str, evidence: str) -> float:
    """Return ROUGE-1 precision of `claim` against `evidence`, 0..1 (TruthReader, section 2)."""
    words_of_claim = _words_of(claim)
    return _shared(words_of_claim, _words_of(evidence)) / max(words_of_claim.total(), 1)


def overlap_word(overlap: float) -> ScoreWord:
    """Return the word for an overlap score."""
    return _word(overlap, thresholds().overlap)


def support_word(support: float) -> ScoreWord:
    """Return the word for a support score."""
    return _word(support, thresholds().support)


def score_digits(score: float) -> str:
    """Return a score truncated to two digits, so that it never looks better than its word."""
    return f"{int(min(1.0, max(0.0, score)) * 100 + 1e-9) / 100:.2f}"


# The scores of a citation, each with the function that returns the word for it.
CITATION_SCORES: dict[str, Callable[[float], ScoreWord]] = {"overlap": overlap_word, "support": support_word}


def is_weak(sentence: AnswerSentence) -> bool:
    """Return True if a sentence's citations hardly support it, by overlap if support was not measured."""
    if not sentence.citations:
        return False
    if sentence.support is not None:
        return support_word(sentence.support) == "weak"
    supports = [citation.support for citation in sentence.citations if citation.support is not None]
    if supports:
        return support_word(max(supports)) == "weak"
    overlaps = [citation.overlap for citation in sentence.citations if citation.overlap is not None]
    return bool(overlaps) and overlap_word(max(overlaps)) == "weak"


def _word(score: float, bars: Bars) -> ScoreWord:
    if score < bars.partial:
        return "weak"
    return "partial" if score < bars.strong else "strong"


def likeness(claim: str, sentence: str) -> float:
    """Return the ROUGE-1 F1 of two texts, 0..1."""
    words_of_claim, words_of_sentence = _words_of(claim), _words_of(sentence)
    shared = _shared(words_of_claim, words_of_sentence)
    if not shared:
        return 0.0
    precision, recall = shared / words_of_claim.total(), shared / words_of_sentence.total()
    return 2 * precision * recall / (precision + recall)


def best_sentence(claim: str, sentences: Sequence[str]) -> tuple[int, float]:
    """Return index and ROUGE-1 F1 of the sentence most similar to `claim`; (0, 0.0) without sentences.

    Precision alone would always prefer the longest sentence.
    """
    scores = [likeness(claim, sentence) for sentence in sentences]
    best = max(range(len(scores)), key=scores.__getitem__, default=0)
    return best, scores[best] if scores else 0.0


def _shared(one: Counter[str], other: Counter[str]) -> int:
    return (one & other).total()


def _words_of(text: str) -> Counter[str]:
    """Count ROUGE's words, which are of Latin letters and digits, and words of other scripts."""
    counts = Counter(_ROUGE_WORD.findall(write_out_numbers(text).lower()))
    if not text.isascii():
        # Single letters are mostly signs of formulae.
        counts.update(
            word for word in words(text) if len(word) > 1 and word[0] > _LAST_LATIN and word[0].isalpha()
        )
    return counts
