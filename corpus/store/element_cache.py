"""A cache of documents extracted from papers, by paper, generator and version.

They lie in the corpus folder in a table of their own, which no build publishes, replaces or waits for.
"""

import logging
from collections.abc import Collection, Mapping, Sequence
from dataclasses import astuple, dataclass, fields
from datetime import UTC, datetime
from operator import itemgetter
from pathlib import Path

import pyarrow as pa

from corpus.errors import CorpusError
from corpus.places.address import place_at
from corpus.places.place import Place
from corpus.store import tables
from corpus.store.tables import each_one_of

TABLE = "elements"

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class ElementKey:
    """The source and the generator of a cached document.

    `fingerprint` is of the text that was read, `version` of all else that the generator's reading depends on.
    """

    paper_id: str
    fingerprint: str
    generator: str
    version: str


_KEY = tuple(field.name for field in fields(ElementKey))
_SCHEMA = pa.schema([pa.field(name, pa.string(), nullable=False) for name in (*_KEY, "document", "written")])


class ElementStore:
    """Documents as plain text, shared by all users of a corpus.

    The cache only saves work: if it cannot be read or written, a warning is logged; no method raises. Several
    processes may write at once, because rows are only added; the newest row of a key counts.
    """

    def __init__(self, path: Path | Place) -> None:
        self._path = place_at(path)

    @classmethod
    def open(cls, path: Path | Place) -> "ElementStore":
        """Return the store of the corpus at `path`; its table is made by the first `put`."""
        return cls(path)

    def get(self, keys: Sequence[ElementKey]) -> dict[ElementKey, str]:
        """Return the kept documents of these keys, none if they cannot be read."""
        papers = list(dict.fromkeys(key.paper_id for key in keys))
        try:
            conditions = each_one_of("paper_id", papers)
            rows = [row for where in conditions for row in self._read(_SCHEMA.names, where)]
        except CorpusError as error:
            logger.warning("nothing kept of papers is read: %s", error)
            return {}
        newest = {_key(row): row["document"] for row in sorted(rows, key=itemgetter("written"))}
        return {key: newest[key] for key in keys if key in newest}

    def put(self, documents: Mapping[ElementKey, str]) -> bool:
        """Keep documents; return True if they could be written."""
        if not documents:
            return True
        try:
            tables.add_kept(self._path, TABLE, _rows(documents))
        except (CorpusError, UnicodeEncodeError) as error:
            logger.warning("what was read out of papers is not kept: %s", error)
            return False
        return True

    def keep_only(self, paper_ids: Collection[str]) -> None:
        """Drop the documents of all other papers, and free their disk space."""
        try:
            gone = {row["paper_id"] for row in self._read(["paper_id"])}.difference(paper_ids)
            tables.remove_kept(self._path, TABLE, each_one_of("paper_id", sorted(gone)))
        except CorpusError as error:
            logger.warning("what is kept of papers is not tidied: %s", error)

    def _read(self, columns: list[str], where: str | None = None) -> list[dict[str, str]]:
        table = tables.read_kept(self._path, TABLE, columns, where)
        return [] if table is None else table.to_pylist()


def _rows(documents: Mapping[ElementKey, str]) -> pa.Table:
    now = datetime.now(UTC).isoformat(timespec="microseconds")
    rows = [(*astuple(key), document, now) for key, document in documents.items()]
    columns = zip(*rows, strict=True)
    return pa.table(dict(zip(_SCHEMA.names, map(list, columns), strict=True)), schema=_SCHEMA)


def _key(row: Mapping[str, str]) -> ElementKey:
    return ElementKey(*(row[name] for name in _KEY))
