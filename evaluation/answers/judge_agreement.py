"""A judge's marks of sentences that answer a question beside marks of sentences that do not.

Both sentences stand before the judge in one prompt, in both orders, as two answers to a judged question.
"""

import random
import statistics
from collections.abc import Iterator, Sequence
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
from evaluation.input_files import EvaluationError, named_folders
from evaluation.judging import Ballot, Judge, JudgeVote, between, open_judge

VOTES = 2  # each sentence once in each place
MARKED = "relevance"


@dataclass(frozen=True, slots=True)
class JudgeAgreement:
    """Counts of questions by where a judge marked the answering sentence: above, level or below."""

    judge: str
    questions: int
    above: int
    level: int
    below: int
    discarded: int

    @property
    def told(self) -> str:
        return (
            f"of {self.questions} judged questions the judge marked the sentence that answers above one that"
            f" does not in {self.above}, level in {self.level}, below in {self.below}"
        )


def judge_agreement(
    judge: Judge, asked: Sequence[tuple[JudgedQuestion, Corpus]], limit: int | None = None
) -> JudgeAgreement:
    """Have one answering and one other sentence of each judged question marked; raises EvaluationError.

    Questions without both are left out; of a question, the votes that count are averaged.
    """
    ballots: list[list[Ballot]] = []
    for question, corpus in asked:
        pair = _pair(question)
        if pair is not None and (limit is None or len(ballots) < limit):
            ballots.append(_ballots(judge, question, corpus, pair))
    if not ballots:
        raise EvaluationError("No judged question has a sentence that answers and one that does not.")
    cast = iter(judge.cast([ballot for own in ballots for ballot in own], DIMENSIONS))
    votes = [[next(cast) for _ in own] for own in ballots]
    leads = [lead for own in votes if (lead := _lead(own)) is not None]
    return JudgeAgreement(
        judge=judge.model.id,
        questions=len(leads),
        above=sum(lead > 0 for lead in leads),
        level=sum(lead == 0 for lead in leads),
        below=sum(lead < 0 for lead in leads),
        discarded=sum(bool(vote.problem) for own in votes for vote in own),
    )


def _lead(votes: Sequence[JudgeVote]) -> float | None:
    """Return by how much the answering sentence is marked above the other, None without a vote."""
    valid = [vote.marks for vote in votes if not vote.problem]
    return statistics.fmean(right[MARKED] - other[MARKED] for right, other in valid) if valid else None


def _pair(question: JudgedQuestion) -> tuple[Place, Place] | None:
    """Return a sentence that answers a question, and one that does not; None where there are no such two."""
    leaning = set(places(question.leaning))
    others = [place for place, grade in question.grades.items() if not grade and place not in leaning]
    answering = list(places(question.full))
    if not (answering and others):
        return None
    chance = random.Random(question.id)
    return chance.choice(answering), chance.choice(others)


def _ballots(
    judge: Judge, question: JudgedQuestion, corpus: Corpus, pair: tuple[Place, Place]
) -> list[Ballot]:
    passages = [_passage(corpus, place) for place in pair]
    ids = sorted({paper for paper, _, _ in pair})
    of_paper: dict[str, dict[str, Passage]] = {paper: {} for paper in ids}
    for (paper, _, _), passage in zip(pair, passages, strict=True):
        of_paper[paper][passage.id] = passage
    evidence = Evidence(
        tuple(
            LabelledPaper(label, corpus.paper(paper), tuple(of_paper[paper].values()))
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
    """Return the passage of a place; raises EvaluationError where the corpus does not hold it."""
    paper, number, sentence = place
    for passage in corpus.passages_by_id([passage_id(paper, number)]):
        if sentence < len(passage.sentences):
            return passage
    raise EvaluationError(
        f"The corpus has no sentence {paper}#{number}:{sentence}: it is not the one judged."
    )


def _of_homes(home: Sequence[str]) -> Iterator[tuple[JudgedQuestion, Corpus]]:
    for question, assistant in open_homes(read_judged(JUDGED), named_folders(home)):
        yield question, assistant.corpus


@command("judge-agreement")
def agreement(
    home: list[str], model: str, *, limit: int | None = None, out_file: Path | None = None
) -> Report:
    judge = open_judge(model, read_settings(), out_file)
    found = judge_agreement(judge, list(_of_homes(home)), limit)
    row = (found.questions, found.above, found.level, found.below, found.discarded)
    columns = ("Questions", "Above", "Level", "Below", "Votes discarded")
    title = f"Relevance by {found.judge}: a sentence that answers beside one that does not"
    return Report(found, [table(columns, [[str(count) for count in row]], title=title)])
