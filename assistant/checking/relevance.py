"""How likely an answer answers its question, whatever it cites: the third score."""

from dataclasses import replace

from assistant.checking.thresholds import thresholds
from assistant.learned import LearnedError, open_relevance
from assistant.records import Answer, Evidence
from corpus.encoders import Encoder


def with_relevance(answer: Answer, query: str, evidence: Evidence, encoder: Encoder) -> Answer:
    """Return an answer with how likely what it says answers a query; a refusal stays as it is."""
    claims = [one.claim for one in answer.sentences if one.claim]
    if answer.refusal or not claims:
        return answer
    titles = {paper.label: paper.paper.title for paper in evidence.papers}
    named = [titles.get(one.labels[0], "") if one.labels else "" for one in answer.sentences if one.claim]
    try:
        relevance = open_relevance().of_answer(
            query, claims, named, encoder.encode_query(query), encoder.encode_passages(claims)
        )
    except LearnedError:
        return answer  # A part of one's own may be without this scale.
    return replace(answer, relevance=round(relevance, 4))


def relevance_said(relevance: float) -> str:
    """Return in words how far an answer with this relevance is to the point."""
    bars = thresholds().relevance
    if relevance < bars.partial:
        return "may miss the question"
    return "may answer the question in part" if relevance < bars.strong else "likely answers the question"


def is_off(answer: Answer) -> bool:
    """Return True if an answer may miss its question, so that this is said before its text."""
    return answer.relevance is not None and answer.relevance < thresholds().relevance.partial
