"""Answers of several systems to the same questions, marked by a model (GenGO Ultra, Table 4).

The answers are read from trails. Votes are kept in a file, so that none is paid for twice, and compared with
people's marks.
"""

import json
import statistics
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from hashlib import sha256
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, Field

from assistant.prompts import as_line, load_prompt, render_evidence
from assistant.records import Evidence, LabelledPaper, Message, Turn
from assistant.trail import from_json
from corpus.records import Paper, Passage, Scope
from corpus.settings import read_settings
from corpus.text import shortened
from corpus.wording import counted
from evaluation.harness import Report, command, say, table
from evaluation.input_files import (
    PROMPTS,
    EvaluationError,
    read_numbered_json_lines,
    read_numbered_rows,
    read_trail,
)
from evaluation.judging import (
    COHERENCE,
    FLUENCY,
    RULES,
    Agreement,
    Ballot,
    Judge,
    JudgeFigures,
    JudgeVote,
    Level,
    Mark,
    Marked,
    agreement,
    agreement_table,
    between,
    judge_figures,
    judge_table,
    mean_marks,
    numbered,
    open_judge,
    qualities,
    relabelled,
    shown_orders,
)
from evaluation.kept import KeptLines

LONGEST_NAMED, LEFT_OUT_NAMED = 100, 20
# The four qualities of GenGO Ultra's Table 4, in our words.
DEFINITIONS: Mapping[str, str] = {
    "coherence": COHERENCE,
    "consistency": "each statement says what the passages of the papers it cites say, and nothing beyond or"
    " against them. The passages alone tell what is so, whatever else is known.",
    "fluency": FLUENCY,
    "relevance": "it answers what is asked, the whole of it, and leaves out what was not asked for.",
}
DIMENSIONS = tuple(DEFINITIONS)
_MARKS_HINT = (
    f"Each has question (its text or its id), system, and marks 1 to 5 for {', '.join(DIMENSIONS)} or some of"
    " these; person where several marked."
)


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


@dataclass(frozen=True, slots=True)
class AnsweringSystem:
    """A system under its name, with its turns by question."""

    name: str
    turns: Mapping[QuestionInContext, Turn]

    @property
    def writers(self) -> frozenset[str]:
        """The models that wrote its answers, by the ids that they were asked by and that servers named."""
        turns = self.turns.values()
        served = {call.served for turn in turns for call in turn.calls if call.served}
        return frozenset(served | {turn.provenance.generator for turn in turns})


@dataclass(frozen=True, slots=True)
class AnsweredQuestion:
    """A question that every system was asked, with their turns in the order of the systems."""

    question: QuestionInContext
    turns: tuple[Turn, ...]


def is_answer(turn: Turn) -> bool:
    """Return True if a turn has something to mark: a refusal makes no claim."""
    return turn.answer.refusal is None and bool(turn.answer.text.strip())


def read_systems(given: Sequence[str]) -> tuple[AnsweringSystem, ...]:
    """Return the systems of files or folders of trails, each given by its path or as NAME=PATH.

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
    return tuple(AnsweringSystem(name, _turns(name, files)) for name, files in paths.items())


def _turns(name: str, paths: Sequence[Path]) -> dict[QuestionInContext, Turn]:
    turns: dict[QuestionInContext, Turn] = {}
    for path in (file for one in paths for file in (sorted(one.glob("*.json")) if one.is_dir() else (one,))):
        read = read_trail(path, "trail", from_json).turns
        asked = [" ".join(turn.question.split()) for turn in read]
        for index, turn in enumerate(read):
            question = QuestionInContext(asked[index], tuple(asked[:index]), turn.scope)
            # Conversations may begin with the same question.
            first = turns.setdefault(question, turn)
            if first.provenance.generator != turn.provenance.generator:
                raise EvaluationError(
                    f"{path}: another generator answered {question.named} as {name} before. Name systems"
                    " apart: --turns NAME=FILE."
                )
    if not turns:
        raise EvaluationError(f"The trails of {name} hold no turn. Leave the system out.")
    return turns


def asked_of_all(systems: Sequence[AnsweringSystem]) -> list[AnsweredQuestion]:
    """Return the questions that every system was asked, in the order of the first."""
    return [
        AnsweredQuestion(question, tuple(system.turns[question] for system in systems))
        for question in systems[0].turns
        if all(question in system.turns for system in systems)
    ]


def not_asked_of_all(systems: Sequence[AnsweringSystem]) -> dict[QuestionInContext, list[str]]:
    """Return the questions that some systems were not asked, with the names of these."""
    questions = dict.fromkeys(question for system in systems for question in system.turns)
    lacking = {one: [system.name for system in systems if one not in system.turns] for one in questions}
    return {question: names for question, names in lacking.items() if names}


def _ballots(answered: AnsweredQuestion, votes: int) -> list[Ballot]:
    """Return what is sent for each vote on a question; its id seeds the orders."""
    evidence = _cited_evidence(answered.turns)
    labels = {one.paper.id: one.label for one in evidence.papers}
    texts = [relabelled(turn.answer.text, turn.evidence, labels) for turn in answered.turns]

    def messages(order: tuple[int, ...]) -> tuple[Message, ...]:
        return load_prompt("judge_answers", PROMPTS).render(
            dimensions=qualities(DEFINITIONS),
            rules=RULES,
            question=between("question", "\n".join(_question_lines(answered))),
            papers=render_evidence(evidence),
            texts=numbered([texts[index] for index in order]),
            count=str(len(texts)),
        )

    orders = shown_orders(len(texts), votes, answered.question.id)
    return [Ballot(order, messages(order)) for order in orders]


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
        titles = {one.paper.id: one.paper.title for turn in answered.turns for one in turn.evidence.papers}
        named = (as_line(titles.get(paper, paper)) for paper in question.scope.papers)
        yield f"Asked of these papers alone: {'; '.join(named)}"


def _cited_evidence(turns: Sequence[Turn]) -> Evidence:
    """Return the papers that the answers cite, labelled by their ids alone, with the cited passages."""
    papers: dict[str, Paper] = {}
    passages: dict[str, dict[tuple[str, str], Passage]] = {}
    for turn in turns:
        cited = {one.passage_id for sentence in turn.answer.sentences for one in sentence.citations}
        for labelled in turn.cited_papers:
            papers.setdefault(labelled.paper.id, labelled.paper)
            own = passages.setdefault(labelled.paper.id, {})
            # Corpora of two builds may have different texts under one id.
            own.update({(one.id, one.text): one for one in labelled.passages if one.id in cited})
    return Evidence(
        tuple(
            LabelledPaper(label, papers[key], tuple(passages[key].values()))
            for label, key in enumerate(sorted(papers), start=1)
        )
    )


class _KeptVote(BaseModel, frozen=True, extra="forbid"):
    """A vote that counted, by the hash of what was asked; marks and analyses are by system."""

    key: str
    judge: str
    question: str
    asked: str
    shown: tuple[str, ...]
    marks: dict[str, dict[str, Mark]]
    analyses: dict[str, str]
    best: str
    served: str = ""

    def is_of(self, names: Sequence[str]) -> bool:
        """Return True if the vote is on exactly these systems, with nothing missing."""
        return (
            sorted(self.shown) == sorted(names) == sorted(self.marks) == sorted(self.analyses)
            and self.best in names
            and all(marks.keys() == set(DIMENSIONS) for marks in self.marks.values())
        )

    def vote(self, names: Sequence[str]) -> JudgeVote:
        return JudgeVote(
            order=tuple(names.index(name) for name in self.shown),
            marks=tuple(self.marks[name] for name in names),
            analyses=tuple(self.analyses[name] for name in names),
            best=names.index(self.best),
            served=self.served,
        )


@dataclass(frozen=True, slots=True)
class _PlannedVote:
    question: QuestionInContext
    ballot: Ballot
    key: str


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A question that no system has marks for, and why."""

    question: str
    problem: str


def _plan(
    judge: Judge, answered: Sequence[AnsweredQuestion], votes: int, names: Sequence[str]
) -> tuple[list[_PlannedVote], list[LeftOut]]:
    """Return the votes to cast, and the questions that do not fit; raises EvaluationError where none fits."""
    plan: list[_PlannedVote] = []
    too_long: list[LeftOut] = []
    for one in answered:
        ballots = _ballots(one, votes)
        try:
            judge.check_room(ballots[0])
        except EvaluationError as error:
            too_long.append(LeftOut(one.question.named, str(error)))
            continue
        for number, ballot in enumerate(ballots):
            messages = [asdict(message) for message in ballot.messages]
            parameters = asdict(judge.parameters_for(ballot))
            asked = json.dumps([judge.model.id, parameters, messages, number, list(names)])
            plan.append(_PlannedVote(one.question, ballot, sha256(asked.encode()).hexdigest()))
    if not plan:
        raise EvaluationError(too_long[0].problem)
    return plan, too_long


def _collect_votes(
    judge: Judge, plan: Sequence[_PlannedVote], path: Path | None, names: Sequence[str]
) -> dict[QuestionInContext, list[JudgeVote]]:
    """Return the votes on each question; new ones are kept as soon as they are cast."""
    lines = KeptLines(path) if path else None
    hint = "Name the file of votes that an earlier run has written, or one that is not there yet."
    kept = {vote.key: vote for vote in (lines.read(_KeptVote, "file of votes", hint) if lines else ())}
    usable = {one.key: kept[one.key] for one in plan if one.key in kept and kept[one.key].is_of(names)}
    cast = {key: vote.vote(names) for key, vote in usable.items()}
    wanted = [one for one in plan if one.key not in cast]
    if cast:
        say(f"{counted(len(cast), 'vote')} of an earlier run: not asked for again.")
    if wanted:
        if lines:
            lines.begin()
        say(judge.calls_said(len(wanted)))
    for index, vote in judge.cast([one.ballot for one in wanted], DIMENSIONS):
        asked = wanted[index]
        cast[asked.key] = vote
        if lines and not vote.problem:
            lines.add(
                {
                    "key": asked.key,
                    "judge": judge.model.id,
                    "question": asked.question.id,
                    "asked": asked.question.question,
                    "shown": [names[at] for at in vote.order],
                    "marks": dict(zip(names, vote.marks, strict=True)),
                    "analyses": dict(zip(names, vote.analyses, strict=True)),
                    "best": names[vote.best or 0],
                    **({"served": vote.served} if vote.served else {}),
                }
            )
    votes: dict[QuestionInContext, list[JudgeVote]] = {}
    for one in plan:
        votes.setdefault(one.question, []).append(cast[one.key])
    return votes


_HumanMark = Annotated[int, Field(strict=True, ge=1, le=5)]


class HumanMarks(BaseModel, frozen=True, extra="forbid"):
    """A person's marks of the answer of a system to a question; None for what they did not mark."""

    question: str = Field(min_length=1)
    system: str = Field(min_length=1)
    person: str = ""
    coherence: _HumanMark | None = None
    consistency: _HumanMark | None = None
    fluency: _HumanMark | None = None
    relevance: _HumanMark | None = None


def read_people(path: Path, systems: Sequence[AnsweringSystem]) -> Marked:
    """Return people's mean marks by the question's id and the system, of JSON lines or CSV.

    Raises EvaluationError that names the line at fault.
    """
    read = read_numbered_rows if path.suffix.lower() == ".csv" else read_numbered_json_lines
    given: dict[tuple[str, str], dict[str, dict[str, int]]] = {}
    for number, row in read(path, HumanMarks, _MARKS_HINT):
        marks = row.model_dump(include=set(DIMENSIONS), exclude_none=True)
        try:
            persons = given.setdefault(_place(row, systems), {})
            if row.person in persons:
                raise EvaluationError("is on an answer that an earlier line has. Name each person.")
            if not marks:
                raise EvaluationError(f"has no mark. {_MARKS_HINT}")
        except EvaluationError as error:
            raise EvaluationError(f"{path}, line {number} {error}") from None
        persons[row.person] = marks
    return {
        place: {
            name: statistics.fmean(marks[name] for marks in persons.values() if name in marks)
            for name in DIMENSIONS
            if any(name in marks for marks in persons.values())
        }
        for place, persons in given.items()
    }


def _place(row: HumanMarks, systems: Sequence[AnsweringSystem]) -> tuple[str, str]:
    """Return the id of the question and the system that marks are on."""
    asked = dict.fromkeys(question for system in systems for question in system.turns)
    words = " ".join(row.question.split())
    found = [question for question in asked if words in (question.id, question.question)]
    if not found:
        raise EvaluationError(
            f"names no question that a system was asked: {row.question!r}. Copy it as it was asked."
        )
    if len(found) > 1:
        raise EvaluationError(
            f"names {row.question!r}, which was asked in {len(found)} contexts. Give one id:"
            f" {', '.join(question.id for question in found)}."
        )
    names = [system.name for system in systems]
    if row.system not in names:
        raise EvaluationError(f"names no system {row.system!r}; the turns are of {', '.join(names)}.")
    return found[0].id, row.system


@dataclass(frozen=True, slots=True)
class JudgedAnswers:
    """Marks of all systems over the `judged` questions, which all of them answered.

    Of `asked`, the questions that all were asked, each system has `refused` so many. `people_unused` counts
    answers that people marked and the judge did not.
    """

    judge: JudgeFigures
    asked: int
    judged: int
    refused: Mapping[str, int]
    left_out: tuple[LeftOut, ...]
    agreement: Mapping[Level, Mapping[str, Agreement]] | None
    people_unused: int


def judge_answers(
    turns: Sequence[str],
    model: str,
    votes: int | None = None,
    kept_in: Path | None = None,
    human: Path | None = None,
) -> JudgedAnswers:
    """Have answers judged, by default with each answer once in each place.

    Raises EvaluationError and AssistantError.
    """
    settings = read_settings()
    systems = read_systems(turns)
    people = read_people(human, systems) if human else {}
    names = [system.name for system in systems]
    common = asked_of_all(systems)
    if not common:
        raise EvaluationError(
            f"No question was asked of all of {', '.join(names)}. Questions are the same whose words are,"
            " what was asked before them in the conversation, and what they are asked of."
        )
    refused = {
        name: sum(not is_answer(one.turns[index]) for one in common) for index, name in enumerate(names)
    }
    answered = [one for one in common if all(map(is_answer, one.turns))]
    if not answered:
        raise EvaluationError(
            f"Of {counted(len(common), 'question')} asked of all, none was answered by all:"
            f" {', '.join(f'{name} refused {count}' for name, count in refused.items())}. Judge fewer"
            " systems, or other questions."
        )
    judge = open_judge(model, settings)
    plan, too_long = _plan(judge, answered, votes or len(systems), names)
    cast = _collect_votes(judge, plan, kept_in, names)
    judged = {question: own for question, own in cast.items() if any(not one.problem for one in own)}
    marks = {
        (question.id, name): mean_marks(own, index, DIMENSIONS)
        for question, own in judged.items()
        for index, name in enumerate(names)
    }
    not_asked = not_asked_of_all(systems).items()
    failed = {question: own for question, own in cast.items() if question not in judged}
    left_out = (
        *(LeftOut(question.named, f"Not asked of {', '.join(lacking)}.") for question, lacking in not_asked),
        *too_long,
        *(LeftOut(one.named, f"No vote counted: {own[0].problem}") for one, own in failed.items()),
    )
    wrote = judge.own_among({system.name: system.writers for system in systems})
    return JudgedAnswers(
        judge=judge_figures(judge.model.id, DIMENSIONS, names, list(cast.values()), wrote),
        asked=len(common),
        judged=len(judged),
        refused=refused,
        left_out=left_out,
        agreement=agreement(marks, people, DIMENSIONS) if human else None,
        people_unused=len(people.keys() - marks.keys()),
    )


@command("judge")
def judge(
    turns: list[str],
    model: str,
    *,
    votes: int | None = None,
    out_file: Path | None = None,
    human: Path | None = None,
    as_json: bool = False,
) -> Report:
    judged = judge_answers(turns, model, votes, out_file, human)
    questions = f"{judged.judged} of {counted(judged.asked, 'question')} asked of all"
    notes = [f"Means over {questions}: those that every system answered."]
    if judged.people_unused:
        notes.append(f"People marked {counted(judged.people_unused, 'answer')} that the judge did not.")
    refused = ["Refused", *(f"{judged.refused[name]} of {judged.asked}" for name in judged.judge.systems)]
    shown = [judge_table(judged.judge, "Overall", notes, [refused])]
    if left_out := judged.left_out:
        rows = [(one.question, one.problem) for one in left_out[:LEFT_OUT_NAMED]]
        if len(left_out) > LEFT_OUT_NAMED:
            rows.append((f"and {len(left_out) - LEFT_OUT_NAMED} more", ""))
        title = f"{counted(len(left_out), 'question')} without marks"
        shown.append(table(("Question", "Why"), rows, title=title, left=2))
    if judged.agreement:
        shown.append(agreement_table(judged.agreement, "Answers:"))
    return Report(judged, [] if as_json else shown, exit_code=0 if judged.judged else 2)
