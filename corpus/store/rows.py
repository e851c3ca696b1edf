"""Records to Arrow rows and back: the columns of the tables are the fields of the records.

Columns serve filters, sorting and counts. Whole papers and passages are read from one more column that holds
the others (`RECORD`); `CorpusWriter` makes and renews it.

A changed field changes a table, and needs a new SCHEMA_VERSION (corpus/store/manifest.py). A new field with a
default only needs an entry in ADDED: the next build adds the column.
"""

import re
import zlib
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, is_dataclass
from types import NoneType
from typing import TYPE_CHECKING, Any, Literal, TypeVar, get_args, get_origin, get_type_hints

import numpy as np
import pyarrow as pa
from pydantic import TypeAdapter

from corpus.encoders.base import Vectors
from corpus.errors import CorpusError
from corpus.records import Build, Cluster, Collection, Link, Paper, Passage, Reference, Topic
from corpus.text import spaced, write_out_numbers

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

Row = dict[str, Any]

_PACKED = np.dtype("<f2")

_ARROW = {str: pa.string(), bool: pa.bool_(), int: pa.int32(), float: pa.float32()}


def _arrow_type(hint: Any) -> pa.DataType:
    """Return the Arrow type for the type hint of a record's field; None is null."""
    if isinstance(hint, type) and is_dataclass(hint):
        return pa.struct(_columns(hint))
    inside = [argument for argument in get_args(hint) if argument not in (None, NoneType, ...)]
    if get_origin(hint) is tuple:
        return pa.list_(_arrow_type(inside[0]))
    if get_origin(hint) is Literal:
        return pa.string()
    return _arrow_type(inside[0]) if inside else _ARROW[hint]


def _columns(record: type, **other: pa.DataType) -> list[tuple[str, pa.DataType]]:
    """Return the columns of a record in the order of its fields; `other` types replace or follow them."""
    hints = get_type_hints(record)
    columns = {
        field.name: other.pop(field.name, None) or _arrow_type(hints[field.name]) for field in fields(record)
    }
    return [*columns.items(), *other.items()]


KEYS = pa.list_(pa.string())
COLLECTIONS = pa.schema(_columns(Collection))
PAPERS = pa.schema(
    _columns(
        Paper,
        topic_keys=KEYS,
        author_names=KEYS,
        references=_arrow_type(tuple[Reference, ...]),
        listed=pa.string(),
    )
)
LINKS = pa.schema(_columns(Link))
BUILDS = pa.schema(_columns(Build, seconds=pa.float64()))
PLACES = pa.schema(
    [("paper_id", pa.string()), ("x", pa.float32()), ("y", pa.float32()), ("cluster", pa.int32())]
)
CLUSTERS = pa.schema(_columns(Cluster))
SCHEMAS = {
    "collections": COLLECTIONS,
    "papers": PAPERS,
    "links": LINKS,
    "builds": BUILDS,
    "places": PLACES,
    "clusters": CLUSTERS,
}
PAPER_COLUMNS = [field.name for field in fields(Paper)]
PASSAGE_COLUMNS = [field.name for field in fields(Passage)]
# All columns of a record as JSON, which is read ten times as fast. Tables made before November 2026 lack it.
RECORD = pa.field("record", pa.binary())
RECORDS = {"papers": PAPER_COLUMNS, "passages": PASSAGE_COLUMNS}
# Columns that tables made before December 2026 lack, with their values in SQL.
ADDED = {
    "papers": {"hidden_text": "cast(0 as int)", "hidden_pages": "arrow_cast(make_array(), 'List(Int32)')"}
}
_ROW, _PAPER, _PASSAGE = TypeAdapter(Row), TypeAdapter(Paper), TypeAdapter(Passage)
_Record = TypeVar("_Record")
_QUICKLY = 1
# "http://www.example.org/data/" may continue on the next line as "archive.tgz?version=2".
_OF_ADDRESS = re.compile(r"://|www\.|[^\W\d_]\.[^\W\d_]{2}|[?=]\w")
_TWO_LETTERS = re.compile(r"[^\W\d_]{2}")
_REPEATED = ("year", "venue", "language", "labels")


def passages_schema(dimension: int) -> pa.Schema:
    """Return the schema of the passages table for vectors of `dimension`.

    `indexed` is the searched text: the paper's title and section path before the passage's text; scripts
    without spaces become pairs of characters (`corpus.text.spaced`), which the index takes as words.
    `sentence_vectors` are of the paper's title and of each sentence, encoded alone, in 16 bits a number.
    `year`, `venue`, `language`, `labels`, `topic_keys` and `author_names` repeat the paper's, so that a
    filter needs one table.
    """
    return pa.schema(
        _columns(
            Passage,
            year=pa.int32(),
            topic_keys=KEYS,
            venue=pa.string(),
            language=pa.string(),
            labels=KEYS,
            author_names=KEYS,
            indexed=pa.string(),
            vector=pa.list_(pa.float32(), dimension),
            sentence_vectors=pa.binary(),
        )
    )


def to_rows(records: Iterable["DataclassInstance"], schema: pa.Schema) -> pa.Table:
    """Return records as rows of a table without further columns."""
    return pa.Table.from_pylist([asdict(record) for record in records], schema=schema)


@dataclass(frozen=True, slots=True)
class PaperEntry:
    """A paper with the other contents of its row.

    `listed` is the source's description as JSON, from which the paper can be parsed again.
    """

    paper: Paper
    references: tuple[Reference, ...]
    listed: str = ""


def paper_rows(entries: Sequence[PaperEntry]) -> pa.Table:
    rows = [
        asdict(entry.paper)
        | {
            **_filtered_by(entry.paper),
            "references": [asdict(reference) for reference in entry.references],
            "listed": entry.listed,
        }
        for entry in entries
    ]
    return pa.Table.from_pylist(rows, schema=PAPERS)


def _filtered_by(paper: Paper) -> Row:
    """Return the derived columns of a paper for filters."""
    return {
        "topic_keys": [topic.key for topic in paper.topics],
        "author_names": [author.name for author in paper.authors],
    }


def topic_rows(topics: Mapping[str, Sequence[Topic]]) -> pa.Table:
    """Return the columns of papers that hold their topics, by the papers' ids."""
    entries = [
        {
            "id": paper,
            "topics": [asdict(topic) for topic in named],
            "topic_keys": [topic.key for topic in named],
        }
        for paper, named in topics.items()
    ]
    names = ("id", "topics", "topic_keys")
    return pa.Table.from_pylist(entries, schema=pa.schema([PAPERS.field(name) for name in names]))


def indexed_text(paper: Paper, passage: Passage) -> str:
    """Return the searched and encoded text of a passage: title and section path before its text.

    An address or figures alone stay without them: otherwise they would be found for the paper's subject.
    """
    if passage.text == paper.title:
        return paper.title
    if not _says_something(passage.text):
        return passage.text
    headings = (section.title for section in passage.section)
    return "\n".join(part for part in (paper.title, *headings, passage.text) if part)


def sentence_texts(paper: Paper, passage: Passage) -> list[str]:
    """Return the separately encoded texts of a passage: its paper's title, then each sentence.

    For an address or figures alone, the passage's text replaces the title.
    """
    first = paper.title if _says_something(passage.text) else passage.text
    return [first, *(passage.sentence_text(index) for index in range(len(passage.sentences)))]


def _says_something(text: str) -> bool:
    """Return True if a text has a word; beside an address, which may be split, it takes two."""
    pieces = text.split()
    others = [piece for piece in pieces if not _OF_ADDRESS.search(piece)]
    words = sum(bool(_TWO_LETTERS.search(piece)) for piece in others)
    return words > (len(others) < len(pieces))


def passage_rows(
    passages: Sequence[Passage],
    papers: Mapping[str, Paper],
    indexed: Sequence[str],
    vectors: Vectors,
    sentence_vectors: Sequence[Vectors] | None = None,
) -> pa.Table:
    """Return rows of the passages table; the sequences run parallel to `passages`.

    `sentence_vectors` are of each passage's title and sentences; a search works without them.
    """
    repeated = {
        identifier: {name: getattr(paper, name) for name in _REPEATED} | _filtered_by(paper)
        for identifier, paper in papers.items()
    }
    rows = [
        asdict(passage) | repeated[passage.paper_id] | {"indexed": spaced(write_out_numbers(text))}
        for passage, text in zip(passages, indexed, strict=True)
    ]
    schema = passages_schema(vectors.shape[1])
    plain = pa.schema([field for field in schema if field.name not in ("vector", "sentence_vectors")])
    flat = pa.array(vectors.reshape(-1), type=pa.float32())
    packed = map(pack_vectors, sentence_vectors) if sentence_vectors is not None else [b""] * len(rows)
    return (
        pa.Table.from_pylist(rows, schema=plain)
        .append_column("vector", pa.FixedSizeListArray.from_arrays(flat, vectors.shape[1]))
        .append_column("sentence_vectors", pa.array(packed, pa.binary()))
    )


def pack_vectors(vectors: Vectors) -> bytes:
    return vectors.astype(_PACKED).tobytes()


def unpack_vectors(packed: bytes, dimension: int) -> Vectors:
    """Return packed vectors, rounded to 16 bits: (rows, dimension)."""
    return np.frombuffer(packed, _PACKED).reshape(-1, dimension).astype(np.float32)


def count_packed(packed: bytes, dimension: int) -> int:
    return len(packed) // (dimension * _PACKED.itemsize)


def with_records(batch: pa.RecordBatch, columns: Sequence[str]) -> pa.RecordBatch:
    """Return rows of papers or passages with a column that holds all their columns."""
    packed = [zlib.compress(_ROW.dump_json(row), _QUICKLY) for row in batch.select(columns).to_pylist()]
    return batch.append_column(RECORD, pa.array(packed, RECORD.type))


def whole(columns: list[str], there: Container[str]) -> list[str]:
    """Return the columns to read for a whole record: the one that holds it all, if there, or the others."""
    return [RECORD.name] if RECORD.name in there else [name for name in columns if name in there]


def to_paper(row: Row) -> Paper:
    """Return a paper from the columns read, or from the one that holds all; CorpusError if it is damaged."""
    return _record(_PAPER, row)


def to_passage(row: Row) -> Passage:
    """Return a passage from its row, as `to_paper` does."""
    return _record(_PASSAGE, row)


def _record(kind: TypeAdapter[_Record], row: Row) -> _Record:
    if RECORD.name not in row:
        return kind.validate_python(row)
    try:
        return kind.validate_json(zlib.decompress(row[RECORD.name] or b""))
    except (ValueError, zlib.error) as error:
        raise CorpusError(
            "A row of the corpus is damaged; which one is said by: paper-trail index verify"
        ) from error


to_collection = TypeAdapter(Collection).validate_python
to_reference = TypeAdapter(Reference).validate_python
to_build = TypeAdapter(Build).validate_python
