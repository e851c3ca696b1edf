"""Recall and precision of citations (ALCE, section 4), with the support score as the judge of entailment."""

from collections.abc import Iterable, Sequence

from assistant.checking.scores.score import Score
from assistant.checking.support import Weighed
from assistant.checking.thresholds import thresholds
from assistant.records import Answer, AnswerSentence
from corpus.wording import counted


def _claims(sentences: Iterable[AnswerSentence]) -> list[AnswerSentence]:
    """Return the sentences that cite or should."""
    return [
        sentence
        for sentence in sentences
        if sentence.needs_citation or sentence.labels or sentence.unknown_labels
    ]


def _count_citations(claims: Sequence[AnswerSentence]) -> int:
    """Count the citations of claims, including unknown labels, which are never needed."""
    return sum(len(sentence.citations) + len(sentence.unknown_labels) for sentence in claims)


def _recall(weighed: Weighed) -> float | None:
    """Return the share of the claims that their citations support."""
    claims, supported = _claims(weighed.sentences), thresholds().support.supported
    recalled = sum((sentence.support or 0.0) >= supported for sentence in claims)
    return recalled / len(claims) if claims else None


def _precision(weighed: Weighed) -> float | None:
    """Return the share of the citations that their claims need."""
    cited = _count_citations(_claims(weighed.sentences))
    return sum(map(len, weighed.needed)) / cited if cited else None


def _show_recall(answer: Answer, recall: float) -> str:
    if not (count := len(_claims(answer.sentences))):
        return ""
    held = round(recall * count)
    is_one = 1 in (held, count)
    verb = "is supported by what it cites" if is_one else "are supported by what they cite"
    return f"{held} of {counted(count, 'claim')} {verb}"


def _show_precision(answer: Answer, precision: float) -> str:
    if not (count := _count_citations(_claims(answer.sentences))):
        return ""
    useful = round(precision * count)
    verb = "is" if 1 in (useful, count) else "are"
    return f"{useful} of {counted(count, 'citation')} {verb} needed for that"


CITATION_RECALL = Score(
    measure=_recall,
    describe=lambda recall: f"{recall:.0%} of the claims are supported by what they cite",
    show=_show_recall,
)
CITATION_PRECISION = Score(
    measure=_precision,
    describe=lambda precision: f"{precision:.0%} of the citations help to support their claim",
    show=_show_precision,
)
