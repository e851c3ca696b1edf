"""Questions with the texts that may answer them, and which of these do, as JSON lines."""

from pathlib import Path
from typing import Self

from pydantic import BaseModel, Field, StrictInt, model_validator

from evaluation.input_files import EvaluationError, read_json_lines


class EvidenceRow(BaseModel, frozen=True, extra="ignore"):
    """A question and its candidates; `relevant` has the indices of those that answer it, if any does.

    `history` is what was said before, the oldest first. Candidates of several papers have their titles in
    `titles`; those of one paper share `title`. Rows of one `group` (a paper, a document) are to stay together
    where a file is split.
    """

    set: str = "all"
    group: str = ""
    question: str = Field(min_length=1)
    title: str = ""
    history: tuple[str, ...] = ()
    titles: tuple[str, ...] = ()
    candidates: tuple[str, ...] = Field(min_length=1)
    relevant: tuple[StrictInt, ...]

    @property
    def candidate_titles(self) -> tuple[str, ...]:
        """The title of the paper of each candidate."""
        return self.titles or (self.title,) * len(self.candidates)

    @model_validator(mode="after")
    def _name_own_candidates(self) -> Self:
        count = len(self.candidates)
        if self.titles and len(self.titles) != count:
            raise ValueError(f"there are {len(self.titles)} titles for {count} candidates")
        for index in self.relevant:
            if not 0 <= index < count:
                raise ValueError(f"relevant names candidate {index}, and they are numbered 0 to {count - 1}")
        return self


def read_rows(path: Path) -> tuple[EvidenceRow, ...]:
    """Read the rows of a file; raises EvaluationError that names the line at fault."""
    rows = read_json_lines(path, EvidenceRow, "Each line has question, candidates and relevant.")
    if not any(row.relevant for row in rows):
        raise EvaluationError(f"{path} has no question with a relevant candidate.")
    return tuple(rows)
