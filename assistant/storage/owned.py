"""Stores of records with owners: lists, renaming, deletion, quotas."""

import secrets
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, Generic, Self, TypeVar

import sqlalchemy as sa
from sqlalchemy import func
from sqlalchemy.exc import IntegrityError

from assistant.storage.database import Database, database_of, stored_bytes
from assistant.storage.schema import IMPORTED, OVER_LIBRARIES
from assistant.storage.turns import take_turn
from corpus.places.disk import MB, NoRoomError, check_free_disk, refusals
from corpus.settings import Settings
from corpus.text import storable

LONGEST_TITLE = 200


class TakenError(Exception):
    """The id of a new record is taken."""


@dataclass(frozen=True, slots=True)
class Quota:
    """The storage limits of one owner: rows, and millions of characters; 0 is no limit.

    `megabytes_of_all` limits the whole database, `free_disk_megabytes` is to stay free on its disk.
    """

    rows: int = 0
    megabytes: int = 0
    megabytes_of_all: int = 0
    free_disk_megabytes: int = 0

    @classmethod
    def of(cls, settings: Settings) -> "Quota":
        return cls(
            settings.stored_rows_per_visitor,
            settings.stored_megabytes_per_visitor,
            settings.stored_megabytes_of_all,
            settings.free_disk_megabytes,
        )


NO_QUOTA = Quota()
# The share of the owner's quota up to which guests may continue a record by its link.
GUEST_SHARE = 0.5


Summary = TypeVar("Summary")


class OwnedStore(Database, Generic[Summary]):
    """Records of one kind, each with an owner.

    The first table is a `table_of_wholes`; a second table may hold their parts. `listing` selects the fields
    of a `summary`.

    Lists are per owner, but anyone who knows an id can open and continue the record: ids cannot be guessed.
    Only the owner (`owner_of`) may rename or delete it.
    """

    listing: ClassVar[sa.Select[Any]]
    summary: type[Summary]
    singular: ClassVar[str] = ""  # of `keeps`, if that is not the word without its "s"

    def __init__(self, url: str | Path, quota: Quota = NO_QUOTA) -> None:
        """Open the database at an SQLAlchemy URL, or the SQLite file at a path."""
        super().__init__(url)
        self._quota = quota

    @classmethod
    def open(cls, settings: Settings, quota: Quota = NO_QUOTA) -> Self:
        """Open the database of the settings; raises the store's error."""
        return cls(database_of(settings), quota)

    def list(self, owner: str, limit: int = 50, offset: int = 0) -> tuple[Summary, ...]:
        """Return the summaries of an owner's records, the one last changed first."""
        parameters = {"owner": owner, "limit": limit, "offset": offset}
        with self._reading() as connection:
            rows = connection.execute(self._owned, parameters).all()
        return tuple(self.summary(*row) for row in rows)

    @cached_property
    def _owned(self) -> sa.Select[Any]:
        # Built once: every screen uses it, and building takes longer than running it.
        held = self.tables[0].c
        owned = self.listing.where(held.owner == sa.bindparam("owner"))
        ordered = owned.order_by(held.updated.desc(), held.id)
        return ordered.limit(sa.bindparam("limit")).offset(sa.bindparam("offset"))

    def rename(self, identifier: str, title: str) -> None:
        """Change the title of a record; raises this store's error if there is none."""
        with self._changing(identifier, title=tidy_title(title)):
            pass

    def owner_of(self, identifier: str) -> str | None:
        """Return the owner of a record, None if there is no such record."""
        held = self.tables[0].c
        owner: str | None = self._value(sa.select(held.owner).where(held.id == identifier))
        return owner

    def has_owner(self, owner: str) -> bool:
        """Return True if an owner has any record."""
        held = self.tables[0].c
        return self._value(sa.select(held.id).where(held.owner == owner).limit(1)) is not None

    def change_owner(self, before: str, after: str) -> None:
        """Transfer all records of one owner to another."""
        held = self.tables[0]
        with self._writing() as connection:
            connection.execute(sa.update(held).where(held.c.owner == before).values(owner=after))

    def is_imported(self, identifier: str) -> bool:
        """Return True if the record came from a file."""
        return self._value(sa.select(IMPORTED.c.id).where(IMPORTED.c.id == identifier)) is not None

    def delete(self, identifier: str) -> bool:
        """Delete a record and return whether it existed; nothing of it stays in an SQLite file."""
        with self._writing() as connection:
            removed = self.remove_from(connection, (identifier,))
        self._empty_log()
        return removed > 0

    @classmethod
    def remove_from(cls, connection: sa.Connection, identifiers: Sequence[str]) -> int:
        """Delete records within a caller's transaction, and return how many there were."""
        whole, removed = cls.tables[0], 0
        for identifier in identifiers:
            for parts in cls._parts():
                (whole_id,) = (column for column in parts.columns if column.foreign_keys)
                connection.execute(sa.delete(parts).where(whole_id == identifier))
            for marks in (IMPORTED, OVER_LIBRARIES):
                connection.execute(sa.delete(marks).where(marks.c.id == identifier))
            removed += connection.execute(sa.delete(whole).where(whole.c.id == identifier)).rowcount
        return removed

    def library_of(self, identifier: str) -> str:
        """Return the id of the library that a record is over, "" for none; it may be deleted by now."""
        held = OVER_LIBRARIES.c
        return self._value(sa.select(held.library_id).where(held.id == identifier)) or ""

    @classmethod
    def _parts(cls) -> tuple[sa.Table, ...]:
        return tuple(table for table in cls.tables if table.foreign_keys)

    def _insert(
        self,
        whole: Mapping[str, Any],
        parts: Sequence[Mapping[str, Any]] = (),
        *,
        from_file: bool,
        note: Callable[[sa.Connection], None] = lambda _: None,
    ) -> None:
        """Store a record with its parts, and what `note` adds; raises TakenError if the id is taken."""
        with self._writing() as connection:
            try:
                connection.execute(sa.insert(self.tables[0]), whole)
            except IntegrityError as error:
                raise TakenError from error
            if from_file:
                connection.execute(sa.insert(IMPORTED), {"id": whole["id"]})
            if parts:
                connection.execute(sa.insert(self.tables[1]), parts)
            note(connection)
            self._check_quota(connection, whole["id"])

    @contextmanager
    def _changing(
        self, identifier: str, *, by: Sequence[str] = (), grows: bool = True, **values: str
    ) -> Iterator[sa.Connection]:
        """Update a record's row, which locks it, and yield the connection for further changes.

        Raises this store's error if there is no such record, and what `_check_quota` raises if it `grows`.
        `by` are all names of the one who changes it, none if that is the owner.
        """
        whole = self.tables[0]
        with self._writing() as connection:
            changed = connection.execute(sa.update(whole).where(whole.c.id == identifier).values(**values))
            if not changed.rowcount:
                name = self.singular or self.keeps.removesuffix("s")
                raise self.error(f"There is no {name} {identifier!r}. It may have been deleted.")
            yield connection
            if grows:
                self._check_quota(connection, identifier, by)

    def _check_quota(self, connection: sa.Connection, identifier: str, by: Sequence[str] = ()) -> None:
        """Raise this store's error, which rolls back the transaction, if a record's owner is over quota.

        A guest (`by` does not include the owner) may fill only GUEST_SHARE of it.
        """
        self._check_room(connection)
        quota = self._quota
        if not (quota.rows or quota.megabytes):
            return
        whole = self.tables[0]
        owner = connection.scalar(sa.select(whole.c.owner).where(whole.c.id == identifier))
        is_guest = bool(by) and owner not in by
        share = GUEST_SHARE if is_guest else 1
        take_turn(connection, f"{whole.name} of {owner}")
        rows = characters = 0
        for table, joined in ((whole, whole), *((parts, parts.join(whole)) for parts in self._parts())):
            texts = (func.length(column) for column in table.c if isinstance(column.type, sa.Text))
            size = func.coalesce(func.sum(sum(texts, sa.literal(0))), 0)
            query = sa.select(func.count(), size).select_from(joined).where(whole.c.owner == owner)
            counted, summed = connection.execute(query).one()
            rows, characters = rows + counted, characters + summed
        if 0 < quota.rows * share < rows or 0 < quota.megabytes * MB * share < characters:
            if is_guest:
                raise self.error(
                    f"This cannot be stored: it was begun by somebody else, whose {self.keeps} leave no more "
                    "room for what others add by a link. Begin one of your own."
                )
            most = [f"{quota.rows:,} entries"] if quota.rows else []
            most += [f"{quota.megabytes} MB"] if quota.megabytes else []
            raise self.error(
                f"This cannot be stored: {' and '.join(most)} of {self.keeps} are kept for one visitor. "
                f"Delete {self.keeps} that are not needed, then store it again."
            )

    def _check_room(self, connection: sa.Connection) -> None:
        """Raise this store's error if the whole database exceeds its limit, or its disk is full."""
        quota = self._quota
        if 0 < quota.megabytes_of_all * MB < stored_bytes(connection, quota.megabytes_of_all * MB):
            refusals.warn(
                "Nothing more of visitors' is stored: the database holds more than %d MB. Delete what is not "
                "needed, or change PAPER_TRAIL_STORED_MEGABYTES_OF_ALL.",
                quota.megabytes_of_all,
            )
            raise self.error(
                f"This cannot be stored: {quota.megabytes_of_all:,} MB are kept for all visitors together, "
                "and that much is there. Delete what is not needed, or try again later."
            )
        try:
            if self._file:
                check_free_disk(self._file, quota.free_disk_megabytes)
        except NoRoomError as error:
            raise self.error(str(error)) from None


def new_id() -> str:
    """Return an id that cannot be guessed: whoever knows it can open the record."""
    # A leading dash would be read as an option on the command line.
    while (identifier := secrets.token_urlsafe(16)).startswith("-"):
        pass
    return identifier


def is_id(text: str) -> bool:
    return len(text) == len(new_id()) and text.isascii() and text.replace("-", "").replace("_", "").isalnum()


def tidy_title(title: str) -> str:
    """Return a title on one line without control characters, cut at LONGEST_TITLE."""
    line = " ".join(storable(title).split())
    return line if len(line) <= LONGEST_TITLE else f"{line[: LONGEST_TITLE - 1]}…"


def now() -> str:
    """Return the current time as ISO 8601 in UTC."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")
