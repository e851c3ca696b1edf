"""Check that the corpus is whole: passages, vectors, sentences, boxes, references and files."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pyarrow as pa

from corpus.errors import CorpusError
from corpus.pdf.file import PdfError, page_size
from corpus.places.address import place_at
from corpus.places.place import Place
from corpus.records import Box, Passage, parse_passage_id
from corpus.store import rows
from corpus.store.corpus import Corpus
from indexer.errors import ParseError
from indexer.parsers.registry import file_sha256

# Tolerates rounding, and glyphs that extend over the edge of a page.
_POINTS_OVER_THE_EDGE = 6.0
_UNIT_LENGTH_WITHIN = 1e-3


@dataclass(frozen=True, slots=True)
class Problem:
    """A fault of a paper, a passage or the corpus as a whole."""

    item: str
    text: str


@dataclass(slots=True)
class _SeenPaper:
    """A paper's expected contents, and those found while its passages are read."""

    collection_id: str
    pages: int
    pdf: Place | None
    references: int
    aspects: tuple[tuple[int, int], ...]
    numbers: list[int] = field(default_factory=list)
    sentences: dict[int, int] = field(default_factory=dict)
    sizes: dict[int, tuple[float, float]] = field(default_factory=dict)


def verify(corpus: Corpus, pdf_folder: Path | Place) -> Iterator[Problem]:
    """Yield the problems of a corpus, none if it is whole."""
    collections, pdfs = set(corpus.collection_ids()), place_at(pdf_folder)
    papers: dict[str, _SeenPaper] = {}
    for row in _rows(corpus, "papers", _all_columns(corpus, "papers", "references")):
        if row["id"] in papers:
            yield Problem(row["id"], "the paper is there twice")
        yield from _check_record(row, rows.to_paper)
        papers[row["id"]] = _seen(row, pdfs)
        if row["collection_id"] not in collections:
            yield Problem(row["id"], f"its collection {row['collection_id']!r} is not there")
        yield from _check_pdf(row["id"], row["pdf_sha256"], papers[row["id"]])
    columns = _all_columns(corpus, "passages", "vector", "sentence_vectors")
    for batch in corpus.scan("passages", columns):
        yield from _check_vectors(batch, corpus.manifest.dimension)
        for row in batch.drop_columns(["vector"]).to_pylist():
            yield from _check_sentence_vectors(row, corpus.manifest.dimension)
            yield from _check_record(row, rows.to_passage)
            yield from _check_passage(rows.to_passage(_by_columns(row)), papers)
    for identifier, paper in papers.items():
        yield from _check_counts(identifier, paper)
    for row in _rows(corpus, "links", rows.LINKS.names):
        citing, cited = row["citing"], row["cited"]
        if citing not in papers or cited not in papers:
            yield Problem(citing, f"a link leads from it to {cited}, and one of them is not there")
        elif not 0 <= row["reference"] < papers[citing].references:
            yield Problem(citing, "a link begins at an entry that its bibliography does not have")
    for row in _rows(corpus, "places", ["paper_id"]):
        if row["paper_id"] not in papers:
            yield Problem(row["paper_id"], "it has a place on the map, and is not there")
    if missing := corpus.not_indexed():
        yield Problem("the full-text index", f"{missing:,} passages are not in it")


def _rows(corpus: Corpus, table: str, columns: list[str]) -> Iterator[rows.Row]:
    for batch in corpus.scan(table, columns):
        yield from batch.to_pylist()


def _all_columns(corpus: Corpus, table: str, *additional: str) -> list[str]:
    return list(dict.fromkeys((*rows.RECORDS[table], *corpus.columns_of(table), *additional)))


def _by_columns(row: rows.Row) -> rows.Row:
    return {name: value for name, value in row.items() if name != rows.RECORD.name}


def _check_record(row: rows.Row, parse: Callable[[rows.Row], object]) -> Iterator[Problem]:
    """Check that the packed record of a paper or passage agrees with its columns."""
    try:
        same = parse(row) == parse(_by_columns(row))
    except CorpusError:
        same = False
    if not same:
        yield Problem(row["id"], "what is read of it is not what its columns hold")


def _seen(row: rows.Row, pdfs: Place) -> _SeenPaper:
    return _SeenPaper(
        row["collection_id"],
        row["page_count"],
        pdfs / f"{row['pdf_sha256']}.pdf" if row["pdf_sha256"] else None,
        len(row["references"]),
        tuple((aspect["passage"], aspect["sentence"]) for aspect in row["aspects"]),
    )


def _check_pdf(identifier: str, sha256: str, paper: _SeenPaper) -> Iterator[Problem]:
    if paper.pdf is None:
        return
    try:
        if file_sha256(paper.pdf.local()) != sha256:
            yield Problem(identifier, f"its PDF is another file; delete {paper.pdf} and build again")
    except FileNotFoundError:
        yield Problem(identifier, "its PDF is no longer kept; build its collection again")
        paper.pdf = None
    except (OSError, ParseError) as error:
        yield Problem(identifier, f"its PDF {paper.pdf}: {error}")
        paper.pdf = None


def _check_vectors(batch: pa.RecordBatch, dimension: int) -> Iterator[Problem]:
    column = batch["vector"]
    if column.null_count:
        yield Problem("the vectors", f"{column.null_count:,} passages have none")
        return
    vectors = column.flatten().to_numpy(zero_copy_only=False).reshape(-1, dimension)
    lengths = np.linalg.norm(vectors, axis=1)
    wrong = ~(np.abs(lengths - 1) < _UNIT_LENGTH_WITHIN)
    for identifier in np.asarray(batch["id"].to_pylist(), dtype=object)[wrong]:
        yield Problem(str(identifier), "its vector is not of length 1")


def _check_sentence_vectors(row: rows.Row, dimension: int) -> Iterator[Problem]:
    """Check the vectors of a passage's title and sentences."""
    try:
        vectors = rows.unpack_vectors(row["sentence_vectors"] or b"", dimension)
    except ValueError:
        vectors = np.empty((0, dimension), np.float32)
    if len(vectors) != 1 + len(row["sentences"]):
        yield Problem(row["id"], "its title and sentences have not a vector each")
    elif not np.all(np.abs(np.linalg.norm(vectors, axis=1) - 1) < _UNIT_LENGTH_WITHIN):
        yield Problem(row["id"], "a vector of its title or sentences is not of length 1")


def _check_passage(passage: Passage, papers: Mapping[str, _SeenPaper]) -> Iterator[Problem]:
    paper = papers.get(passage.paper_id)
    if paper is None:
        yield Problem(passage.id, "its paper is not there")
        return
    paper.numbers.append(passage.number)
    paper.sentences[passage.number] = len(passage.sentences)
    if parse_passage_id(passage.id) != (passage.paper_id, passage.number):
        yield Problem(passage.id, "its id is not that of its paper and number")
    if passage.collection_id != paper.collection_id:
        yield Problem(passage.id, "it is in another collection than its paper")
    ends = [0, *(sentence.end for sentence in passage.sentences)]
    if [sentence.start for sentence in passage.sentences] != ends[:-1] or ends[-1] != len(passage.text):
        yield Problem(passage.id, "its sentences do not give its text back")
    for sentence in passage.sentences:
        if any(not 0 <= number < paper.references for number in sentence.references):
            yield Problem(passage.id, "it cites an entry that the bibliography does not have")
        for box in sentence.boxes:
            if problem := _misplaced(box, paper):
                yield Problem(passage.id, problem)


def _misplaced(box: Box, paper: _SeenPaper) -> str:
    """Describe the fault of a box's position, "" for none."""
    if box.width <= 0 or box.height <= 0:
        return "a box of it is empty"
    if box.page < 1 or (paper.pages and box.page > paper.pages):
        return f"a box of it is on page {box.page} of {paper.pages}"
    if paper.pdf is None:
        return ""
    try:
        width, height = _size(paper, box.page)
    except PdfError as error:
        return f"page {box.page} with a box of it cannot be opened: {error}"
    over = _POINTS_OVER_THE_EDGE
    inside = -over <= box.x and -over <= box.y and box.x + box.width <= width + over
    return "" if inside and box.y + box.height <= height + over else f"a box of it is off page {box.page}"


def _size(paper: _SeenPaper, page: int) -> tuple[float, float]:
    if page not in paper.sizes:
        assert paper.pdf is not None
        paper.sizes[page] = page_size(paper.pdf.local(), page)
    return paper.sizes[page]


def _check_counts(identifier: str, paper: _SeenPaper) -> Iterator[Problem]:
    if sorted(paper.numbers) != list(range(len(paper.numbers))) or not paper.numbers:
        yield Problem(identifier, "its passages are not numbered 0, 1, 2 ... without a gap")
    for passage, sentence in paper.aspects:
        if not 0 <= sentence < paper.sentences.get(passage, 0):
            yield Problem(
                identifier, f"an aspect rests on sentence {sentence} of passage {passage}, which is not there"
            )
