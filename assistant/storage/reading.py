"""Readers' notes on papers, reading lists, and followed searches."""

import hashlib
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, fields, replace
from typing import Any, Generic, Literal, TypeVar

import sqlalchemy as sa
from pydantic import TypeAdapter
from sqlalchemy.exc import IntegrityError

from assistant.annotations import LONGEST_NOTE, LONGEST_QUOTE, MOST_ANNOTATIONS, Annotation, of_papers
from assistant.comparing.records import Comparison
from assistant.file_format import record_from_json, record_to_json
from assistant.records import AssistantError, Conversation
from assistant.storage.owned import OwnedStore, TakenError, is_id, new_id, now, tidy_title
from assistant.storage.schema import METADATA, table_of_wholes
from assistant.storage.turns import take_turn
from corpus.records import Scope
from corpus.text import storable

Kind = Literal["annotation", "listed", "followed"]
KINDS: Mapping[Kind, str] = {"annotation": "note", "listed": "on the reading list", "followed": "followed"}
MOST_FOLLOWED = 50
MOST_ON_A_PAPER = 200
LONGEST_QUERY = 500

_READING = table_of_wholes(
    "reading",
    sa.Column("kind", sa.String(16), nullable=False),
    sa.Column("paper", sa.Text, nullable=False),  # "" for what is followed
    sa.Column("revision", sa.Integer, nullable=False),
    sa.Column("seen", sa.String(64), nullable=False),  # of what is followed: the papers that were there
    sa.Column("document", sa.Text, nullable=False),
)
# Sets of paper ids, one row for each state of a corpus that some follower last saw.
_PAPER_SETS = sa.Table(
    "paper_sets",
    METADATA,
    sa.Column("digest", sa.String(64), primary_key=True),
    sa.Column("ids", sa.LargeBinary, nullable=False),
)
# The query of every screen, built once.
_KEPT = sa.select(_READING.c.id, _READING.c.document, _READING.c.revision, _READING.c.seen).where(
    _READING.c.owner == sa.bindparam("owner"), _READING.c.kind == sa.bindparam("kind")
)
_KEPT_ON_PAPER = _KEPT.where(_READING.c.paper == sa.bindparam("paper"))


@dataclass(frozen=True, slots=True)
class ListedPaper:
    """A paper on a reading list; `read` is when it was marked as read, "" if not; ISO 8601 in UTC."""

    paper_id: str
    title: str
    added: str
    read: str = ""


@dataclass(frozen=True, slots=True)
class Followed:
    """A followed search: its query, "" for none, and its scope, which may name an author."""

    title: str
    query: str = ""
    scope: Scope = field(default_factory=Scope)


Record = TypeVar("Record", Annotation, ListedPaper, Followed)
Trail = TypeVar("Trail", Conversation, Comparison)


@dataclass(frozen=True, slots=True)
class Kept(Generic[Record]):
    """A reader's stored record; `revision` grows with every change.

    For a followed search, `seen` is the digest of the corpus's papers when its reader last looked.
    """

    id: str
    record: Record
    revision: int = 0
    seen: str = ""


@dataclass(frozen=True, slots=True)
class ReadingSummary:
    """A reader's record in a list."""

    id: str
    title: str
    kind: Kind
    paper: str
    updated: str


@dataclass(frozen=True, slots=True)
class PaperSet:
    """The ids of all papers of a corpus, compressed, and their digest."""

    digest: str
    packed: bytes

    @classmethod
    def of(cls, ids: Iterable[str]) -> "PaperSet":
        text = "\n".join(sorted(ids)).encode()
        return cls(hashlib.sha256(text).hexdigest(), zlib.compress(text, 6))


class ReadingError(AssistantError):
    """A reader's notes or lists could not be stored or read; the message says why and what to do."""


class ChangedElsewhereError(ReadingError):
    """A note was changed or deleted in another tab; `now` is its current state, None if deleted."""

    def __init__(self, current: Kept[Annotation] | None) -> None:
        what = "changed" if current else "deleted"
        super().__init__(f"This note was {what} in another tab meanwhile. Nothing of yours is lost.")
        self.now = current


_ANNOTATIONS, _LISTED, _FOLLOWED = TypeAdapter(Annotation), TypeAdapter(ListedPaper), TypeAdapter(Followed)


class ReadingStore(OwnedStore[ReadingSummary]):
    """The store of readers' notes, lists and follows; every method raises ReadingError.

    Unlike other records, these can be opened by their owner only.
    """

    keeps = "notes"
    tables = (_READING, _PAPER_SETS)
    error = ReadingError
    summary = ReadingSummary
    listing = sa.select(*(_READING.c[field.name] for field in fields(ReadingSummary)))

    # Highlights and notes.

    def annotate(self, owner: str, annotation: Annotation) -> Kept[Annotation]:
        """Store a highlight or a note, under its own id if that is free, and return it."""
        held = self.annotations(owner, annotation.paper_id)
        _check_papers({annotation.paper_id: len(held) + 1})
        identifier = annotation.id if is_id(annotation.id) else new_id()
        kept = _as_made(_tidy(replace(annotation, id=identifier)))
        try:
            self._insert(_annotation_row(owner, kept), from_file=False)
        except TakenError:
            kept = replace(kept, id=new_id())
            self._insert(_annotation_row(owner, kept), from_file=False)
        return Kept(kept.id, kept)

    def annotations(self, owner: str, paper_id: str = "") -> tuple[Kept[Annotation], ...]:
        """Return an owner's highlights and notes, of one paper or of all, as they were made."""
        stored = self._kept(owner, "annotation", _ANNOTATIONS, paper_id)
        return tuple(sorted(stored, key=lambda kept: kept.record.made))

    def annotations_on(self, owner: str, paper_ids: Iterable[str]) -> tuple[Annotation, ...]:
        """Return an owner's highlights and notes on some papers, in the order of these."""
        return of_papers((kept.record for kept in self.annotations(owner)), paper_ids)

    def write_note(self, owner: str, before: Kept[Annotation], note: str) -> Kept[Annotation]:
        """Change the text of a note; raises ChangedElsewhereError if it is not as `before`."""
        after = _tidy(replace(before.record, note=note, changed=now()))
        with self._unchanged(owner, before, document=record_to_json(_ANNOTATIONS, after)) as connection:
            self._check_quota(connection, before.id)
        return Kept(before.id, after, before.revision + 1)

    def erase(self, owner: str, before: Kept[Annotation]) -> None:
        """Delete a highlight or a note; raises ChangedElsewhereError if it is not as `before`."""
        with self._unchanged(owner, before) as connection:
            connection.execute(sa.delete(_READING).where(_READING.c.id == before.id))
        self._empty_log()

    def take_in(self, owner: str, annotations: Iterable[Annotation]) -> int:
        """Store the notes that the owner does not have yet, all or none, and return their number."""
        stored = [annotation.record for annotation in self.annotations(owner)]
        known = {_content_key(annotation) for annotation in stored}
        new = {
            _content_key(annotation): annotation
            for annotation in map(_tidy, tuple(annotations)[:MOST_ANNOTATIONS])
        }
        rows = [
            _annotation_row(owner, _as_made(replace(annotation, id=new_id())))
            for key, annotation in new.items()
            if key not in known
        ]
        if not rows:
            return 0
        _check_papers(
            Counter([annotation.paper_id for annotation in stored] + [row["paper"] for row in rows])
        )
        with self._writing() as connection:
            connection.execute(sa.insert(_READING), rows)
            self._check_quota(connection, rows[0]["id"])
        return len(rows)

    # The reading list.

    def list_paper(self, owner: str, paper_id: str, title: str) -> None:
        """Put a paper on the list, unless it is there."""
        record = ListedPaper(paper_id, tidy_title(title), now())
        row = _row(_own_id(owner, "listed", paper_id), owner, "listed", record.title)
        self._once({**row, "paper": paper_id, "document": record_to_json(_LISTED, record)})

    def unlist_paper(self, owner: str, paper_id: str) -> None:
        self._drop(owner, _own_id(owner, "listed", paper_id))

    def mark_read(self, owner: str, paper_id: str, *, read: bool) -> None:
        """Mark a listed paper as read or unread."""
        for kept in self._kept(owner, "listed", _LISTED, paper_id):
            record = replace(kept.record, read=now() if read else "")
            with self._changing(kept.id, document=record_to_json(_LISTED, record), updated=now()):
                pass

    def reading_list(self, owner: str) -> tuple[ListedPaper, ...]:
        """Return an owner's list: unread papers first, the one last added first."""
        papers = [kept.record for kept in self._kept(owner, "listed", _LISTED)]
        newest = sorted(papers, key=lambda kept: kept.added, reverse=True)
        return tuple(sorted(newest, key=lambda kept: bool(kept.read)))

    # Follows.

    def follow(self, owner: str, followed: Followed, there: PaperSet) -> None:
        """Follow a search from now on; the papers in `there` count as seen."""
        if len(self.followed(owner)) >= MOST_FOLLOWED:
            raise ReadingError(f"At most {MOST_FOLLOWED} searches are followed. Stop following one of them.")
        followed = replace(followed, title=tidy_title(followed.title), query=followed.query[:LONGEST_QUERY])
        subject = record_to_json(_FOLLOWED, replace(followed, title=""))
        row = _row(_own_id(owner, "followed", subject), owner, "followed", followed.title)
        document = record_to_json(_FOLLOWED, followed)
        if self._once({**row, "seen": there.digest, "document": document}):
            with self._writing() as connection:
                self._remember(connection, there)

    def unfollow(self, owner: str, identifier: str) -> None:
        self._drop(owner, identifier)
        with self._writing() as connection:
            _forget_unused(connection)

    def followed(self, owner: str) -> tuple[Kept[Followed], ...]:
        """Return the follows of an owner, by title."""
        stored = self._kept(owner, "followed", _FOLLOWED)
        return tuple(sorted(stored, key=lambda kept: kept.record.title.lower()))

    def see(self, owner: str, there: PaperSet, identifier: str = "") -> None:
        """Mark all papers in `there` as seen by an owner, for one search or for all."""
        condition = sa.and_(_READING.c.owner == owner, _READING.c.kind == "followed")
        if identifier:
            condition = sa.and_(condition, _READING.c.id == identifier)
        with self._writing() as connection:
            connection.execute(sa.update(_READING).where(condition).values(seen=there.digest))
            self._remember(connection, there)
            _forget_unused(connection)

    def papers_of(self, digest: str) -> frozenset[str] | None:
        """Return the paper ids of a stored set, None if it is unknown."""
        packed = self._value(sa.select(_PAPER_SETS.c.ids).where(_PAPER_SETS.c.digest == digest))
        return frozenset(zlib.decompress(packed).decode().split("\n")) if packed else None

    def delete_all(self, owner: str) -> int:
        """Delete everything of an owner and return the number of records."""
        with self._writing() as connection:
            count = connection.execute(sa.delete(_READING).where(_READING.c.owner == owner)).rowcount
            _forget_unused(connection)
        self._empty_log()
        return count

    def _kept(
        self, owner: str, kind: Kind, adapter: TypeAdapter[Record], paper: str = ""
    ) -> tuple[Kept[Record], ...]:
        parameters = {"owner": owner, "kind": kind} | ({"paper": paper} if paper else {})
        with self._reading() as connection:
            rows = connection.execute(_KEPT_ON_PAPER if paper else _KEPT, parameters).all()
        return tuple(
            Kept(identifier, record_from_json(adapter, document, "note"), revision, seen)
            for identifier, document, revision, seen in rows
        )

    def _once(self, row: Mapping[str, Any]) -> bool:
        """Store a record with a fixed id, and return whether it is new."""
        try:
            self._insert(row, from_file=False)
        except TakenError:
            return False
        return True

    def _remember(self, connection: sa.Connection, there: PaperSet) -> None:
        take_turn(connection, _PAPER_SETS.name)
        known = sa.select(_PAPER_SETS.c.digest).where(_PAPER_SETS.c.digest == there.digest)
        if connection.scalar(known) is not None:
            return
        try:
            with connection.begin_nested():
                connection.execute(sa.insert(_PAPER_SETS), {"digest": there.digest, "ids": there.packed})
        except IntegrityError:
            return  # Another process has just stored it.
        self._check_room(connection)

    def _drop(self, owner: str, identifier: str) -> None:
        with self._writing() as connection:
            owned = sa.and_(_READING.c.owner == owner, _READING.c.id == identifier)
            connection.execute(sa.delete(_READING).where(owned))
        self._empty_log()

    @contextmanager
    def _unchanged(self, owner: str, before: Kept[Annotation], **values: str) -> Iterator[sa.Connection]:
        """Change a note; raises ChangedElsewhereError if it is not as `before`."""
        held = _READING.c
        condition = sa.and_(held.owner == owner, held.id == before.id, held.revision == before.revision)
        change = (
            sa.update(_READING).where(condition).values(revision=before.revision + 1, updated=now(), **values)
        )
        try:
            with self._writing() as connection:
                if not connection.execute(change).rowcount:
                    raise _StaleError
                yield connection
        except _StaleError:
            stored = self.annotations(owner, before.record.paper_id)
            current = next((kept for kept in stored if kept.id == before.id), None)
            raise ChangedElsewhereError(current) from None


class _StaleError(Exception):
    """A note is not as it was when it was read."""


def with_notes(store: ReadingStore, owner: str, record: Trail) -> Trail:
    """Return a conversation or a comparison with its reader's notes on the cited papers."""
    return replace(record, notes=store.annotations_on(owner, (paper.id for paper in record.papers)))


def keep_notes(
    reading: ReadingStore, owner: str, trail: Conversation | Comparison, store: OwnedStore[Any], stored: str
) -> int:
    """Store the notes of a file and return how many were new; on failure the record `stored` is deleted."""
    try:
        return reading.take_in(owner, trail.notes)
    except ReadingError:
        store.delete(stored)
        raise


def _tidy(annotation: Annotation) -> Annotation:
    return replace(
        annotation,
        paper_title=tidy_title(annotation.paper_title),
        quoted=storable(annotation.quoted)[:LONGEST_QUOTE],
        note=storable(annotation.note).strip()[:LONGEST_NOTE],
    )


def _as_made(annotation: Annotation) -> Annotation:
    """Return an annotation with the times that it lacks."""
    made = annotation.made or now()
    return replace(annotation, made=made, changed=annotation.changed or made)


def _check_papers(counts: Mapping[str, int]) -> None:
    """Raise ReadingError if a paper would have too many notes."""
    if max(counts.values(), default=0) > MOST_ON_A_PAPER:
        raise ReadingError(
            f"A paper has at most {MOST_ON_A_PAPER} notes. Delete one that is not needed, then add this."
        )


def _content_key(annotation: Annotation) -> tuple[str, str, str]:
    """Return the fields by which two annotations are the same for a reader."""
    return annotation.paper_id, annotation.quoted, annotation.note


def _annotation_row(owner: str, annotation: Annotation) -> dict[str, Any]:
    document = record_to_json(_ANNOTATIONS, annotation)
    row = _row(annotation.id, owner, "annotation", annotation.paper_title)
    return {**row, "paper": annotation.paper_id, "document": document}


def _row(identifier: str, owner: str, kind: Kind, title: str) -> dict[str, Any]:
    facts = {"id": identifier, "owner": owner, "title": title, "updated": now(), "kind": kind}
    return {**facts, "paper": "", "revision": 0, "seen": ""}


def _own_id(owner: str, kind: Kind, subject: str) -> str:
    """Return the fixed id of a record that an owner has at most once."""
    return hashlib.sha256(f"{owner}\n{kind}\n{subject}".encode()).hexdigest()


def _forget_unused(connection: sa.Connection) -> None:
    take_turn(connection, _PAPER_SETS.name)
    used = sa.select(_READING.c.seen).distinct()
    connection.execute(sa.delete(_PAPER_SETS).where(_PAPER_SETS.c.digest.not_in(used)))
