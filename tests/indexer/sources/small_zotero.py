"""A Zotero data directory, made with the table definitions that Zotero itself uses."""

import sqlite3
from collections.abc import Iterable
from pathlib import Path

# From Zotero's resource/schema/userdata.sql and system.sql: names, types and keys as they are there, of the
# tables that hold a library; those for syncing, settings and searching are left out.
SCHEMA = """
CREATE TABLE version (schema TEXT PRIMARY KEY, version INT NOT NULL);
CREATE TABLE itemTypesCombined (itemTypeID INT NOT NULL, typeName TEXT NOT NULL,
  display INT DEFAULT 1 NOT NULL, custom INT NOT NULL, PRIMARY KEY (itemTypeID));
CREATE TABLE fieldsCombined (fieldID INT NOT NULL, fieldName TEXT NOT NULL, label TEXT, fieldFormatID INT,
  custom INT NOT NULL, PRIMARY KEY (fieldID));
CREATE TABLE creatorTypes (creatorTypeID INTEGER PRIMARY KEY, creatorType TEXT);
CREATE TABLE libraries (libraryID INTEGER PRIMARY KEY, type TEXT NOT NULL, editable INT NOT NULL,
  filesEditable INT NOT NULL, version INT NOT NULL DEFAULT 0, storageVersion INT NOT NULL DEFAULT 0,
  lastSync INT NOT NULL DEFAULT 0, archived INT NOT NULL DEFAULT 0);
CREATE TABLE groups (groupID INTEGER PRIMARY KEY, libraryID INT NOT NULL UNIQUE, name TEXT NOT NULL,
  description TEXT NOT NULL, version INT NOT NULL);
CREATE TABLE items (itemID INTEGER PRIMARY KEY, itemTypeID INT NOT NULL,
  dateAdded TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP,
  dateModified TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP,
  clientDateModified TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP, libraryID INT NOT NULL, key TEXT NOT NULL,
  version INT NOT NULL DEFAULT 0, synced INT NOT NULL DEFAULT 0, UNIQUE (libraryID, key));
CREATE TABLE itemDataValues (valueID INTEGER PRIMARY KEY, value UNIQUE);
CREATE TABLE itemData (itemID INT, fieldID INT, valueID, PRIMARY KEY (itemID, fieldID));
CREATE TABLE itemNotes (itemID INTEGER PRIMARY KEY, parentItemID INT, note TEXT, title TEXT);
CREATE TABLE itemAttachments (itemID INTEGER PRIMARY KEY, parentItemID INT, linkMode INT, contentType TEXT,
  charsetID INT, path TEXT, syncState INT DEFAULT 0, storageModTime INT, storageHash TEXT,
  lastProcessedModificationTime INT, lastRead INT);
CREATE TABLE itemAnnotations (itemID INTEGER PRIMARY KEY, parentItemID INT NOT NULL, type INTEGER NOT NULL,
  authorName TEXT, text TEXT, comment TEXT, color TEXT, pageLabel TEXT, sortIndex TEXT NOT NULL,
  position TEXT NOT NULL, isExternal INT NOT NULL);
CREATE TABLE tags (tagID INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
CREATE TABLE itemTags (itemID INT NOT NULL, tagID INT NOT NULL, type INT NOT NULL,
  PRIMARY KEY (itemID, tagID));
CREATE TABLE creators (creatorID INTEGER PRIMARY KEY, firstName TEXT, lastName TEXT, fieldMode INT,
  UNIQUE (lastName, firstName, fieldMode));
CREATE TABLE itemCreators (itemID INT NOT NULL, creatorID INT NOT NULL, creatorTypeID INT NOT NULL DEFAULT 1,
  orderIndex INT NOT NULL DEFAULT 0, PRIMARY KEY (itemID, creatorID, creatorTypeID, orderIndex));
CREATE TABLE collections (collectionID INTEGER PRIMARY KEY, collectionName TEXT NOT NULL,
  parentCollectionID INT DEFAULT NULL, clientDateModified TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP,
  libraryID INT NOT NULL, key TEXT NOT NULL, version INT NOT NULL DEFAULT 0, synced INT NOT NULL DEFAULT 0);
CREATE TABLE collectionItems (collectionID INT NOT NULL, itemID INT NOT NULL,
  orderIndex INT NOT NULL DEFAULT 0, PRIMARY KEY (collectionID, itemID));
CREATE TABLE deletedItems (itemID INTEGER PRIMARY KEY, dateDeleted DEFAULT CURRENT_TIMESTAMP NOT NULL);
"""
TYPES = ("note", "attachment", "annotation", "journalArticle", "conferencePaper", "preprint", "book")
FIELDS = (
    *(
        "title",
        "date",
        "publicationTitle",
        "proceedingsTitle",
        "pages",
        "DOI",
        "url",
        "abstractNote",
        "language",
    ),
    *("extra", "publisher"),
)
LINKED, STORED = 2, 0


class SmallZotero:
    """A data directory that grows by what its methods add; each item gets the key that it is given."""

    def __init__(self, folder: Path, version: int = 123) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.folder = folder
        self.database = sqlite3.connect(folder / "zotero.sqlite")
        self.database.executescript(SCHEMA)
        self._add("version", "userdata", version)
        for number, name in enumerate(TYPES, 1):
            self._add("itemTypesCombined", number, name, 1, 0)
        for number, name in enumerate(FIELDS, 1):
            self._add("fieldsCombined", number, name, None, None, 0)
        for number, name in enumerate(("author", "editor"), 1):
            self._add("creatorTypes", number, name)
        self._add("libraries", 1, "user", 1, 1, 0, 0, 0, 0)
        self._add("libraries", 2, "feed", 1, 1, 0, 0, 0, 0)
        self._add("libraries", 3, "group", 1, 1, 0, 0, 0, 0)
        self._add("groups", 77, 3, "Reading group", "", 1)
        self.database.commit()

    def item(
        self, key: str, kind: str = "journalArticle", *, library: int = 1, authors: str = "", **fields: str
    ) -> int:
        """Add an item; `authors` are "Given Family" with semicolons between."""
        number = self._insert("items", itemTypeID=TYPES.index(kind) + 1, libraryID=library, key=key)
        for name, value in fields.items():
            self.database.execute("INSERT OR IGNORE INTO itemDataValues(value) VALUES (?)", (value,))
            (known,) = self.database.execute(
                "SELECT valueID FROM itemDataValues WHERE value = ?", (value,)
            ).fetchone()
            self._add("itemData", number, FIELDS.index(name) + 1, known)
        for order, name in enumerate(filter(None, authors.split("; "))):
            given, _, family = name.rpartition(" ")
            person = self._insert("creators", firstName=given, lastName=family, fieldMode=0)
            self._add("itemCreators", number, person, 1, order)
        return number

    def file(self, key: str, parent: int | None, path: str, content: bytes | None, mode: int = STORED) -> int:
        number = self._insert("items", itemTypeID=TYPES.index("attachment") + 1, libraryID=1, key=key)
        self._insert("itemAttachments", itemID=number, parentItemID=parent, linkMode=mode, path=path)
        if content is not None:
            target = self.folder / "storage" / key / path.removeprefix("storage:")
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content)
        return number

    def note(self, key: str, parent: int, html: str) -> int:
        number = self._insert("items", itemTypeID=TYPES.index("note") + 1, libraryID=1, key=key)
        self._add("itemNotes", number, parent, html, "")
        return number

    def annotation(self, key: str, parent: int, text: str, comment: str) -> None:
        number = self._insert("items", itemTypeID=TYPES.index("annotation") + 1, libraryID=1, key=key)
        self._add("itemAnnotations", number, parent, 1, "", text, comment, "#ffd400", "1", "00001", "{}", 0)

    def tag(self, item: int, name: str, *, automatic: bool = False) -> None:
        number = self._insert("tags", name=name)
        self._add("itemTags", item, number, int(automatic))

    def collection(self, name: str, items: Iterable[int], parent: int | None = None) -> int:
        number = self._insert(
            "collections", collectionName=name, parentCollectionID=parent, libraryID=1, key=name
        )
        for item in items:
            self._add("collectionItems", number, item, 0)
        return number

    def delete(self, item: int) -> None:
        self.database.execute("INSERT INTO deletedItems(itemID) VALUES (?)", (item,))

    def _add(self, table: str, *values: object) -> None:
        marks = ", ".join("?" * len(values))
        self.database.execute(f"INSERT INTO {table} VALUES ({marks})", values)

    def _insert(self, table: str, **values: object) -> int:
        marks = ", ".join("?" * len(values))
        done = self.database.execute(
            f"INSERT INTO {table}({', '.join(values)}) VALUES ({marks})", tuple(values.values())
        )
        assert done.lastrowid
        return done.lastrowid
