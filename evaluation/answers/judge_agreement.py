"""Compares a judge's marks of sentences that answer a question with its marks of sentences that do not.

The judge sees both sentences in one prompt, in both orders, as two answers to a judged question.
"""

import random
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from assistant.prompts.material import render_evidence
from assistant.prompts.render import as_line
from assistant.records import Evidence, LabelledPaper
from corpus.records import Passage, passage_id
from corpus.settings import read_settings
from corpus.store.corpus import Corpus
from evaluation.answers.asking import open_homes
from evaluation.answers.judge import DEFINITIONS, DIMENSIONS
from evaluation.answers.questions import JUDGED, JudgedQuestion, Place, places, read_judged
from evaluation.harness import Report, command, table
from evaluation.input_files import EvaluationError, parse_named_folders
from evaluation.judging import Ballot, Judge, JudgeVote, between, open_judge

VOTES = 2  # so that each sentence has each place once
COMPARED_DIMENSION = "relevance"


@dataclass(frozen=True, slots=True)
class JudgeAgreement:
    """Counts of questions by how a judge marked the answering sentence: above the other, level or below."""

    judge: str
    questions: int
    above: int
    level: int
    below: int
    discarded: int

    @property
    def summary(self) -> str:
        return (
            f"of {self.questions} judged questions the judge marked the sentence that answers above one that"
            f" does not in {self.above}, level in {self.level}, below in {self.below}"
        )


def judge_agreement(
    judge: Judge, questions: Sequence[tuple[JudgedQuestion, Corpus]], limit: int | None = None
) -> JudgeAgreement:
    """Have a judge mark one answering and one other sentence of each question; raises EvaluationError.

    Questions that lack either sentence are skipped. The valid votes on a question are averaged.
    """
    ballots: list[list[Ballot]] = []
    for question, corpus in questions:
        pair = _pair(question)
        if pair is not None and (limit is None or len(ballots) < limit):
            ballots.append(_ballots(judge, question, corpus, pair))
    if not ballots:
        raise EvaluationError("No judged question has a sentence that answers and one that does not.")
    cast = iter(judge.cast([ballot for pair_ballots in ballots for ballot in pair_ballots], DIMENSIONS))
    votes = [[next(cast) for _ in pair_ballots] for pair_ballots in ballots]
    leads = [lead for pair_votes in votes if (lead := _lead(pair_votes)) is not None]
    return JudgeAgreement(
        judge=judge.model.id,
        questions=len(leads),
        above=sum(lead > 0 for lead in leads),
        level=sum(lead == 0 for lead in leads),
        below=sum(lead < 0 for lead in leads),
        discarded=sum(bool(vote.problem) for pair_votes in votes for vote in pair_votes),
    )


def _lead(votes: Sequence[JudgeVote]) -> float | None:
    """Return the mean difference of the answering sentence's mark to the other's, None without a vote."""
    valid = [vote.marks for vote in votes if not vote.problem]
    return (
        statistics.fmean(right[COMPARED_DIMENSION] - other[COMPARED_DIMENSION] for right, other in valid)
        if valid
        else None
    )


def _pair(question: JudgedQuestion) -> tuple[Place, Place] | None:
    """Draw a sentence that answers a question and one that does not; None if either is missing."""
    leaning = set(places(question.leaning))
    others = [place for place, grade in question.grades.items() if not grade and place not in leaning]
    answering = list(places(question.full))
    if not (answering and others):
        return None
    generator = random.Random(question.id)
    return generator.choice(answering), generator.choice(others)


def _ballots(
    judge: Judge, question: JudgedQuestion, corpus: Corpus, pair: tuple[Place, Place]
) -> list[Ballot]:
    passages = [_passage(corpus, place) for place in pair]
    ids = sorted({paper for paper, _, _ in pair})
    by_paper: dict[str, dict[str, Passage]] = {paper: {} for paper in ids}
    for (paper, _, _), passage in zip(pair, passages, strict=True):
        by_paper[paper][passage.id] = passage
    evidence = Evidence(
        tuple(
            LabelledPaper(label, corpus.paper(paper), tuple(by_paper[paper].values()))
            for label, paper in enumerate(ids, start=1)
        )
    )
    texts = [
        f"{passage.sentence_text(place[2])} [{ids.index(place[0]) + 1}]"
        for passage, place in zip(passages, pair, strict=True)
    ]
    return judge.ballots(
        "judge_answers",
        DEFINITIONS,
        texts,
        VOTES,
        question.id,
        question=between("question", as_line(question.question)),
        papers=render_evidence(evidence),
    )


def _passage(corpus: Corpus, place: Place) -> Passage:
    """Return the passage of a place; raises EvaluationError if the corpus lacks the passage or sentence."""
    paper, number, sentence = place
    for passage in corpus.passages_by_id([passage_id(paper, number)]):
        if sentence < len(passage.sentences):
            return passage
    raise EvaluationError(
        f"The corpus has no sentence {paper}#{number}:{sentence}: another corpus was judged."
    )


@command("judge-agreement")
def agreement(
    home: list[str], model: str, *, limit: int | None = None, out_file: Path | None = None
) -> Report:
    judge = open_judge(model, read_settings(), out_file)
    pairs = open_homes(read_judged(JUDGED), parse_named_folders(home))
    counts = judge_agreement(judge, [(question, assistant.corpus) for question, assistant in pairs], limit)
    row = (counts.questions, counts.above, counts.level, counts.below, counts.discarded)
    columns = ("Questions", "Above", "Level", "Below", "Votes discarded")
    title = f"Relevance by {counts.judge}: a sentence that answers beside one that does not"
    return Report(counts, [table(columns, [[str(count) for count in row]], title=title)])
