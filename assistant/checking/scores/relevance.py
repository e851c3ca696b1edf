"""Relevance: the probability that an answer answers its question."""

from dataclasses import dataclass

from assistant.checking.overlap import score_digits
from assistant.checking.scores.score import Score
from assistant.checking.thresholds import thresholds
from assistant.learned.parts import LearnedError
from assistant.learned.relevance import open_relevance
from assistant.questions.plan import QuestionPlan
from assistant.records import Answer, Evidence
from corpus.encoders.base import Encoder
from corpus.language.identified import foreign_language


@dataclass(frozen=True, slots=True)
class Answering:
    """A checked answer with the plan of its question and its evidence."""

    answer: Answer
    plan: QuestionPlan
    evidence: Evidence
    encoder: Encoder


def _measure(answering: Answering) -> float | None:
    """Return the relevance of an answer to the question.

    It is not measured for a refusal, an answer without citations, or a question without a subject ("What are
    its limits?").
    """
    answer, plan, encoder = answering.answer, answering.plan, answering.encoder
    sentences = [sentence for sentence in answer.sentences if sentence.claim]
    claims = [sentence.claim for sentence in sentences]
    if answer.refusal or not answer.cited_labels or not claims or not plan.subject:
        return None
    if foreign_language(answer.text) or plan.language:
        return None  # The relevance score was learned in English.
    titles = {paper.label: paper.paper.title for paper in answering.evidence.papers}
    cited_titles = [titles.get(sentence.labels[0], "") if sentence.labels else "" for sentence in sentences]
    vectors = encoder.encode_query(plan.query), encoder.encode_passages(claims)
    try:
        return round(open_relevance().of_answer(plan.query, claims, cited_titles, *vectors), 4)
    except LearnedError:
        return None  # A custom part may lack this scale.


def _verdict(relevance: float) -> str:
    bars = thresholds().relevance
    if relevance < bars.partial:
        return "may miss the question"
    return "may answer the question in part" if relevance < bars.strong else "likely answers the question"


RELEVANCE = Score(
    measure=_measure,
    describe=lambda relevance: f"relevance {score_digits(relevance)}: it {_verdict(relevance)}",
    show=lambda _, relevance: f"Relevance {score_digits(relevance)}: {_verdict(relevance)}",
)


def is_off(answer: Answer) -> bool:
    """Return True if an answer may miss its question: then a note precedes its text."""
    return answer.relevance is not None and answer.relevance < thresholds().relevance.partial
