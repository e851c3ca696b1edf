"""The rows of kept libraries: owner, title, readers, and the records over them."""

import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import sqlalchemy as sa
from sqlalchemy import func

from assistant.records import AssistantError
from assistant.storage.comparisons import ComparisonStore
from assistant.storage.conversations import ConversationStore
from assistant.storage.library_links import LIBRARIES, READERS
from assistant.storage.owned import OwnedStore, is_id, now, tidy_title
from assistant.storage.schema import IDENTITY, OVER_LIBRARIES
from assistant.storage.turns import take_turn

# Readers by a link that are remembered, the latest.
MOST_READERS = 1_000
_OVER: tuple[type[OwnedStore[Any]], ...] = (ConversationStore, ComparisonStore)


class LibraryError(AssistantError):
    """A library could not be kept, read or changed; the message says why and what to do."""


class RenamedError(LibraryError):
    """The library has been renamed elsewhere meanwhile."""


@dataclass(frozen=True, slots=True)
class LibrarySummary:
    """A kept library in a list; `link` is the secret that others may read it by, "" for none."""

    id: str
    title: str
    updated: str
    link: str


@dataclass(frozen=True, slots=True)
class StoredLibrary:
    """A kept library with its owner."""

    id: str
    owner: str
    title: str
    link: str


@dataclass(frozen=True, slots=True)
class KeptLibrary:
    """A library that somebody may read: their own, or one by its link."""

    id: str
    title: str
    is_own: bool


@dataclass(frozen=True, slots=True)
class OverLibrary:
    """The ids of all owners' conversations and comparisons over a library."""

    conversations: tuple[str, ...] = ()
    comparisons: tuple[str, ...] = ()


def _seen() -> sa.CompoundSelect[Any]:
    """Return the query for the libraries of some `owners` and those linked, each the last changed first."""
    held, read = LIBRARIES.c, READERS.c
    owners: sa.BindParameter[str] = sa.bindparam("owners", expanding=True)
    own = sa.select(held.id, held.title, sa.literal(1).label("is_own"), held.updated.label("since"))
    linked = sa.select(held.id, held.title, sa.literal(0), read.opened).join(READERS)
    linked = linked.where(read.reader.in_(owners), read.link == held.link, held.owner.not_in(owners))
    both = sa.union_all(own.where(held.owner.in_(owners)), linked)
    return both.order_by(sa.desc("is_own"), sa.desc("since"))


class LibraryStore(OwnedStore[LibrarySummary]):
    """Kept libraries; every method raises LibraryError.

    Unlike a conversation, a library cannot be opened by its id alone: `reads` checks who may.
    """

    keeps = "libraries"
    singular = "library"
    tables = (LIBRARIES, READERS)
    error = LibraryError
    summary = LibrarySummary
    listing = sa.select(LIBRARIES.c.id, LIBRARIES.c.title, LIBRARIES.c.updated, LIBRARIES.c.link)
    seen = _seen()

    @cached_property
    def database(self) -> str:
        """The unique id of the database, "" if it has none."""
        return self._value(sa.select(IDENTITY.c.id).limit(1)) or ""

    def keep(self, identifier: str, owner: str, title: str, most: int = 0) -> None:
        """Store a new library; raises LibraryError if its owner has `most` already, 0 for no limit."""
        row = {"id": identifier, "owner": owner, "title": tidy_title(title), "updated": now(), "link": ""}
        with self._writing() as connection:
            connection.execute(sa.insert(LIBRARIES), row)
            self._check_room(connection)
            take_turn(connection, f"libraries of {owner}")
            count = sa.select(func.count()).select_from(LIBRARIES).where(LIBRARIES.c.owner == owner)
            if 0 < most < (connection.scalar(count) or 0):
                raise LibraryError(
                    f"{most} libraries are the most that are kept for one person. Delete one that is not "
                    "needed, or add these documents to one."
                )

    def get(self, identifier: str) -> StoredLibrary | None:
        held = LIBRARIES.c
        query = sa.select(held.id, held.owner, held.title, held.link).where(held.id == identifier)
        with self._reading() as connection:
            row = connection.execute(query).one_or_none()
        return None if row is None else StoredLibrary(*row)

    def everyones(self) -> tuple[StoredLibrary, ...]:
        """Return all libraries, for the operator."""
        held = LIBRARIES.c
        query = sa.select(held.id, held.owner, held.title, held.link).order_by(held.updated.desc())
        with self._reading() as connection:
            return tuple(StoredLibrary(*row) for row in connection.execute(query).all())

    def touch(self, identifier: str) -> None:
        """Set a library's time of change; raises LibraryError if it has been deleted."""
        with self._changing(identifier, grows=False, updated=now()):
            pass

    def rename_from(self, identifier: str, before: str, title: str) -> None:
        """Rename a library whose title is `before`; raises RenamedError if it is another."""
        with self._changing(identifier, updated=now()) as connection:
            is_it = LIBRARIES.c.id == identifier
            called = connection.scalar(sa.select(LIBRARIES.c.title).where(is_it))
            if called != before:
                raise RenamedError(
                    f"It has been renamed elsewhere meanwhile, to “{called}”. Rename it again if it is to be "
                    "called otherwise."
                )
            connection.execute(sa.update(LIBRARIES).where(is_it).values(title=tidy_title(title)))

    def share(self, identifier: str) -> str:
        """Return the secret of a library's link, created if there is none."""
        with self._changing(identifier, id=identifier) as connection:
            is_it = LIBRARIES.c.id == identifier
            link = connection.scalar(sa.select(LIBRARIES.c.link).where(is_it)) or secrets.token_urlsafe(24)
            connection.execute(sa.update(LIBRARIES).where(is_it).values(link=link))
        return link

    def unshare(self, identifier: str) -> None:
        """Revoke the link of a library."""
        with self._changing(identifier, grows=False, link="") as connection:
            connection.execute(sa.delete(READERS).where(READERS.c.library_id == identifier))

    def open_by_link(self, link: str, reader: str) -> str:
        """Register a reader by a link, and return the library's id, "" if the link is not valid."""
        if not link:
            return ""
        library_id: str | None = self._value(sa.select(LIBRARIES.c.id).where(LIBRARIES.c.link == link))
        if library_id is None:
            return ""
        with self._changing(library_id, id=library_id) as connection:
            held = READERS.c
            connection.execute(
                sa.delete(READERS).where((held.library_id == library_id) & (held.reader == reader))
            )
            row = {"library_id": library_id, "reader": reader, "link": link, "opened": now()}
            connection.execute(sa.insert(READERS), row)
            kept = sa.select(held.reader).where(held.library_id == library_id)
            kept = kept.order_by(held.opened.desc()).limit(MOST_READERS)
            readers = connection.scalars(kept).all()
            if len(readers) == MOST_READERS:
                last = (held.library_id == library_id) & held.reader.not_in(readers)
                connection.execute(sa.delete(READERS).where(last))
        return library_id

    def reads(self, identifier: str, owners: Sequence[str]) -> StoredLibrary | None:
        """Return a library if one of `owners` owns it or has its current link, else None."""
        stored = self.get(identifier) if is_id(identifier) else None
        if stored is None or stored.owner in owners:
            return stored
        held = READERS.c
        has_link = (held.library_id == identifier) & held.reader.in_(owners) & (held.link == stored.link)
        is_reader = bool(stored.link) and self._value(sa.select(held.reader).where(has_link).limit(1))
        return stored if is_reader else None

    def seen_by(self, owners: Sequence[str]) -> tuple[KeptLibrary, ...]:
        """Return the libraries of `owners`, then those that one of them has the link to."""
        with self._reading() as connection:
            rows = connection.execute(self.seen, {"owners": owners}).all()
        return tuple({row.id: KeptLibrary(row.id, row.title, bool(row.is_own)) for row in rows}.values())

    def over(self, identifier: str) -> OverLibrary:
        """Return the conversations and comparisons stored over a library."""
        with self._reading() as connection:
            return _over(connection, identifier)

    def delete_with_all(self, identifier: str) -> OverLibrary:
        """Delete a library with all records over it; nothing of it stays in an SQLite file."""
        with self._changing(identifier, grows=False, link="") as connection:
            over = _over(connection, identifier)
            for store, ids in zip(_OVER, (over.conversations, over.comparisons), strict=True):
                store.remove_from(connection, ids)
            connection.execute(sa.delete(READERS).where(READERS.c.library_id == identifier))
            connection.execute(sa.delete(OVER_LIBRARIES).where(OVER_LIBRARIES.c.library_id == identifier))
            connection.execute(sa.delete(LIBRARIES).where(LIBRARIES.c.id == identifier))
        self._empty_log()
        return over


def _over(connection: sa.Connection, identifier: str) -> OverLibrary:
    def ids(whole: sa.Table) -> tuple[str, ...]:
        query = sa.select(whole.c.id).join(OVER_LIBRARIES, OVER_LIBRARIES.c.id == whole.c.id)
        found = connection.scalars(query.where(OVER_LIBRARIES.c.library_id == identifier))
        return tuple(found.all())

    return OverLibrary(*(ids(store.tables[0]) for store in _OVER))
