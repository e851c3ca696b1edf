"""Votes kept in a file, so that a judge is asked for none of them twice."""

import json
from collections.abc import Sequence
from dataclasses import asdict
from hashlib import sha256
from pathlib import Path

from pydantic import BaseModel, ConfigDict

from evaluation.answers.judge.ballots import DIMENSIONS
from evaluation.answers.judge.turns import QuestionInContext
from evaluation.judging import Ballot, Judge, JudgeVote, Mark
from evaluation.kept_lines import KeptLines

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
        self._lines = KeptLines(path, "key") if path else None
        votes = self._lines.read(KeptVote, "file of votes", _HINT) if self._lines else []
        self._votes = {vote.key: vote for vote in votes}

    def find(self, key: str, names: Sequence[str]) -> JudgeVote | None:
        kept = self._votes.get(key)
        return kept.vote(names) if kept and kept.is_of(names) else None

    def begin(self) -> None:
        """Make sure that votes can be kept before any is asked for; raises EvaluationError."""
        if self._lines:
            self._lines.begin()

    def keep(
        self, key: str, judge: Judge, question: QuestionInContext, names: Sequence[str], vote: JudgeVote
    ) -> None:
        """Write a vote at once; one that was discarded is asked for again by the next run."""
        if self._lines and not vote.problem:
            kept: dict[str, object] = {
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
            self._lines.add(kept)


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
