"""The note that a visitor is editing, and the one that they deleted last."""

from dataclasses import dataclass, replace
from typing import Self

from assistant.annotations import Annotation
from assistant.storage.reading import Kept


@dataclass(frozen=True)
class NoteEditing:
    """The note being edited, as it was read; `stored_text` is set if another tab has changed it since.

    `erased` can be restored until another note is deleted; `notes_problem` is the reason why a note could
    not be stored. `noted` counts added notes and is part of widget keys, so that adding empties the field.
    """

    edited: Kept[Annotation] | None = None
    stored_text: str | None = None
    erased: Annotation | None = None
    notes_problem: str = ""
    noted: int = 0

    def edit(self, note: Kept[Annotation] | None) -> Self:
        """Start editing a note, or stop with None."""
        return replace(self, edited=note, stored_text=None, notes_problem="")

    def show_conflict(self, current: Kept[Annotation] | None, problem: str) -> Self:
        """Show what another tab has stored beside the visitor's text, which overwrites it if stored again."""
        stored = current.record.note if current else None
        return replace(self, edited=current, stored_text=stored, notes_problem=problem)

    def erase(self, note: Annotation | None) -> Self:
        return replace(self, erased=note, edited=None, stored_text=None, notes_problem="")

    def keep_note(self) -> Self:
        return replace(self, noted=self.noted + 1, notes_problem="")

    def fail_to_keep(self, problem: str) -> Self:
        return replace(self, notes_problem=problem)
