"""What several systems answered to the same questions, read from the trails of their conversations."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from hashlib import sha256
from pathlib import Path

from assistant.records import Turn
from assistant.trail import from_json
from corpus.records import Scope
from corpus.text import shortened
from evaluation.input_files import EvaluationError, read_trail

LONGEST_NAMED = 100


@dataclass(frozen=True, slots=True)
class QuestionInContext:
    """A question, what was asked before it in its conversation, the oldest first, and what it was asked of.

    Spaces and line ends do not tell two of them apart.
    """

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
    """A system under its name, with its turns by what they answer."""

    name: str
    turns: Mapping[QuestionInContext, Turn]

    @property
    def writers(self) -> frozenset[str]:
        """The models that wrote its answers, by the ids that they were asked by and that servers said."""
        turns = self.turns.values()
        served = {call.served for turn in turns for call in turn.calls if call.served}
        return frozenset(served | {turn.provenance.generator for turn in turns})


@dataclass(frozen=True, slots=True)
class AnsweredQuestion:
    """A question that every system was asked, with their turns in the order of the systems."""

    question: QuestionInContext
    turns: tuple[Turn, ...]

    @property
    def is_answered_by_all(self) -> bool:
        return all(map(is_answer, self.turns))


def is_answer(turn: Turn) -> bool:
    """Return True if a turn has something to mark: a refusal makes no claim."""
    return turn.answer.refusal is None and bool(turn.answer.text.strip())


def read_systems(given: Sequence[str]) -> tuple[AnsweringSystem, ...]:
    """Return the systems of files or folders of trails, each given by its path or as NAME=PATH.

    What has the same NAME is one system, of which the first answer to a question counts. Raises
    EvaluationError.
    """
    paths: dict[str, list[Path]] = {}
    for name, path in map(_named, given):
        if not name and path.stem in paths:
            raise EvaluationError(
                f"{path} has the name of another system. Name them apart: --turns NAME={path}, or give two"
                " files of one system the same NAME."
            )
        paths.setdefault(name or path.stem, []).append(path)
    return tuple(AnsweringSystem(name, _turns(name, files)) for name, files in paths.items())


def _named(given: str) -> tuple[str, Path]:
    """Return the name that was given with a path, "" for none."""
    name, equals, path = given.partition("=")
    return (name, Path(path)) if name and equals and not Path(given).exists() else ("", Path(given))


def _turns(name: str, paths: Sequence[Path]) -> dict[QuestionInContext, Turn]:
    turns: dict[QuestionInContext, Turn] = {}
    for path in (file for given in paths for file in _files(given)):
        for question, turn in _questions(read_trail(path, "trail", from_json).turns):
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


def _files(path: Path) -> Sequence[Path]:
    return sorted(path.glob("*.json")) if path.is_dir() else (path,)


def _questions(turns: Sequence[Turn]) -> Iterator[tuple[QuestionInContext, Turn]]:
    asked = [" ".join(turn.question.split()) for turn in turns]
    for index, turn in enumerate(turns):
        yield QuestionInContext(asked[index], tuple(asked[:index]), turn.scope), turn


def asked_of_all(systems: Sequence[AnsweringSystem]) -> list[AnsweredQuestion]:
    """Return the questions that every system was asked, in the order of the first."""
    return [
        AnsweredQuestion(question, tuple(system.turns[question] for system in systems))
        for question in systems[0].turns
        if all(question in system.turns for system in systems)
    ]


def not_asked_of_all(systems: Sequence[AnsweringSystem]) -> dict[QuestionInContext, tuple[str, ...]]:
    """Return the questions that some systems were not asked, with the names of these."""
    questions = dict.fromkeys(question for system in systems for question in system.turns)
    lacking = {one: tuple(system.name for system in systems if one not in system.turns) for one in questions}
    return {question: names for question, names in lacking.items() if names}
