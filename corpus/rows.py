"""Records to Arrow rows and back: the shape of the corpus's tables."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any

import numpy as np
import pyarrow as pa

from corpus.encoder import Vectors
from corpus.records import (
    Aspect,
    Author,
    Box,
    Build,
    Cluster,
    Collection,
    Failure,
    Link,
    Paper,
    ParserCount,
    Passage,
    Reference,
    Remark,
    Section,
    Sentence,
    Topic,
)

Row = dict[str, Any]

_PACKED = np.dtype("<f2")

_BOX = pa.struct([("page", pa.int32())] + [(side, pa.float32()) for side in ("x", "y", "width", "height")])
_SENTENCE = pa.struct(
    [
        ("start", pa.int32()),
        ("end", pa.int32()),
        ("boxes", pa.list_(_BOX)),
        ("references", pa.list_(pa.int32())),
    ]
)
_SECTION = pa.struct([("number", pa.string()), ("title", pa.string())])
_AUTHOR = pa.struct(
    [("given", pa.string()), ("family", pa.string()), ("affiliations", pa.list_(pa.string()))]
)
_REFERENCE = pa.struct(
    [
        ("text", pa.string()),
        ("title", pa.string()),
        ("authors", pa.list_(pa.string())),
        ("year", pa.int32()),
        ("doi", pa.string()),
        ("arxiv_id", pa.string()),
    ]
)
_ASPECT = pa.struct(
    [
        ("name", pa.string()),
        ("text", pa.string()),
        ("passage", pa.int32()),
        ("sentence", pa.int32()),
        ("writer", pa.string()),
        ("overlap", pa.float32()),
    ]
)
_TOPIC = pa.struct([("kind", pa.string()), ("name", pa.string()), ("score", pa.float32())])
_FAILURE = pa.struct([("item", pa.string()), ("reason", pa.string())])
_REMARK = pa.struct([("item", pa.string()), ("text", pa.string())])
_PARSER = pa.struct([("parser", pa.string()), ("papers", pa.int32())])

COLLECTIONS = pa.schema(
    [
        ("id", pa.string()),
        ("title", pa.string()),
        ("description", pa.string()),
        ("source", pa.string()),
        ("year", pa.int32()),
        ("licence", pa.string()),
    ]
)
PAPERS = pa.schema(
    [
        ("id", pa.string()),
        ("collection_id", pa.string()),
        ("title", pa.string()),
        ("authors", pa.list_(_AUTHOR)),
        ("year", pa.int32()),
        ("venue", pa.string()),
        ("abstract", pa.string()),
        ("pages", pa.string()),
        ("url", pa.string()),
        ("pdf_url", pa.string()),
        ("doi", pa.string()),
        ("arxiv_id", pa.string()),
        ("bibtex", pa.string()),
        ("keywords", pa.list_(pa.string())),
        ("source", pa.string()),
        ("parser", pa.string()),
        ("parser_version", pa.string()),
        ("pdf_sha256", pa.string()),
        ("page_count", pa.int32()),
        ("full_text", pa.bool_()),
        ("position", pa.int32()),
        ("fingerprint", pa.string()),
        ("aspects", pa.list_(_ASPECT)),
        ("topics", pa.list_(_TOPIC)),
        ("topic_keys", pa.list_(pa.string())),
        ("author_names", pa.list_(pa.string())),
        ("references", pa.list_(_REFERENCE)),
        ("listed", pa.string()),
    ]
)
LINKS = pa.schema([("citing", pa.string()), ("reference", pa.int32()), ("cited", pa.string())])
BUILDS = pa.schema(
    [
        ("id", pa.string()),
        ("collection_id", pa.string()),
        ("started", pa.string()),
        ("seconds", pa.float64()),
        ("encoder", pa.string()),
        ("encoder_sha256", pa.string()),
        ("added", pa.int32()),
        ("changed", pa.int32()),
        ("unchanged", pa.int32()),
        ("removed", pa.int32()),
        ("passages", pa.int32()),
        ("failures", pa.list_(_FAILURE)),
        ("remarks", pa.list_(_REMARK)),
        ("parsers", pa.list_(_PARSER)),
        ("peak_memory_mib", pa.int32()),
    ]
)
PLACES = pa.schema(
    [("paper_id", pa.string()), ("x", pa.float32()), ("y", pa.float32()), ("cluster", pa.int32())]
)
CLUSTERS = pa.schema([("number", pa.int32()), ("label", pa.string()), ("papers", pa.int32())])
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


def passages_schema(dimension: int) -> pa.Schema:
    """Return the schema of the passages table for vectors of `dimension`.

    `indexed` is what is searched and encoded: the paper's title and section path before the text.
    `sentence_vectors` are those of the paper's title and of each sentence, encoded alone, packed in 16 bits
    a number. `year`, `topic_keys`, `venue` and `author_names` repeat the paper's, so that a filter needs one
    table.
    """
    return pa.schema(
        [
            ("id", pa.string()),
            ("paper_id", pa.string()),
            ("collection_id", pa.string()),
            ("number", pa.int32()),
            ("kind", pa.string()),
            ("section", pa.list_(_SECTION)),
            ("text", pa.string()),
            ("sentences", pa.list_(_SENTENCE)),
            ("page", pa.int32()),
            ("year", pa.int32()),
            ("topic_keys", pa.list_(pa.string())),
            ("venue", pa.string()),
            ("author_names", pa.list_(pa.string())),
            ("indexed", pa.string()),
            ("vector", pa.list_(pa.float32(), dimension)),
            ("sentence_vectors", pa.binary()),
        ]
    )


def collection_rows(collections: Sequence[Collection]) -> pa.Table:
    return pa.Table.from_pylist([asdict(collection) for collection in collections], schema=COLLECTIONS)


@dataclass(frozen=True, slots=True)
class PaperEntry:
    """A paper with what its row holds beside it.

    `listed` is the source's own description as JSON, from which the paper can be parsed again.
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
    """Return what filters need of a paper in a form that a table can compare."""
    return {
        "topic_keys": [topic.key for topic in paper.topics],
        "author_names": [author.name for author in paper.authors],
    }


def passage_rows(
    passages: Sequence[Passage],
    papers: Mapping[str, Paper],
    indexed: Sequence[str],
    vectors: Vectors,
    sentence_vectors: Sequence[Vectors] | None = None,
) -> pa.Table:
    """Return rows of the passages table; the sequences run parallel to `passages`.

    `sentence_vectors` are each passage's title and sentences; a search does without them if it must.
    """
    repeated = {
        identifier: {"year": paper.year, "venue": paper.venue, **_filtered_by(paper)}
        for identifier, paper in papers.items()
    }
    rows = [
        asdict(passage) | repeated[passage.paper_id] | {"indexed": text}
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
    """Return vectors as they were packed, rounded to 16 bits: (rows, dimension)."""
    return np.frombuffer(packed, _PACKED).reshape(-1, dimension).astype(np.float32)


def count_packed(packed: bytes, dimension: int) -> int:
    return len(packed) // (dimension * _PACKED.itemsize)


def link_rows(links: Iterable[Link]) -> pa.Table:
    return pa.Table.from_pylist([asdict(link) for link in links], schema=LINKS)


def build_rows(builds: Sequence[Build]) -> pa.Table:
    return pa.Table.from_pylist([asdict(build) for build in builds], schema=BUILDS)


def cluster_rows(clusters: Sequence[Cluster]) -> pa.Table:
    return pa.Table.from_pylist([asdict(cluster) for cluster in clusters], schema=CLUSTERS)


def to_collection(row: Row) -> Collection:
    return Collection(**{field.name: row[field.name] for field in fields(Collection)})


def to_paper(row: Row) -> Paper:
    values = {name: row[name] for name in PAPER_COLUMNS}
    values["authors"] = tuple(to_author(author) for author in row["authors"])
    values["keywords"] = tuple(row["keywords"])
    values["aspects"] = tuple(Aspect(**aspect) for aspect in row["aspects"])
    values["topics"] = tuple(Topic(**topic) for topic in row["topics"])
    return Paper(**values)


def to_author(row: Row) -> Author:
    return Author(row["given"], row["family"], tuple(row["affiliations"]))


def to_reference(row: Row) -> Reference:
    return Reference(**(row | {"authors": tuple(row["authors"])}))


def to_passage(row: Row) -> Passage:
    values = {name: row[name] for name in PASSAGE_COLUMNS}
    values["section"] = tuple(Section(**section) for section in row["section"])
    values["sentences"] = tuple(
        Sentence(
            sentence["start"],
            sentence["end"],
            tuple(Box(**box) for box in sentence["boxes"]),
            tuple(sentence["references"]),
        )
        for sentence in row["sentences"]
    )
    return Passage(**values)


def to_build(row: Row) -> Build:
    values = {field.name: row[field.name] for field in fields(Build)}
    values["failures"] = tuple(Failure(**failure) for failure in row["failures"])
    values["remarks"] = tuple(Remark(**remark) for remark in row["remarks"])
    values["parsers"] = tuple(ParserCount(**count) for count in row["parsers"])
    return Build(**values)
