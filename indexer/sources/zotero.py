"""A Zotero library, read from its data directory: items with collections, tags, notes and files.

Zotero locks its database while it runs, so a copy is read.
"""

import re
import shutil
import sqlite3
import tempfile
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path, PurePosixPath, PureWindowsPath
from types import NoneType

from corpus.records import Author
from corpus.text import storable
from indexer.errors import SourceError
from indexer.sources.containment import file_within, is_file
from indexer.sources.formats.names import named
from indexer.sources.library import LibraryItem, best_first

# The supported versions of Zotero's schema: Zotero 5 to 8.
OLDEST_SCHEMA, NEWEST_SCHEMA = 80, 130
DATABASE = "zotero.sqlite"
_JOURNALS = ("-wal", "-journal")
NO_PAPERS = ("note", "annotation")
# Zotero's item types in BibTeX's terms.
KINDS = {
    "book": "book",
    "bookSection": "incollection",
    "conferencePaper": "inproceedings",
    "journalArticle": "article",
    "magazineArticle": "article",
    "newspaperArticle": "article",
    "report": "techreport",
    "thesis": "phdthesis",
}
VENUES = (
    *("publicationTitle", "proceedingsTitle", "bookTitle", "encyclopediaTitle", "dictionaryTitle"),
    *("conferenceName", "repository", "university", "institution", "websiteTitle", "publisher"),
)
_LINKED_FILE, _LINKED_ADDRESS = 2, 3
# An item's key, which also names its folder in the storage.
_KEY = re.compile(r"[A-Z0-9]{8}")
# SQLite columns hold any type, and the file is foreign.
_TEXT, _NO_TEXT, _NUMBER, _NO_NUMBER = (str,), (str, NoneType), (int,), (int, NoneType)
_VALUE = (str, int, float)


@dataclass(frozen=True, slots=True)
class ZoteroLibrary:
    """The items of a data directory, and remarks on the whole."""

    items: tuple[LibraryItem, ...]
    remarks: tuple[str, ...] = ()


@dataclass(slots=True)
class _Item:
    """The fields of one item, collected from the tables."""

    key: str
    kind: str
    fields: dict[str, str] = field(default_factory=dict)
    creators: list[tuple[str, Author]] = field(default_factory=list)
    labels: list[str] = field(default_factory=list)
    keywords: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    files: list[Path] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)
    outside: list[str] = field(default_factory=list)


def read_zotero(directory: Path, *, only: str = "", linked: Path | None = None) -> ZoteroLibrary:
    """Read a data directory: all items, or those under a collection or tag `only`.

    Linked files are read only below the folder `linked`. Raises SourceError for a directory without a
    database, and for a damaged database or one with an unknown schema.
    """
    if not (directory / DATABASE).is_file():
        raise SourceError(f"{directory} is no data directory of Zotero: it has no {DATABASE}.")
    with _copied(directory) as database:
        try:
            return _read(database, directory, only, linked)
        except sqlite3.Error as error:
            raise SourceError(_unreadable(database, directory, error)) from error


@contextmanager
def _copied(directory: Path) -> Iterator[sqlite3.Connection]:
    with tempfile.TemporaryDirectory(prefix="zotero-") as folder:
        copy = Path(folder) / DATABASE
        try:
            shutil.copyfile(directory / DATABASE, copy)
            for suffix in _JOURNALS:
                if (journal := directory / f"{DATABASE}{suffix}").is_file():
                    shutil.copyfile(journal, Path(f"{copy}{suffix}"))
        except OSError as error:
            raise SourceError(f"{directory / DATABASE} cannot be read: {error.strerror}.") from error
        with closing(sqlite3.connect(copy)) as database:
            database.row_factory = sqlite3.Row
            database.text_factory = partial(str, encoding="utf-8", errors="replace")
            yield database


def _read(database: sqlite3.Connection, directory: Path, only: str, linked: Path | None) -> ZoteroLibrary:
    version = _version(database)
    if version < OLDEST_SCHEMA:
        raise SourceError(
            f"{directory} was last opened by a Zotero that is too old (its tables have version {version}; "
            f"{OLDEST_SCHEMA} is the oldest that is read). Open it once with a newer Zotero."
        )
    tables = _Tables(database)
    items = _items(tables)
    nameless = [f"of number {number}" for number in tables.unsound if number not in items]
    _fill(items, tables)
    _add_files(items, tables, directory / "storage", linked)
    sound = [item for number, item in items.items() if number not in tables.unsound]
    selected = tuple(_library_item(item) for item in sound if _is_selected(item, only))
    keys = [items[number].key for number in items if number in tables.unsound]
    remarks = [
        f"The item {key} is left out: its rows of the database hold something else than they should."
        for key in map(storable, [*nameless, *keys])
    ]
    if only and not selected:
        raise SourceError(f"Nothing in {directory} is in a collection or has a tag called {only!r}.")
    newer = (
        f"This Zotero is newer than those known here (tables of version {version}, known up to "
        f"{NEWEST_SCHEMA}): look whether everything came."
    )
    return ZoteroLibrary(selected, ((newer,) if version > NEWEST_SCHEMA else ()) + tuple(remarks))


class _Tables:
    """A database whose rows are checked as they are read.

    `unsound` are the items with a value of a wrong type in one of their rows, by the rows' `id`.
    """

    def __init__(self, database: sqlite3.Connection) -> None:
        self._database = database
        self.unsound: dict[object, None] = {}

    def rows(self, query: str, **columns: tuple[type, ...]) -> Iterator[sqlite3.Row]:
        """Yield the rows whose `columns` have the given types."""
        for row in self._database.execute(query):
            if all(isinstance(row[name], types) for name, types in columns.items()):
                yield row
            else:
                self.unsound[row["id"]] = None


def _version(database: sqlite3.Connection) -> int:
    row = database.execute("SELECT version FROM version WHERE schema = 'userdata'").fetchone()
    version = row["version"] if row else 0
    if not isinstance(version, int):
        raise sqlite3.DatabaseError("the version of its tables is no number")
    return version


def _unreadable(database: sqlite3.Connection, directory: Path, error: sqlite3.Error) -> str:
    """Return the reason why a database cannot be read."""
    name = directory / DATABASE
    try:
        version = _version(database)
    except sqlite3.Error:
        return f"{name} is damaged or no database of Zotero: {error}."
    if version > NEWEST_SCHEMA:
        return (
            f"{name} is of a newer Zotero, whose tables (version {version}) are not known here: {error}. "
            "Export the library as CSL-JSON or BibTeX with its files, and use: paper-trail index references"
        )
    return f"{name} is damaged: {error}. Let Zotero repair it, or restore {name}.bak."


def _items(tables: _Tables) -> dict[int, _Item]:
    """Return the items that may be papers, and standalone files, by their numbers in the database."""
    items: dict[int, _Item] = {}
    for row in tables.rows(
        "SELECT i.itemID AS id, i.key AS key, t.typeName AS kind, g.groupID AS library "
        "FROM items i JOIN itemTypesCombined t ON t.itemTypeID = i.itemTypeID "
        "JOIN libraries l ON l.libraryID = i.libraryID LEFT JOIN groups g ON g.libraryID = i.libraryID "
        "LEFT JOIN itemAttachments a ON a.itemID = i.itemID "
        "WHERE l.type IN ('user', 'group') AND i.itemID NOT IN (SELECT itemID FROM deletedItems) "
        "AND a.parentItemID IS NULL ORDER BY i.libraryID, i.itemID",
        id=_NUMBER,
        key=_TEXT,
        kind=_TEXT,
        library=_NO_NUMBER,
    ):
        if row["kind"] in NO_PAPERS:
            continue
        key = f"{row['library']}-{row['key']}" if row["library"] else row["key"]
        items[row["id"]] = _Item(key, row["kind"])
        if not _KEY.fullmatch(row["key"]):
            tables.unsound[row["id"]] = None
    return items


def _fill(items: Mapping[int, _Item], tables: _Tables) -> None:
    for row in tables.rows(
        "SELECT d.itemID AS id, f.fieldName AS name, v.value AS value FROM itemData d "
        "JOIN fieldsCombined f ON f.fieldID = d.fieldID JOIN itemDataValues v ON v.valueID = d.valueID",
        name=_TEXT,
        value=_VALUE,
    ):
        if item := items.get(row["id"]):
            item.fields[row["name"]] = str(row["value"])
    for row in tables.rows(
        "SELECT ic.itemID AS id, c.firstName AS given, c.lastName AS family, t.creatorType AS role "
        "FROM itemCreators ic JOIN creators c ON c.creatorID = ic.creatorID "
        "JOIN creatorTypes t ON t.creatorTypeID = ic.creatorTypeID ORDER BY ic.itemID, ic.orderIndex",
        given=_NO_TEXT,
        family=_NO_TEXT,
        role=_TEXT,
    ):
        if item := items.get(row["id"]):
            author = named((row["given"] or "").strip(), (row["family"] or "").strip())
            item.creators.append((row["role"], author))
    paths = _collection_paths(tables)
    for row in tables.rows(
        "SELECT ci.itemID AS id, ci.collectionID AS collection, c.collectionName AS name "
        "FROM collectionItems ci LEFT JOIN collections c ON c.collectionID = ci.collectionID",
        collection=_NUMBER,
        name=_NO_TEXT,
    ):
        if (item := items.get(row["id"])) and row["collection"] in paths:
            item.labels.append(paths[row["collection"]])
    for row in tables.rows(
        "SELECT it.itemID AS id, it.type AS type, t.name AS name FROM itemTags it "
        "JOIN tags t ON t.tagID = it.tagID ORDER BY t.name",
        type=_NO_NUMBER,
        name=_TEXT,
    ):
        if item := items.get(row["id"]):
            # Tags of type 1 were imported with the item.
            (item.keywords if row["type"] else item.labels).append(row["name"])
    for row in tables.rows(
        "SELECT parentItemID AS id, note FROM itemNotes WHERE parentItemID IS NOT NULL "
        "AND itemID NOT IN (SELECT itemID FROM deletedItems) ORDER BY itemID",
        note=_NO_TEXT,
    ):
        if item := items.get(row["id"]):
            item.notes.append(row["note"] or "")


def _collection_paths(tables: _Tables) -> dict[int, str]:
    """Return the path of each collection, with its parents: "Retrieval / Dense".

    Collections whose name is not text are left out, and with them their items.
    """
    rows = {
        row["number"]: (row["name"], row["parent"])
        for row in tables.rows(
            "SELECT NULL AS id, collectionID AS number, collectionName AS name, "
            "parentCollectionID AS parent FROM collections WHERE typeof(collectionName) = 'text'",
            number=_NUMBER,
        )
    }

    def path(number: int | None, seen: frozenset[int] = frozenset()) -> Iterator[str]:
        if number in rows and number is not None and number not in seen:
            name, parent = rows[number]
            yield from path(parent, seen | {number})
            yield name

    return {number: " / ".join(path(number)) for number in rows}


def _add_files(items: Mapping[int, _Item], tables: _Tables, storage: Path, linked: Path | None) -> None:
    """Add the items' files, the names of missing files, and the annotations in them."""
    owners: dict[int, _Item] = {}
    for row in tables.rows(
        "SELECT coalesce(a.parentItemID, a.itemID) AS id, a.itemID AS number, a.linkMode AS mode, "
        "a.path AS path, i.key AS key FROM itemAttachments a JOIN items i ON i.itemID = a.itemID "
        "WHERE a.itemID NOT IN (SELECT itemID FROM deletedItems) ORDER BY a.itemID",
        mode=_NO_NUMBER,
        path=_NO_TEXT,
        key=_TEXT,
    ):
        item = items.get(row["id"])
        if item is None or not row["path"] or row["mode"] == _LINKED_ADDRESS:
            continue
        owners[row["number"]] = item
        file = _file(row, storage, linked)
        if file and is_file(file):
            item.files.append(file)
        elif file or (row["mode"] == _LINKED_FILE and linked is None):
            item.missing.append(_named(row["path"]))
        else:
            item.outside.append(_named(row["path"]))
    for row in tables.rows(
        "SELECT coalesce(a.parentItemID, a.itemID) AS id, n.parentItemID AS file, n.text AS text, "
        "n.comment AS comment FROM itemAnnotations n JOIN itemAttachments a ON a.itemID = n.parentItemID "
        "ORDER BY n.parentItemID, n.sortIndex",
        text=_NO_TEXT,
        comment=_NO_TEXT,
    ):
        if owner := owners.get(row["file"]):
            owner.notes.append("\n".join(filter(None, (row["text"], row["comment"]))))


def _file(row: sqlite3.Row, storage: Path, linked: Path | None) -> Path | None:
    """Return an attachment's path, in its folder of the storage or below `linked`, else None."""
    path: str = row["path"]
    if row["mode"] == _LINKED_FILE:
        return file_within(linked, path.removeprefix("attachments:")) if linked else None
    folder = file_within(storage, row["key"]) if _KEY.fullmatch(row["key"]) else None
    return file_within(folder, path.removeprefix("storage:")) if folder else None


def _named(path: str) -> str:
    """Return a file's name for the report, without its folders."""
    bare = path.removeprefix("storage:").removeprefix("attachments:")
    return PureWindowsPath(PurePosixPath(bare).name).name or "a file"


def _is_selected(item: _Item, only: str) -> bool:
    """Return True if an item is under the collection or has the tag `only`, or `only` is empty."""
    if item.kind == "attachment" and not (item.files or item.missing):
        return False
    return not only or any(label == only or label.startswith(f"{only} / ") for label in item.labels)


def _library_item(item: _Item) -> LibraryItem:
    fields = defaultdict(str, item.fields)
    title = "" if item.kind == "attachment" else fields["title"] or fields["caseName"] or fields["subject"]
    return LibraryItem(
        kind=KINDS.get(item.kind, ""),
        key=item.key,
        title=title,
        authors=tuple(_authors(item.creators)),
        date=fields["date"],
        venue=next((fields[name] for name in VENUES if name in fields), ""),
        pages=fields["pages"],
        doi=fields["DOI"],
        url=fields["url"],
        extra=fields["extra"],
        abstract=fields["abstractNote"],
        language=fields["language"],
        labels=tuple(item.labels),
        keywords=tuple(item.keywords),
        notes=tuple(item.notes),
        files=best_first(item.files),
        missing=tuple(item.missing),
        outside=tuple(item.outside),
        source=f"Zotero item {item.key}",
    )


def _authors(creators: Iterable[tuple[str, Author]]) -> Iterator[Author]:
    """Yield the authors; without any, as for proceedings, all creators."""
    listed = [(role, author) for role, author in creators if author.name]
    written = [author for role, author in listed if role == "author"]
    yield from written or (author for _, author in listed)
