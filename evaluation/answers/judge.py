"""Has a model judge the answers of several systems to the same questions (GenGO Ultra, Table 4).

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
    relabel,
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
    """A question with the earlier questions, oldest first, and its scope; whitespace is normalised."""

    question: str
    earlier: tuple[str, ...]
    scope: Scope

    @property
    def id(self) -> str:
        return sha256(json.dumps(asdict(self)).encode()).hexdigest()[:12]

    @property
    def name(self) -> str:
        """The question, shortened, and its id for messages."""
        return f"“{shortened(self.question, LONGEST_NAMED)}” ({self.id})"


Turns = Mapping[QuestionInContext, Turn]


def is_answer(turn: Turn) -> bool:
    """Return True if a turn has an answer to mark: text that is not a refusal."""
    return turn.answer.refusal is None and bool(turn.answer.text.strip())


def read_systems(arguments: Sequence[str]) -> dict[str, Turns]:
    """Read the turns of systems by name; each argument is PATH or NAME=PATH of a trail or a folder of trails.

    Paths with the same NAME are one system, whose first answer to a question counts. Raises EvaluationError.
    """
    paths: dict[str, list[Path]] = {}
    for text in arguments:
        name, equals, rest = text.partition("=")
        is_named = bool(name and equals and not Path(text).exists())
        path = Path(rest if is_named else text)
        if not is_named and path.stem in paths:
            raise EvaluationError(
                f"{path} has the name of another system. Use another name, --turns NAME={path}, or give both"
                " files of one system the same NAME."
            )
        paths.setdefault(name if is_named else path.stem, []).append(path)
    return {name: _read_turns(name, system_paths) for name, system_paths in paths.items()}


def _read_turns(name: str, paths: Sequence[Path]) -> Turns:
    turns: dict[QuestionInContext, Turn] = {}
    files = (file for path in paths for file in (sorted(path.glob("*.json")) if path.is_dir() else (path,)))
    for file in files:
        trail = read_trail(file, "trail", from_json).turns
        questions = [" ".join(turn.question.split()) for turn in trail]
        for index, turn in enumerate(trail):
            question = QuestionInContext(questions[index], tuple(questions[:index]), turn.scope)
            # Conversations may begin with the same question.
            first = turns.setdefault(question, turn)
            if first.provenance.generator != turn.provenance.generator:
                raise EvaluationError(
                    f"{file}: {name} already has an answer to {question.name} by another generator. Give the"
                    " systems different names: --turns NAME=FILE."
                )
    if not turns:
        raise EvaluationError(f"The trails of {name} have no turn. Leave the system out.")
    return turns


def writers(turns: Turns) -> set[str]:
    """Return the ids of the models that wrote the answers: as requested, and as servers reported them."""
    served = {call.served for turn in turns.values() for call in turn.calls if call.served}
    return served | {turn.provenance.generator for turn in turns.values()}


def _ballots(judge: Judge, question: QuestionInContext, turns: Sequence[Turn], votes: int) -> list[Ballot]:
    """Render the prompt of each vote on a question; its id seeds the orders. Raises EvaluationError."""
    evidence = cited_evidence(turns)
    texts = relabel_answers(turns, evidence)
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
    # Shown only if all systems searched for the same query.
    if len(queries) == 1 and queries != {as_line(question.question)}:
        yield f"Searched for as: {queries.pop()}"
    if question.scope.papers:
        papers = (labelled.paper for turn in turns for labelled in turn.evidence.papers)
        titles = {paper.id: paper.title for paper in papers}
        scope_titles = (as_line(titles.get(paper, paper)) for paper in question.scope.papers)
        yield f"Asked of these papers alone: {'; '.join(scope_titles)}"


def relabel_answers(turns: Sequence[Turn], evidence: Evidence) -> list[str]:
    """Return the answers with their labels replaced by those of `evidence`."""
    labels = {labelled.paper.id: labelled.label for labelled in evidence.papers}
    return [relabel(turn.answer.text, turn.evidence, labels) for turn in turns]


def cited_evidence(turns: Sequence[Turn]) -> Evidence:
    """Merge the cited papers and passages of all answers; labels follow the ids of the papers."""
    papers: dict[str, Paper] = {}
    passages: dict[str, dict[tuple[str, str], Passage]] = {}
    for turn in turns:
        sentences = turn.answer.sentences
        cited = {citation.passage_id for sentence in sentences for citation in sentence.citations}
        for labelled in turn.cited_papers:
            papers.setdefault(labelled.paper.id, labelled.paper)
            paper_passages = passages.setdefault(labelled.paper.id, {})
            # Corpora of two builds may have different texts under the same id.
            paper_passages.update(
                {(passage.id, passage.text): passage for passage in labelled.passages if passage.id in cited}
            )
    return Evidence(
        tuple(
            LabelledPaper(label, papers[key], tuple(passages[key].values()))
            for label, key in enumerate(sorted(papers), start=1)
        )
    )


@dataclass(frozen=True, slots=True)
class JudgedAnswers:
    """Marks of all systems over the questions that all of them answered.

    `asked` counts the questions put to all systems, `judged` those with marks, and `refused` those that each
    system refused. `left_out` has the reason for each question without marks.
    """

    judge: JudgeFigures
    asked: int
    judged: int
    refused: Mapping[str, int]
    left_out: Mapping[str, str]


def judge_answers(
    turns: Sequence[str], model: str, votes: int | None = None, replies: Path | None = None
) -> JudgedAnswers:
    """Have a model judge answers; by default as many votes as systems, so that each has each place once.

    `turns` are the arguments of `read_systems`; `replies` is a file that caches the judge's replies. Raises
    EvaluationError and AssistantError.
    """
    systems = read_systems(turns)
    questions = dict.fromkeys(question for by_question in systems.values() for question in by_question)
    left_out: dict[str, str] = {}
    common: dict[QuestionInContext, list[Turn]] = {}
    for question in questions:
        if lacking := [name for name, by_question in systems.items() if question not in by_question]:
            left_out[question.name] = f"Not asked of {', '.join(lacking)}."
        else:
            common[question] = [by_question[question] for by_question in systems.values()]
    if not common:
        raise EvaluationError(
            f"No question was asked of all of {', '.join(systems)}. Questions are the same if their words,"
            " the earlier questions of their conversation and their scope are."
        )
    refused = {
        name: sum(not is_answer(answers[index]) for answers in common.values())
        for index, name in enumerate(systems)
    }
    answered = {question: answers for question, answers in common.items() if all(map(is_answer, answers))}
    if not answered:
        raise EvaluationError(
            f"Of {counted(len(common), 'question')} asked of all, none was answered by all:"
            f" {', '.join(f'{name} refused {count}' for name, count in refused.items())}. Judge fewer"
            " systems, or other questions."
        )
    judge = open_judge(model, read_settings(), replies)
    ballots: list[tuple[QuestionInContext, Ballot]] = []
    for question, answers in answered.items():
        try:
            question_ballots = _ballots(judge, question, answers, votes or len(systems))
        except EvaluationError as error:
            left_out[question.name] = str(error)
        else:
            ballots += [(question, ballot) for ballot in question_ballots]
    if not ballots:
        raise EvaluationError(left_out[next(iter(answered)).name])
    cast = judge.cast([ballot for _, ballot in ballots], DIMENSIONS)
    all_votes: dict[QuestionInContext, list[JudgeVote]] = {}
    for (question, _), vote in zip(ballots, cast, strict=True):
        all_votes.setdefault(question, []).append(vote)
    failed = {
        question: question_votes
        for question, question_votes in all_votes.items()
        if all(vote.problem for vote in question_votes)
    }
    left_out |= {
        question.name: f"No vote counted: {question_votes[0].problem}"
        for question, question_votes in failed.items()
    }
    models = {name: writers(by_question) for name, by_question in systems.items()}
    return JudgedAnswers(
        judge=judge_figures(judge, DIMENSIONS, models, list(all_votes.values())),
        asked=len(common),
        judged=len(all_votes) - len(failed),
        refused=refused,
        left_out=left_out,
    )


@command("judge")
def judge(turns: list[str], model: str, *, votes: int | None = None, out_file: Path | None = None) -> Report:
    judged = judge_answers(turns, model, votes, out_file)
    questions = f"{judged.judged} of {counted(judged.asked, 'question')} asked of all"
    notes = [f"Means over {questions}: those that every system answered."]
    refused = ["Refused", *(f"{judged.refused[name]} of {judged.asked}" for name in judged.judge.systems)]
    tables = [judge_table(judged.judge, "Overall", notes, [refused])]
    if judged.left_out:
        title = f"{counted(len(judged.left_out), 'question')} without marks"
        tables.append(table(("Question", "Why"), judged.left_out.items(), title=title, left=2))
    return Report(judged, tables, exit_code=0 if judged.judged else 2)
