"""What a judge of answers is sent: the question, what the answers cite, and the answers under numbers."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Literal, get_args

from assistant.prompts import as_line, load_prompt, render_evidence
from assistant.records import Evidence, LabelledPaper, Message, Turn
from corpus.records import Paper, Passage
from evaluation.answers.judge.turns import AnsweredQuestion
from evaluation.judging import (
    COHERENCE,
    FLUENCY,
    RULES,
    Ballot,
    between,
    numbered,
    qualities,
    relabelled,
    shown_orders,
)

PROMPTS = Path(__file__).parent
Dimension = Literal["coherence", "consistency", "fluency", "relevance"]
DIMENSIONS: tuple[Dimension, ...] = get_args(Dimension)
# The four qualities of GenGO Ultra's Table 4, in our words.
DEFINITIONS: Mapping[str, str] = {
    "coherence": COHERENCE,
    "consistency": "each statement says what the passages of the papers it cites say, and nothing beyond or"
    " against them. The passages alone tell what is so, whatever else is known.",
    "fluency": FLUENCY,
    "relevance": "it answers what is asked, the whole of it, and leaves out what was not asked for.",
}


def ballots_on(answered: AnsweredQuestion, votes: int) -> list[Ballot]:
    """Return what is sent for each vote on the answers to a question.

    The orders are the question's own, so that it is sent as before whatever else is judged.
    """
    evidence = _cited_evidence(answered.turns)
    labels = {one.paper.id: one.label for one in evidence.papers}
    texts = [relabelled(turn.answer.text, turn.evidence, labels) for turn in answered.turns]
    return [
        Ballot(order, _messages(answered, evidence, [texts[index] for index in order]))
        for order in shown_orders(len(texts), votes, answered.question.id)
    ]


def _messages(answered: AnsweredQuestion, evidence: Evidence, texts: Sequence[str]) -> tuple[Message, ...]:
    return load_prompt("judge", PROMPTS).render(
        dimensions=qualities(DEFINITIONS),
        rules=RULES,
        question=between("question", "\n".join(_question_lines(answered))),
        papers=render_evidence(evidence),
        texts=numbered(texts),
        count=str(len(texts)),
    )


def _question_lines(answered: AnsweredQuestion) -> Iterator[str]:
    question = answered.question
    if question.earlier:
        yield "Asked before, the oldest first:"
        yield from (f"- {as_line(earlier)}" for earlier in question.earlier)
        yield "Asked now:"
    yield as_line(question.question)
    queries = {as_line(turn.rewrite.search_query) for turn in answered.turns}
    # Where systems read it differently, none of their readings is what was asked.
    if len(queries) == 1 and queries != {as_line(question.question)}:
        yield f"Searched for as: {queries.pop()}"
    if question.scope.papers:
        titles = _titles(answered.turns)
        named = (as_line(titles.get(paper, paper)) for paper in question.scope.papers)
        yield f"Asked of these papers alone: {'; '.join(named)}"


def _titles(turns: Sequence[Turn]) -> dict[str, str]:
    return {one.paper.id: one.paper.title for turn in turns for one in turn.evidence.papers}


def _cited_evidence(turns: Sequence[Turn]) -> Evidence:
    """Return the papers that the answers cite, with the passages that any of their citations leads to.

    They are labelled by their ids alone, so that labels say nothing of whose papers they are.
    """
    papers: dict[str, Paper] = {}
    passages: dict[str, dict[tuple[str, str], Passage]] = {}
    for turn in turns:
        led_to = {one.passage_id for sentence in turn.answer.sentences for one in sentence.citations}
        for labelled in turn.cited_papers:
            papers.setdefault(labelled.paper.id, labelled.paper)
            cited = passages.setdefault(labelled.paper.id, {})
            # Corpora of two builds may have different texts under one id.
            cited.update({(one.id, one.text): one for one in labelled.passages if one.id in led_to})
    return Evidence(
        tuple(
            LabelledPaper(label, papers[key], tuple(passages[key].values()))
            for label, key in enumerate(sorted(papers), start=1)
        )
    )
