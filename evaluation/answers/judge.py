"""Answers of several systems to the same questions, marked by a model (GenGO Ultra, Table 4).

The answers are read from trails.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from hashlib import sha256
from pathlib import Path

from assistant.prompts.material import render_evidence
from assistant.prompts.render import as_line
from assistant.records import Evidence, LabelledPaper, Turn
from assistant.trail.transcript import from_json
from corpus.records import Paper, Passage, Scope
from corpus.settings import read_settings
from corpus.text import shortened
from corpus.wording import counted
from evaluation.harness import Report, command, table
from evaluation.input_files import EvaluationError, read_trail
from evaluation.judging import (
    COHERENCE,
    FLUENCY,
    Ballot,
    Judge,
    JudgeFigures,
    JudgeVote,
    between,
    judge_figures,
    judge_table,
    open_judge,
    relabelled,
)

LONGEST_NAMED = 100
# The four qualities of GenGO Ultra's Table 4, in our words.
DEFINITIONS: Mapping[str, str] = {
    "coherence": COHERENCE,
    "consistency": "each statement says what the passages of the papers it cites say, and nothing beyond or"
    " against them. The passages alone tell what is so, whatever else is known.",
    "fluency": FLUENCY,
    "relevance": "it answers what is asked, the whole of it, and leaves out what was not asked for.",
}
DIMENSIONS = tuple(DEFINITIONS)


@dataclass(frozen=True, slots=True)
class QuestionInContext:
    """A question, its history, the oldest first, and its scope; spaces do not tell two of them apart."""

    question: str
    earlier: tuple[str, ...]
    scope: Scope

    @property
    def id(self) -> str:
        return sha256(json.dumps(asdict(self)).encode()).hexdigest()[:12]

    @property
    def named(self) -> str:
        """The question as messages name it."""
        return f"“{shortened(self.question, LONGEST_NAMED)}” ({self.id})"


Turns = Mapping[QuestionInContext, Turn]


def is_answer(turn: Turn) -> bool:
    """Return True if a turn has something to mark: a refusal makes no claim."""
    return turn.answer.refusal is None and bool(turn.answer.text.strip())


def read_systems(given: Sequence[str]) -> dict[str, Turns]:
    """Read the turns of systems, by name, from files or folders of trails: PATH or NAME=PATH.

    Paths with the same NAME are one system, whose first answer to a question counts. Raises EvaluationError.
    """
    paths: dict[str, list[Path]] = {}
    for text in given:
        name, equals, rest = text.partition("=")
        is_named = bool(name and equals and not Path(text).exists())
        path = Path(rest if is_named else text)
        if not is_named and path.stem in paths:
            raise EvaluationError(
                f"{path} has the name of another system. Name them apart: --turns NAME={path}, or give two"
                " files of one system the same NAME."
            )
        paths.setdefault(name if is_named else path.stem, []).append(path)
    return {name: _read_turns(name, own) for name, own in paths.items()}


def _read_turns(name: str, paths: Sequence[Path]) -> Turns:
    turns: dict[QuestionInContext, Turn] = {}
    files = (file for path in paths for file in (sorted(path.glob("*.json")) if path.is_dir() else (path,)))
    for file in files:
        read = read_trail(file, "trail", from_json).turns
        asked = [" ".join(turn.question.split()) for turn in read]
        for index, turn in enumerate(read):
            question = QuestionInContext(asked[index], tuple(asked[:index]), turn.scope)
            # Conversations may begin with the same question.
            first = turns.setdefault(question, turn)
            if first.provenance.generator != turn.provenance.generator:
                raise EvaluationError(
                    f"{file}: another generator answered {question.named} as {name} before. Name systems"
                    " apart: --turns NAME=FILE."
                )
    if not turns:
        raise EvaluationError(f"The trails of {name} hold no turn. Leave the system out.")
    return turns


def writers(turns: Turns) -> set[str]:
    """Return the models that wrote answers, by the ids that they were asked by and that servers named."""
    served = {call.served for turn in turns.values() for call in turn.calls if call.served}
    return served | {turn.provenance.generator for turn in turns.values()}


def _ballots(judge: Judge, question: QuestionInContext, turns: Sequence[Turn], votes: int) -> list[Ballot]:
    """Render the prompt of each vote on a question, whose id seeds the orders; raises EvaluationError."""
    evidence = cited_evidence(turns)
    texts = relabelled_answers(turns, evidence)
    lines = "\n".join(_question_lines(question, turns))
    return judge.ballots(
        "judge_answers",
        DEFINITIONS,
        texts,
        votes,
        question.id,
        question=between("question", lines),
        papers=render_evidence(evidence),
    )


def _question_lines(question: QuestionInContext, turns: Sequence[Turn]) -> Iterator[str]:
    if question.earlier:
        yield "Asked before, the oldest first:"
        yield from (f"- {as_line(earlier)}" for earlier in question.earlier)
        yield "Asked now:"
    yield as_line(question.question)
    queries = {as_line(turn.rewrite.search_query) for turn in turns}
    # Where systems read it differently, no reading is the question.
    if len(queries) == 1 and queries != {as_line(question.question)}:
        yield f"Searched for as: {queries.pop()}"
    if question.scope.papers:
        papers = (labelled.paper for turn in turns for labelled in turn.evidence.papers)
        titles = {paper.id: paper.title for paper in papers}
        named = (as_line(titles.get(paper, paper)) for paper in question.scope.papers)
        yield f"Asked of these papers alone: {'; '.join(named)}"


def relabelled_answers(turns: Sequence[Turn], evidence: Evidence) -> list[str]:
    """Return the answers with the labels that their papers have in `evidence`."""
    labels = {labelled.paper.id: labelled.label for labelled in evidence.papers}
    return [relabelled(turn.answer.text, turn.evidence, labels) for turn in turns]


def cited_evidence(turns: Sequence[Turn]) -> Evidence:
    """Merge the papers that the answers cite, labelled by their ids alone, with the cited passages."""
    papers: dict[str, Paper] = {}
    passages: dict[str, dict[tuple[str, str], Passage]] = {}
    for turn in turns:
        sentences = turn.answer.sentences
        cited = {citation.passage_id for sentence in sentences for citation in sentence.citations}
        for labelled in turn.cited_papers:
            papers.setdefault(labelled.paper.id, labelled.paper)
            own = passages.setdefault(labelled.paper.id, {})
            # Corpora of two builds may have different texts under one id.
            own.update({(part.id, part.text): part for part in labelled.passages if part.id in cited})
    return Evidence(
        tuple(
            LabelledPaper(label, papers[key], tuple(passages[key].values()))
            for label, key in enumerate(sorted(papers), start=1)
        )
    )


@dataclass(frozen=True, slots=True)
class JudgedAnswers:
    """Marks of all systems over the `judged` questions, which all of them answered.

    `asked` counts the questions that all were asked, `refused` those of them that each system refused;
    `left_out` has the problem of each question that has no marks.
    """

    judge: JudgeFigures
    asked: int
    judged: int
    refused: Mapping[str, int]
    left_out: Mapping[str, str]


def judge_answers(
    turns: Sequence[str], model: str, votes: int | None = None, kept_in: Path | None = None
) -> JudgedAnswers:
    """Have answers judged, by default with each answer once in each place.

    Raises EvaluationError and AssistantError.
    """
    systems = read_systems(turns)
    questions = dict.fromkeys(question for own in systems.values() for question in own)
    left_out: dict[str, str] = {}
    common: dict[QuestionInContext, list[Turn]] = {}
    for question in questions:
        if lacking := [name for name, own in systems.items() if question not in own]:
            left_out[question.named] = f"Not asked of {', '.join(lacking)}."
        else:
            common[question] = [own[question] for own in systems.values()]
    if not common:
        raise EvaluationError(
            f"No question was asked of all of {', '.join(systems)}. Questions are the same whose words are,"
            " what was asked before them in the conversation, and what they are asked of."
        )
    refused = {
        name: sum(not is_answer(own[index]) for own in common.values()) for index, name in enumerate(systems)
    }
    answered = {question: own for question, own in common.items() if all(map(is_answer, own))}
    if not answered:
        raise EvaluationError(
            f"Of {counted(len(common), 'question')} asked of all, none was answered by all:"
            f" {', '.join(f'{name} refused {count}' for name, count in refused.items())}. Judge fewer"
            " systems, or other questions."
        )
    judge = open_judge(model, read_settings(), kept_in)
    ballots: list[tuple[QuestionInContext, Ballot]] = []
    for question, own in answered.items():
        try:
            of_question = _ballots(judge, question, own, votes or len(systems))
        except EvaluationError as error:
            left_out[question.named] = str(error)
        else:
            ballots += [(question, ballot) for ballot in of_question]
    if not ballots:
        raise EvaluationError(left_out[next(iter(answered)).named])
    cast = judge.cast([ballot for _, ballot in ballots], DIMENSIONS)
    by_question: dict[QuestionInContext, list[JudgeVote]] = {}
    for (question, _), vote in zip(ballots, cast, strict=True):
        by_question.setdefault(question, []).append(vote)
    failed = {question: own for question, own in by_question.items() if all(vote.problem for vote in own)}
    left_out |= {question.named: f"No vote counted: {own[0].problem}" for question, own in failed.items()}
    wrote_for = {name: writers(own) for name, own in systems.items()}
    return JudgedAnswers(
        judge=judge_figures(judge, DIMENSIONS, wrote_for, list(by_question.values())),
        asked=len(common),
        judged=len(by_question) - len(failed),
        refused=refused,
        left_out=left_out,
    )


@command("judge")
def judge(turns: list[str], model: str, *, votes: int | None = None, out_file: Path | None = None) -> Report:
    judged = judge_answers(turns, model, votes, out_file)
    questions = f"{judged.judged} of {counted(judged.asked, 'question')} asked of all"
    notes = [f"Means over {questions}: those that every system answered."]
    refused = ["Refused", *(f"{judged.refused[name]} of {judged.asked}" for name in judged.judge.systems)]
    shown = [judge_table(judged.judge, "Overall", notes, [refused])]
    if judged.left_out:
        title = f"{counted(len(judged.left_out), 'question')} without marks"
        shown.append(table(("Question", "Why"), judged.left_out.items(), title=title, left=2))
    return Report(judged, shown, exit_code=0 if judged.judged else 2)
