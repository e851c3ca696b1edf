"""The corpus as readers see it: the table versions that the manifest names.

A writer (corpus.store.writer) changes the tables and then replaces the manifest in one step: readers see the
old corpus until the new one is complete, also if a writer dies.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pyarrow as pa

from corpus.encoders.base import Encoder, Vectors
from corpus.errors import CorpusError
from corpus.places.address import place_at
from corpus.places.place import Place
from corpus.records import (
    Build,
    Collection,
    CollectionSummary,
    Paper,
    Passage,
    PassageSize,
    Reference,
    Scope,
)
from corpus.store import rows, tables
from corpus.store.citation_links import CitationLinks
from corpus.store.lexicon import Lexicon, plain_words
from corpus.store.manifest import TABLES, Manifest, check_encoder, read_manifest
from corpus.store.passage_index import (
    COLUMNS,
    Match,
    PassageIndex,
    Positions,
    Similarity,
    cosines_of_wholes,
    measure,
)
from corpus.store.query_cache import Once, QueryCache
from corpus.store.statistics import PaperOrder, Statistics
from corpus.store.tables import condition, quoted, scan
from corpus.text import spaced, write_out_numbers

# Cached papers, passages and bibliography entries; some tens of MB at most.
_READ_KEPT = 20_000
_PAPERS_AT_ONCE = 50
# Of the passages that may hold a phrase, these are read first, the others only if needed.
_TEXTS_FIRST = 20
# Cached positions of the passages in searched scopes; 8 bytes each.
_POSITIONS_KEPT = 4_000_000


@dataclass(frozen=True, slots=True)
class Identifiers:
    """Ids as a reader may write them: of papers here, DOIs, and arXiv ids without a version."""

    papers: tuple[str, ...] = ()
    dois: tuple[str, ...] = ()
    arxiv: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class FoundPassage:
    """A passage that a search found, with its cosine to the query's vector, if there is one."""

    passage: Passage
    cosine: float | None


class Corpus:
    """The papers and passages of a published corpus, read-only.

    `statistics` has their counts, `links` the citations between them, `lexicon` the names in them; `reads`
    caches what is read of single papers, because each rerun of a screen asks again.
    """

    def __init__(self, path: Path | Place, manifest: Manifest) -> None:
        self.path = place_at(path)
        self.manifest = manifest
        with tables.opening(self.path):
            self._tables = {
                name: tables.open_published(self.path, name, manifest.versions[name]) for name in TABLES
            }
            for name, table in self._tables.items():
                table.checkout(manifest.versions[name])
        self._columns = {
            name: rows.whole(names, self._tables[name].schema.names) for name, names in rows.RECORDS.items()
        }
        self._index = Once(self._read_index)
        self._paper_rows = Once(self._read_paper_rows)
        self._within = QueryCache(entries=_POSITIONS_KEPT)
        # Separate from the cache of the statistics, so that reading papers does not push counts out.
        self.reads = QueryCache(entries=_READ_KEPT)
        self.statistics = Statistics(self._tables)
        self.links = CitationLinks(self._tables["links"], self.reads)
        self.lexicon = Lexicon(self._tables, self.statistics)

    @classmethod
    def open(cls, path: Path | Place, encoder: Encoder) -> "Corpus":
        """Open the corpus at `path`.

        Raises CorpusError when there is none, when it is damaged and when another encoder built it.
        """
        manifest = read_manifest(path)
        check_encoder(manifest, encoder)
        return cls(path, manifest)

    @classmethod
    def open_at(cls, path: Path | Place, encoder: Encoder, versions: Mapping[str, int]) -> "Corpus":
        """Open the corpus as it was when its tables had these `versions`.

        Raises CorpusError as `open` does, and when one of them no longer exists.
        """
        manifest = read_manifest(path)
        check_encoder(manifest, encoder)
        if gone := tables.versions_gone(place_at(path), {name: versions.get(name, 0) for name in TABLES}):
            raise CorpusError(
                f"The corpus at {path} is no longer kept as it was: {', '.join(gone)}. It can be read as it "
                "is now; a version lasts until `paper-trail index compact` drops it."
            )
        return cls(path, replace(manifest, versions=dict(versions)))

    def collections(self) -> tuple[CollectionSummary, ...]:
        """Return every collection with its counts, in the order of their ids."""
        return self.statistics.summaries({build.collection_id: build for build in self.builds()})

    def collection(self, collection_id: str) -> Collection:
        """Return one collection; raises CorpusError when the corpus has none of that id."""

        def read() -> Collection:
            known = scan(self._tables["collections"], rows.COLLECTIONS.names, f"id = {quoted(collection_id)}")
            for found in known.to_pylist():
                return rows.to_collection(found)
            raise CorpusError(f"There is no collection {collection_id!r} in this corpus.")

        return self.reads.answer(("collection", collection_id), read)

    def passage_sizes(self) -> dict[str, PassageSize]:
        """Return the passage size of each collection, by id."""
        return {name: self.manifest.size_of(name) for name in self.collection_ids()}

    def collection_ids(self) -> tuple[str, ...]:
        def read() -> tuple[str, ...]:
            return tuple(sorted(scan(self._tables["collections"], ["id"])["id"].to_pylist()))

        return self.reads.answer("collections", read)

    def papers(
        self,
        scope: Scope | None = None,
        order: PaperOrder = "position",
        offset: int = 0,
        limit: int | None = None,
    ) -> tuple[Paper, ...]:
        """Return the papers in `scope`, sorted, from `offset` on."""
        return self.papers_by_id(self.statistics.sorted_ids(scope, order).slice(offset, limit).to_pylist())

    def count_papers(self, scope: Scope | None = None) -> int:
        return self.statistics.count_papers(scope)

    def papers_by_id(self, ids: Sequence[str]) -> tuple[Paper, ...]:
        """Return the papers of `ids` that exist, in the given order."""

        def read() -> tuple[Paper, ...]:
            found = map(rows.to_paper, self._papers_called(ids, self._columns["papers"]))
            papers = {paper.id: paper for paper in found}
            return tuple(papers[identifier] for identifier in ids if identifier in papers)

        return read() if len(ids) > _PAPERS_AT_ONCE else self.reads.answer(("papers", tuple(ids)), read)

    def paper(self, paper_id: str) -> Paper:
        """Return one paper; raises CorpusError when the corpus has none of that id."""
        papers = self.papers_by_id([paper_id])
        if not papers:
            raise CorpusError(f"There is no paper {paper_id!r} in this corpus.")
        return papers[0]

    def references(self, paper_id: str) -> tuple[Reference, ...]:
        """Return a paper's bibliography in its printed order."""

        def read() -> tuple[Reference, ...]:
            found = self._papers_called([paper_id], ["references"])
            return tuple(map(rows.to_reference, found[0]["references"])) if found else ()

        return self.reads.answer(("references", paper_id), read)

    def listed(self, paper_id: str) -> str:
        """Return the source's description of a paper as JSON; "" without a PDF to parse again."""
        found = self._papers_called([paper_id], ["listed"])
        return str(found[0]["listed"]) if found else ""

    def passages(self, paper_id: str) -> tuple[Passage, ...]:
        """Return a paper's passages in reading order."""

        def read() -> tuple[Passage, ...]:
            index = self._index()
            found = self._passages_at(index.rows(index.of_paper(paper_id)))
            return tuple(sorted(found.values(), key=lambda passage: passage.number))

        return self.reads.answer(("passages", paper_id), read)

    def passages_by_id(self, ids: Sequence[str]) -> tuple[Passage, ...]:
        """Return the passages of `ids` that exist, in the given order."""
        index = self._index()
        passages = self._passages_at(index.rows(index.of_ids(ids)))
        return tuple(passages[identifier] for identifier in ids if identifier in passages)

    def vectors(self, passage_ids: Sequence[str]) -> Mapping[str, list[float]]:
        """Return the vectors of passages by their ids."""
        found = self._passages_called(passage_ids, ["id", "vector"])
        return {row["id"]: row["vector"] for row in found}

    def nearest(self, vector: Vectors | Sequence[float], scope: Scope, limit: int) -> list[Match]:
        """Return the passages in `scope` nearest to a unit vector by cosine, best first.

        One in a hundred is missed, and similarities are rounded.
        """
        index = self._index()
        positions, cosines = index.nearest(np.asarray(vector, np.float32), limit, self._positions(scope))
        return index.matches(positions, cosines.tolist())

    def matching(self, words: str, scope: Scope, limit: int) -> list[Match]:
        """Return the passages in `scope` that share words with a text by BM25, best first."""
        return self._matches(*tables.matching(self._tables["passages"], words, scope, limit))

    def has_word(self, word: str) -> bool:
        """Return True if any text here has a word, in any form."""

        def look() -> bool:
            return bool(tables.matching(self._tables["passages"], word, Scope(), 1)[0])

        return self.reads.answer(("word", word), look)

    def holding(self, phrase: str, scope: Scope, limit: int) -> Iterator[Match]:
        """Yield passages in `scope` with a phrase word by word, from the best `limit` with all its words.

        Texts are read as needed: most phrases are in the first of them, if at all.
        """
        row_ids, scores = tables.matching(self._tables["passages"], phrase, scope, limit, is_all=True)
        matches = self._matches(row_ids, scores)
        wanted = _in_plain_words(spaced(write_out_numbers(phrase)))
        for first, end in pairwise((0, _TEXTS_FIRST, limit)):
            texts = self._passage_rows(row_ids[first:end], ["indexed"]).to_pylist()
            holding = {row["_rowid"] for row in texts if wanted in _in_plain_words(row["indexed"])}
            block = zip(row_ids[first:end], matches[first:end], strict=True)
            yield from (match for row_id, match in block if row_id in holding)

    def identified(self, identifiers: Identifiers) -> frozenset[str]:
        """Return the ids of the papers with these identifiers."""
        conditions = tables.identified_by(identifiers.papers, identifiers.dois, identifiers.arxiv)
        found = (scan(self._tables["papers"], ["id"], where)["id"].to_pylist() for where in conditions)
        return frozenset(identifier for ids in found for identifier in ids)

    def passages_found(
        self, matches: Sequence[Match], vector: Vectors | None = None
    ) -> dict[str, FoundPassage]:
        """Return the passages of this corpus's matches, by id, with the cosine to a unit vector, if given.

        This is faster than looking up the ids.
        """
        columns, row_ids = (
            self._columns["passages"],
            self._index().rows([match.position for match in matches]),
        )
        table = self._passage_rows(row_ids, columns if vector is None else [*columns, "vector"])
        cosines = [None] * len(table) if vector is None else cosines_of_wholes(vector, table)
        passages = map(rows.to_passage, table.select(columns if len(table) else []).to_pylist())
        found = zip(passages, cosines, strict=True)
        return {passage.id: FoundPassage(passage, cosine) for passage, cosine in found}

    def rounded_similarities(
        self, vector: Vectors | Sequence[float], matches: Sequence[Match]
    ) -> dict[str, Similarity]:
        """Return the rounded similarities of found passages to a unit vector, by id."""
        index = self._index()
        positions = np.array([match.position for match in matches], np.intp)
        rounded = index.cosines(np.asarray(vector, np.float32), positions)
        return {
            match.passage_id: Similarity(cosine, cosine, None, is_read=False)
            for match, cosine in zip(matches, rounded.tolist(), strict=True)
        }

    def similarities(
        self,
        vector: Vectors | Sequence[float],
        matches: Sequence[Match],
        rounded: Mapping[str, Similarity] | None = None,
    ) -> dict[str, Similarity]:
        """Return the exact similarities of found passages to a unit vector, by id.

        With `rounded` similarities, only the sentences are read, which is faster; those of whole passages
        stay rounded.
        """
        if not matches:
            return {}
        query = np.asarray(vector, np.float32)
        row_ids = self._index().rows([match.position for match in matches])
        by_row = {row_id: match.passage_id for row_id, match in zip(row_ids, matches, strict=True)}
        found = self._passage_rows(list(by_row), ["sentence_vectors", *([] if rounded else ["vector"])])
        ids = [by_row[row_id] for row_id in found["_rowid"].to_pylist()]
        wholes = [rounded[name].passage for name in ids] if rounded else cosines_of_wholes(query, found)
        return dict(zip(ids, measure(query, wholes, found["sentence_vectors"].to_pylist()), strict=True))

    def sentence_vectors(self, passages: Sequence[Passage]) -> dict[str, Vectors]:
        """Return the stored unit vectors of the sentences of some passages, by text."""
        ids, width = [passage.id for passage in passages], self.manifest.dimension
        stored = self._passages_called(ids, ["id", "sentence_vectors"])
        vectors = {row["id"]: rows.unpack_vectors(row["sentence_vectors"], width) for row in stored}
        by_text: dict[str, Vectors] = {}
        for passage in passages:
            of_sentences = vectors.get(passage.id, ())[1:]  # behind the title's
            if len(of_sentences) == len(passage.sentences):
                by_text |= {passage.sentence_text(place): vector for place, vector in enumerate(of_sentences)}
        return by_text

    def builds(self) -> tuple[Build, ...]:
        """Return all builds, oldest first."""

        def read() -> tuple[Build, ...]:
            table = scan(self._tables["builds"], rows.BUILDS.names).sort_by("started")
            return tuple(map(rows.to_build, table.to_pylist()))

        return self.reads.answer("builds", read)

    def scan(self, table: str, columns: list[str]) -> Iterator[pa.RecordBatch]:
        """Yield all rows of a table, a few at a time."""
        return tables.scan_batches(self._tables[table], columns)

    def columns_of(self, table: str) -> list[str]:
        """Return the columns to read for whole records of papers or passages."""
        return self._columns[table]

    def not_indexed(self) -> int:
        """Count the passages missing from the full-text index."""
        return tables.rows_without_index(self._tables["passages"], "indexed")

    def load(self) -> None:
        """Read what every search needs, so that the first does not wait: a second for 300,000 passages."""
        self._index()
        self._paper_rows()

    def _read_index(self) -> PassageIndex:
        table = self._tables["passages"]
        batches = tables.scan_numbered(table, COLUMNS)
        return PassageIndex(tables.count(table), self.manifest.dimension, batches)

    def _read_paper_rows(self) -> dict[str, int]:
        """Return the row where each paper is stored, by its id."""
        return {
            row["id"]: row["_rowid"]
            for batch in tables.scan_numbered(self._tables["papers"], ["id"])
            for row in batch.to_pylist()
        }

    def _positions(self, scope: Scope) -> Positions | None:
        """Return the positions of the passages in `scope`, None for all."""
        where = condition(scope, "id")
        if where is None:
            return None

        def find() -> Positions:
            return self._index().of_papers(scan(self._tables["papers"], ["id"], where)["id"])

        return self._within.answer(where, find)

    def _matches(self, row_ids: Sequence[int], scores: Sequence[float]) -> list[Match]:
        index = self._index()
        return index.matches(index.at_rows(row_ids), scores)

    def _papers_called(self, ids: Iterable[str], columns: list[str]) -> list[rows.Row]:
        known = self._paper_rows()
        row_ids = [known[identifier] for identifier in ids if identifier in known]
        return list(tables.rows_at(self._tables["papers"], row_ids, columns).to_pylist())

    def _passages_called(self, ids: Iterable[str], columns: list[str]) -> list[rows.Row]:
        index = self._index()
        return list(self._passage_rows(index.rows(index.of_ids(ids)), columns).to_pylist())

    def _passages_at(self, row_ids: Sequence[int]) -> dict[str, Passage]:
        """Return the passages in some rows, by id."""
        found = map(rows.to_passage, self._passage_rows(row_ids, self._columns["passages"]).to_pylist())
        return {passage.id: passage for passage in found}

    def _passage_rows(self, row_ids: Sequence[int], columns: list[str]) -> pa.Table:
        return tables.rows_at(self._tables["passages"], row_ids, columns)


def _in_plain_words(text: str) -> str:
    """Return the plain words of a text, each between spaces."""
    return f" {' '.join(plain_words(text))} "
