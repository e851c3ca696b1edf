"""The note that a visitor writes at, and the one that they have deleted last."""

from dataclasses import dataclass, replace
from typing import Self

from assistant.annotations import Annotation
from assistant.storage.reading import Kept


@dataclass(frozen=True)
class NotesInHand:
    """The note that is `edited`, as it was read; what `stands_elsewhere` if another tab has changed it since.

    `erased` can be put back until another is; `notes_problem` says why a note could not be kept. `noted`
    counts what was added and stands in keys of fields: an added note leaves an empty one.
    """

    edited: Kept[Annotation] | None = None
    stands_elsewhere: str | None = None
    erased: Annotation | None = None
    notes_problem: str = ""
    noted: int = 0

    def edit(self, note: Kept[Annotation] | None) -> Self:
        """Have a note written at, or none any more."""
        return replace(self, edited=note, stands_elsewhere=None, notes_problem="")

    def meet(self, current: Kept[Annotation] | None, problem: str) -> Self:
        """Have another tab's words of the note beside the visitor's; written again, theirs stand."""
        said = current.record.note if current else None
        return replace(self, edited=current, stands_elsewhere=said, notes_problem=problem)

    def erase(self, note: Annotation | None) -> Self:
        return replace(self, erased=note, edited=None, stands_elsewhere=None, notes_problem="")

    def keep_note(self) -> Self:
        return replace(self, noted=self.noted + 1, notes_problem="")

    def fail_to_keep(self, problem: str) -> Self:
        return replace(self, notes_problem=problem)
