"""Votes kept in a file, so that a judge is asked for none of them twice."""

import json
from collections.abc import Sequence
from dataclasses import asdict
from hashlib import sha256
from pathlib import Path

from pydantic import BaseModel, ConfigDict

from evaluation.answers.judge.ballots import DIMENSIONS
from evaluation.answers.judge.turns import QuestionInContext
from evaluation.input_files import EvaluationError, read_text, record_of
from evaluation.judging import Ballot, Judge, JudgeVote, Mark

_BEGINNING = '{"key": "'
_HINT = "Name the file of votes that an earlier run has written, or one that is not there yet."


class KeptVote(BaseModel):
    """A vote that counted: `key` is what was asked; the marks and what was said are by system.

    `shown` has the systems in the order shown, `asked` the words of the question whose id is `question`.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

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


class KeptVotes:
    """The votes of a file, which need not be there yet; None keeps nothing."""

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._votes = _read(path) if path and path.exists() else {}

    def find(self, key: str, names: Sequence[str]) -> JudgeVote | None:
        kept = self._votes.get(key)
        return kept.vote(names) if kept and kept.is_of(names) else None

    def begin(self) -> None:
        """Make sure that votes can be kept before any is asked for; raises EvaluationError."""
        if self._path:
            text = read_text(self._path) if self._path.exists() else ""
            self._append("\n" if text and not text.endswith("\n") else "")

    def keep(
        self, key: str, judge: Judge, question: QuestionInContext, names: Sequence[str], vote: JudgeVote
    ) -> None:
        """Write a vote at once; one that was discarded is asked for again by the next run."""
        if self._path and not vote.problem:
            kept = {
                "key": key,
                "judge": judge.model.id,
                "question": question.id,
                "asked": question.question,
                "shown": [names[index] for index in vote.order],
                "marks": dict(zip(names, vote.marks, strict=True)),
                "analyses": dict(zip(names, vote.analyses, strict=True)),
                "best": names[vote.best or 0],
                **({"served": vote.served} if vote.served else {}),
            }
            self._append(f"{json.dumps(kept)}\n")

    def _append(self, text: str) -> None:
        assert self._path
        try:
            with self._path.open("a", encoding="utf-8") as file:
                file.write(text)
        except OSError as error:
            raise EvaluationError(f"The file {self._path} cannot be written: {error.strerror}.") from error


def key_of(judge: Judge, ballot: Ballot, number: int, names: Sequence[str]) -> str:
    """Return what tells one asking from all others: who was asked what of whom, for the how-manieth time."""
    asked = [
        judge.model.id,
        asdict(judge.parameters_for(ballot)),
        [asdict(message) for message in ballot.messages],
        number,
        list(names),
    ]
    return sha256(json.dumps(asked).encode()).hexdigest()


def _read(path: Path) -> dict[str, KeptVote]:
    votes = [
        record_of(path, number, line, KeptVote, _HINT)
        for number, line in enumerate(read_text(path, "file of votes").split("\n"), start=1)
        if line.strip() and not _is_torn(line)
    ]
    return {vote.key: vote for vote in votes}


def _is_torn(line: str) -> bool:
    """Return True for the line that a run was writing when it was killed."""
    try:
        json.loads(line)
    except ValueError:
        return line.startswith(_BEGINNING[: len(line)])
    return False
