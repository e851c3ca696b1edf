"""The tables, conditions and indices of the corpus in LanceDB; the only file that imports lancedb.

The import takes three seconds, which most commands do not need: it waits until a corpus is opened.
"""

import logging
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from datetime import timedelta
from itertools import groupby
from typing import Any, Literal

import pyarrow as pa

from corpus.errors import CorpusError
from corpus.places.place import Place
from corpus.records import Scope, parse_topic_key
from corpus.store.manifest import rebuild_advice
from corpus.text import spaced, write_out_numbers

# Lance subtracts a version from this for its file's name, so that the newest is listed first.
_LARGEST_VERSION = 2**64 - 1
KEEP_VERSIONS = timedelta(days=3650)  # old versions are what a replay checks out
# The end of LanceDB's file that describes a version of a table.
_VERSION_END = b"LANC"
_ROWS_PER_BATCH = 2048
_ADDITIONS_KEPT = 32
# Readers of a table that no build publishes have opened it a moment ago.
_KEPT_FOR_READERS = timedelta(hours=1)
# Columns by which rows are found, and the kind of LanceDB's index that each has.
_FILTERS = {
    "id": "BTree",
    "collection_id": "Bitmap",
    "year": "Bitmap",
    "topic_keys": "LabelList",
    "venue": "Bitmap",
    "author_names": "LabelList",
    "language": "Bitmap",
    "labels": "LabelList",
}
_INDICES: dict[str, dict[str, str]] = {
    "papers": {"doi": "BTree", "arxiv_id": "BTree", **_FILTERS},
    "passages": {"indexed": "FTS", "paper_id": "BTree", **_FILTERS},
    "links": {"citing": "BTree", "cited": "BTree"},
}

logger = logging.getLogger(__name__)


def connect(place: Place) -> Any:
    import lancedb  # noqa: PLC0415 - three seconds

    found = place.connection()
    return lancedb.connect(found.uri, storage_options=dict(found.options) or None)


def open_published(place: Place, name: str, published: int) -> Any:
    """Open a table; drop versions after the published one that a power loss left incomplete."""
    try:
        return connect(place).open_table(name)
    except RuntimeError:
        # LanceDB always reads the newest version first.
        for file in (place / f"{name}.lance" / "_versions").files("*.manifest"):
            if _version(file) > published and not file.read_bytes().endswith(_VERSION_END):
                logger.warning("removing %s, which was never published and is not whole", file)
                file.delete()
        return connect(place).open_table(name)


def _version(file: Place) -> int:
    """Return the version that a file describes: its name counts up, or down from the largest number."""
    stem = file.name.partition(".")[0]
    number = int(stem) if stem.isdecimal() else 0
    return min(number, 2**64 - 1 - number)


@contextmanager
def _failing(message: str, *errors: type[Exception]) -> Iterator[None]:
    """Log the given errors of LanceDB, and raise CorpusError with a message instead."""
    try:
        yield
    except errors as error:
        logger.warning("%s: %s", type(error).__name__, error)
        raise CorpusError(message) from error


def opening(place: Place) -> AbstractContextManager[None]:
    """Raise CorpusError if tables are missing or damaged."""
    message = f"The corpus at {place} is damaged: its tables cannot be opened. {rebuild_advice(place)}"
    if place.is_shared:
        message = (
            f"The tables of the corpus at {place} cannot be opened. Whether the storage can be reached is "
            "said by: paper-trail doctor"
        )
    return _failing(message, OSError, RuntimeError, ValueError)


def writing(place: Place) -> AbstractContextManager[None]:
    """Raise CorpusError if the folder cannot be written."""
    what = "its rights" if place.is_shared else "its permissions and the space on its disk"
    message = (
        f"The corpus folder {place} cannot be written. Check {what}; what was published before is still "
        "there."
    )
    return _failing(message, OSError, RuntimeError)


def _keeping(place: Place, name: str) -> AbstractContextManager[None]:
    """Raise CorpusError if a table beside the published ones cannot be used."""
    message = (
        f"The table {name!r} in {place} cannot be used. Check the folder's permissions and its disk; no "
        "build needs this table, and it can be deleted."
    )
    return _failing(message, OSError, RuntimeError, ValueError)


def _reading(table: Any) -> AbstractContextManager[None]:
    """Raise CorpusError if a table's files are damaged or gone."""
    message = (
        f"The table {table.name!r} of the corpus cannot be read: its files are damaged, deleted, or of a "
        "version that was dropped since. Open the corpus again; if that does not help, move its folder "
        "away and build it again."
    )
    return _failing(message, OSError, RuntimeError)


def versions_gone(place: Place, versions: Mapping[str, int]) -> list[str]:
    """Return a message for each of these versions of tables that does not exist."""
    with opening(place):
        connection = connect(place)
        opened = {name: connection.open_table(name) for name in versions}
    return [
        f"version {version} of the table {name!r} does not exist"
        for name, version in versions.items()
        if not _has_version(opened[name], version)
    ]


def _has_version(table: Any, version: int) -> bool:
    try:
        table.checkout(version)
    except (RuntimeError, TypeError, ValueError):
        return False
    return True


def scan(table: Any, columns: list[str], where: str | None = None) -> pa.Table:
    """Return all rows of a table that meet a condition; raises CorpusError, as all reads do."""
    with _reading(table):
        return _rows(table, columns, where).to_arrow()


def scan_batches(table: Any, columns: list[str], where: str | None = None) -> Iterator[pa.RecordBatch]:
    """Yield all rows of a table that meet a condition, a few at a time."""
    with _reading(table):
        yield from _rows(table, columns, where).to_batches(batch_size=_ROWS_PER_BATCH)


def _rows(table: Any, columns: list[str], where: str | None) -> Any:
    query = table.search().select(columns)
    return query.where(where) if where is not None else query


def count(table: Any) -> int:
    """Return the number of rows of a table."""
    with _reading(table):
        return int(table.count_rows())


def scan_numbered(table: Any, columns: list[str]) -> Iterator[pa.RecordBatch]:
    """Yield all rows of a table a few at a time, with their numbers in this version as `_rowid`."""
    with _reading(table):
        yield from _rows(table, columns, None).with_row_id(True).to_batches(batch_size=_ROWS_PER_BATCH)


def rows_at(table: Any, row_ids: Sequence[int], columns: list[str]) -> pa.Table:
    """Return rows by their numbers (`_rowid`) in this version, in no particular order."""
    if not row_ids:
        return pa.table({})
    with _reading(table):
        return table.take_row_ids(list(row_ids)).select(columns).with_row_id().to_arrow()


def matching(
    table: Any, words: str, scope: Scope, limit: int, *, is_all: bool = False
) -> tuple[list[int], list[float]]:
    """Return the rows that share words with a text, or all words, and their BM25 scores."""
    from lancedb.query import FullTextOperator, MatchQuery  # noqa: PLC0415 - see connect

    # A MatchQuery reads nothing in the words as query syntax.
    operator = FullTextOperator.AND if is_all else FullTextOperator.OR
    query = MatchQuery(spaced(write_out_numbers(words)), "indexed", operator=operator)
    with _reading(table):
        search = table.search(query, query_type="fts").select(["_score"]).with_row_id(True).limit(limit)
        where = condition(scope, "paper_id")
        found = (search.where(where, prefilter=True) if where else search).to_arrow()
    return found["_rowid"].to_pylist(), found["_score"].to_pylist()


def quoted(value: str) -> str:
    """Return `value` as an SQL string literal; half a surrogate pair becomes "?", which no id has."""
    return "'" + value.replace("'", "''").encode("utf-8", "replace").decode() + "'"


def one_of(column: str, values: Iterable[str]) -> str:
    return f"{column} IN ({', '.join(map(quoted, values))})"


def identified_by(papers: Sequence[str], dois: Sequence[str], arxiv: Sequence[str]) -> Iterator[str]:
    """Yield the conditions for papers with these ids, DOIs or arXiv ids of any version."""
    if papers:
        yield one_of("id", papers)
    if dois:
        yield one_of("doi", [form for doi in dois for form in (doi, doi.lower(), doi.upper())])
    for identifier in arxiv:
        first, last = quoted(f"{identifier}v"), quoted(f"{identifier}w")
        yield f"arxiv_id = {quoted(identifier)} OR (arxiv_id >= {first} AND arxiv_id < {last})"


def each_one_of(column: str, values: Sequence[str], at_once: int = 500) -> Iterator[str]:
    """Yield conditions of limited length that together are `one_of`."""
    for start in range(0, len(values), at_once):
        yield one_of(column, values[start : start + at_once])


def _any_of(column: str, values: Iterable[str]) -> str:
    """Return the condition that a list column holds one of some values."""
    return f"array_has_any({column}, make_array({', '.join(map(quoted, values))}))"


def condition(scope: Scope | None, paper_column: Literal["id", "paper_id"]) -> str | None:
    """Return `scope` as an SQL condition with every value quoted."""
    if scope is None:
        return None
    columns = {
        "collection_id": scope.collections,
        paper_column: scope.papers,
        "venue": scope.venues,
        "language": scope.languages,
    }
    conditions = [one_of(column, values) for column, values in columns.items() if values]
    if scope.years:
        # The column has 32 bits: a larger year would be an error instead of finding nothing.
        first, last = (min(max(int(year), 0), 9999) for year in scope.years)
        conditions.append(f"year >= {first} AND year <= {last}")
    for _, keys in groupby(sorted(scope.topics), key=lambda key: parse_topic_key(key)[0]):
        conditions.append(_any_of("topic_keys", keys))
    if scope.authors:
        conditions.append(_any_of("author_names", scope.authors))
    if scope.labels:
        conditions.append(_any_of("labels", scope.labels))
    return " AND ".join(conditions) or None


def bring_indices_up_to_date(tables: Mapping[str, Any]) -> None:
    """Compact tables, add new rows to their indices and make missing indices, in parallel."""
    with ThreadPoolExecutor(len(tables)) as threads:
        for future in [threads.submit(_bring_up_to_date, name, table) for name, table in tables.items()]:
            future.result()


def _bring_up_to_date(name: str, table: Any) -> None:
    from lancedb import index as indices  # noqa: PLC0415 - see connect

    table.optimize(cleanup_older_than=KEEP_VERSIONS)
    rows = table.count_rows()
    if not rows:
        return
    indexed = {column for index in table.list_indices() for column in index.columns}
    for column, kind in _INDICES.get(name, {}).items():
        if column not in indexed:
            table.create_index(column, config=getattr(indices, kind)(), replace=True)
    for index in table.list_indices():
        # Corpora of 2026 may have it; vectors are compared in memory now (corpus/store/passage_index.py).
        if "vector" in index.columns:
            table.drop_index(index.name)


def drop_manifests_but_newest(place: Place, name: str, table: Any) -> None:
    """Delete the manifests of all versions of a table but the newest, so that no version names their files.

    LanceDB goes by the clock, and keeps versions from before the clock was set back as if from the future.
    """
    version = int(table.version)
    newest = {f"{version}.manifest", f"{_LARGEST_VERSION - version:020}.manifest"}
    for manifest in (place / f"{name}.lance" / "_versions").files("*.manifest"):
        if manifest.name not in newest:
            manifest.delete()


def rows_without_index(table: Any, column: str) -> int:
    """Return the number of rows missing from the index of a column."""
    names = [index.name for index in table.list_indices() if column in index.columns]
    statistics = table.index_stats(names[0]) if names else None
    return int(statistics.num_unindexed_rows) if statistics else int(table.count_rows())


def read_kept(place: Place, name: str, columns: list[str], where: str | None = None) -> pa.Table | None:
    """Return the present rows of a table beside the published ones; None if there is none."""
    with _keeping(place, name):
        table = _kept(place, name)
        return None if table is None else _rows(table, columns, where).to_arrow()


def add_kept(place: Place, name: str, rows: pa.Table) -> None:
    """Add rows to a table beside the published ones; make it if needed."""
    with _keeping(place, name):
        table = connect(place).create_table(name, schema=rows.schema, exist_ok=True)
        table.add(rows)
        # Every addition is a separate file, which slows down each search.
        if table.stats()["fragment_stats"]["num_fragments"] > _ADDITIONS_KEPT:
            table.optimize(cleanup_older_than=_KEPT_FOR_READERS)


def remove_kept(place: Place, name: str, conditions: Iterable[str]) -> None:
    """Remove the rows that meet a condition, and files that are no longer needed."""
    with _keeping(place, name):
        if (table := _kept(place, name)) is None:
            return
        for where in conditions:
            table.delete(where)
        table.optimize(cleanup_older_than=_KEPT_FOR_READERS)


def _kept(place: Place, name: str) -> Any:
    """Return a table as it is now, or None, without creating anything."""
    return connect(place).open_table(name) if (place / f"{name}.lance").is_folder() else None
