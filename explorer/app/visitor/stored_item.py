"""The stored thing a visitor has open, a conversation or a comparison, and how far they are with it."""

from dataclasses import dataclass, replace
from typing import Self


@dataclass(frozen=True)
class StoredItem:
    """The conversation or comparison that a visitor has open.

    It `is_kept` in the store, `is_anothers` if it was begun in another browser, `is_imported` from a file.
    `visited` are the addresses that were followed in this visit, `missing_id` one that leads nowhere.
    `opened` counts what was opened and stands in keys of fields: none shows what was written in another.
    `menus_closed` stands in keys of menus: a menu under another key is a closed one.
    """

    title: str = ""
    is_kept: bool = False
    is_anothers: bool = False
    is_imported: bool = False
    notes: tuple[str, ...] = ()
    missing_id: str = ""
    visited: frozenset[str] = frozenset()
    wants_deletion: bool = False
    import_problem: str = ""
    opened: int = 0
    menus_closed: int = 0

    def visit(self, *addresses: str) -> Self:
        return replace(self, visited=self.visited | set(addresses))

    def miss(self, identifier: str) -> Self:
        """Have an address that leads nowhere."""
        return replace(self, missing_id=identifier)

    def note(self, *notes: str) -> Self:
        return replace(self, notes=tuple(filter(None, notes)))

    def tell_origin(self, *, is_anothers: bool = False, is_imported: bool = False) -> Self:
        return replace(self, is_anothers=is_anothers, is_imported=is_imported)

    def rename(self, title: str) -> Self:
        return replace(self, title=title)

    def want_deletion(self, *, wanted: bool) -> Self:
        return replace(self, wants_deletion=wanted)

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
