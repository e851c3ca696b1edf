"""The stored item that a visitor has open, a conversation or a comparison."""

from dataclasses import dataclass, replace
from typing import Self


@dataclass(frozen=True)
class StoredItem:
    """The conversation or comparison that a visitor has open.

    It `is_kept` if stored, `is_anothers` if begun in another browser, `is_imported` if from a file. `visited`
    are the ids and links followed in this visit, `missing_id` is an id that is not stored. `opened` counts
    opened items and is part of widget keys, so that no field shows another item's text; `menus_closed` is
    part of the keys of menus, so that increasing it closes them.
    """

    title: str = ""
    is_kept: bool = False
    is_anothers: bool = False
    is_imported: bool = False
    notes: tuple[str, ...] = ()
    missing_id: str = ""
    visited: frozenset[str] = frozenset()
    confirms_deletion: bool = False
    import_problem: str = ""
    opened: int = 0
    menus_closed: int = 0

    def visit(self, *addresses: str) -> Self:
        return replace(self, visited=self.visited | set(addresses))

    def miss(self, identifier: str) -> Self:
        """Set the id in the address for which nothing is stored."""
        return replace(self, missing_id=identifier)

    def note(self, *notes: str) -> Self:
        return replace(self, notes=tuple(filter(None, notes)))

    def set_origin(self, *, is_anothers: bool = False, is_imported: bool = False) -> Self:
        return replace(self, is_anothers=is_anothers, is_imported=is_imported)

    def rename(self, title: str) -> Self:
        return replace(self, title=title)

    def confirm_deletion(self, *, wanted: bool) -> Self:
        return replace(self, confirms_deletion=wanted)

    def refuse_import(self, problem: str) -> Self:
        return replace(self, import_problem=problem)

    def close_menus(self) -> Self:
        return replace(self, menus_closed=self.menus_closed + 1)

    def leave(self) -> Self:
        """Return an item with nothing open, of the same visit."""
        return replace(
            self,
            **vars(StoredItem(visited=self.visited, opened=self.opened + 1, menus_closed=self.menus_closed)),
        )
