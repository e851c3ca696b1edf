"""Documents added to a kept library, and removed from it.

A document exists once the published tables have its paper: its files are stored before, and removed after.
"""

import re
import shutil
from collections.abc import Collection as Container
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from itertools import count
from pathlib import Path

import pyarrow as pa

from corpus.durable import sync_tree
from corpus.encoders.base import Encoder
from corpus.errors import CorpusError
from corpus.kept.folder import LibraryFolder
from corpus.records import USUAL_SIZE, Collection, Paper, PassageSize, library_collection, paper_id
from corpus.store import rows
from corpus.store.corpus import Corpus
from corpus.store.writer import CorpusWriter

# Older versions of the tables are dropped at once; LanceDB warns of a time of zero.
_AT_ONCE = timedelta(milliseconds=1)


@dataclass(frozen=True, slots=True)
class NewDocument:
    """An upload to keep: the id of its paper in the visit, and its original file, None for a PDF."""

    paper_id: str
    file: Path | None = None


@dataclass(frozen=True, slots=True)
class Parcel:
    """Documents ready to be added to a library, as rows with its ids; `ids` maps former ids to these.

    `there` maps the former ids of documents that the library has already; `cut` is the passage size.
    """

    papers: pa.Table
    passages: pa.Table
    files: Mapping[str, Path]
    ids: Mapping[str, str]
    there: Mapping[str, str]
    cut: PassageSize = USUAL_SIZE

    @property
    def size(self) -> int:
        """Return the approximate size in bytes."""
        files = sum(path.stat().st_size for path in self.files.values() if path.is_file())
        return int(self.papers.nbytes + self.passages.nbytes + files)


def pack(
    source: Corpus, pdfs: Path, documents: Sequence[NewDocument], library_id: str, held: Sequence[Paper] = ()
) -> Parcel:
    """Prepare uploads for a library that already has the papers `held`."""
    known = {paper.fingerprint: paper.id for paper in held if paper.fingerprint}
    used_ids = {paper.id for paper in held}
    first = 1 + max((paper.position for paper in held), default=-1)
    ids, there, files, positions = dict[str, str](), dict[str, str](), dict[str, Path](), list[int]()
    brought = {document.paper_id: document.file for document in documents}
    for paper in source.papers_by_id(list(brought)):
        if paper.fingerprint in known:
            there[paper.id] = known[paper.fingerprint]
            continue
        ids[paper.id] = unused_id(library_id, paper.id, used_ids)
        used_ids.add(ids[paper.id])
        positions.append(first + len(positions))
        if paper.pdf_sha256:
            files[f"pdf/{paper.pdf_sha256}.pdf"] = pdfs / f"{paper.pdf_sha256}.pdf"
        if file := brought[paper.id]:
            files[f"files/{_key(ids[paper.id])}{_suffix(file)}"] = file
    papers, passages = _rows(source, "papers", "id", ids), _rows(source, "passages", "paper_id", ids)
    places = dict(zip(ids.values(), positions, strict=True))
    column = pa.array([places[id_] for id_ in papers["id"].to_pylist()], pa.int32())
    papers = papers.set_column(
        papers.schema.get_field_index("position"), rows.PAPERS.field("position"), column
    )
    (cut,) = set(source.passage_sizes().values()) or {USUAL_SIZE}
    return Parcel(papers, passages, files, ids, there, cut)


def add_documents(folder: LibraryFolder, title: str, parcel: Parcel, encoder: Encoder) -> Corpus:
    """Add documents to a locked and marked library: first the files, then all tables in one step."""
    for name, path in parcel.files.items():
        target = folder.path / name
        try:
            target.parent.mkdir(mode=0o700, exist_ok=True)
            shutil.copyfile(path, target)
        except OSError as error:
            raise CorpusError(f"A file cannot be kept at {target}: {error.strerror}.") from error
    for place in (folder.pdfs, folder.files):
        sync_tree(place)
    writer = _writer(folder, encoder)
    collection = library_collection(folder.id)
    writer.put_collections([Collection(collection, title, source="Own documents")])
    writer.cut_as(parcel.cut, [collection])
    writer.add_papers(parcel.papers.to_batches(), parcel.passages.to_batches())
    writer.publish()
    return _published(writer)


def take_out(folder: LibraryFolder, ids: Sequence[str], encoder: Encoder) -> Corpus:
    """Remove papers from a locked and marked library, and all of their data from the disk."""
    writer = _writer(folder, encoder)
    writer.remove_papers(ids)
    writer.publish()
    return put_in_order(folder, encoder, writer)


def put_in_order(folder: LibraryFolder, encoder: Encoder, writer: CorpusWriter | None = None) -> Corpus:
    """Remove from a locked library what an interrupted change has left, and older table versions."""
    folder.swap_corpus()
    writer = writer or _writer(folder, encoder)
    writer.compact(_AT_ONCE, unverified=True)
    corpus = _published(writer)
    papers = corpus.papers()
    pdfs, keys = {f"{paper.pdf_sha256}.pdf" for paper in papers}, {_key(paper.id) for paper in papers}
    for path in folder.pdfs.glob("*"):
        if path.name not in pdfs:
            path.unlink(missing_ok=True)
    for path in folder.files.glob("*"):
        if path.name.removesuffix(path.suffix) not in keys:
            path.unlink(missing_ok=True)
    return corpus


def brought_files(folder: LibraryFolder, papers: Sequence[Paper]) -> dict[str, Path]:
    """Return the original file of each paper, by paper id, as far as there is one."""
    by_paper: dict[str, Path] = {}
    files = {path.name.removesuffix(path.suffix): path for path in folder.files.glob("*")}
    for paper in papers:
        path = files.get(_key(paper.id), folder.pdfs / f"{paper.pdf_sha256}.pdf")
        if path.is_file():
            by_paper[paper.id] = path
    return by_paper


def unused_id(library_id: str, wanted: str, taken: Container[str]) -> str:
    """Return the id of a paper in a library: its key, with a number if that is taken."""
    collection, key = library_collection(library_id), _key(wanted)
    if (identifier := paper_id(collection, key)) not in taken:
        return identifier
    return next(other for n in count(2) if (other := paper_id(collection, f"{key}-{n}")) not in taken)


def _key(identifier: str) -> str:
    """Return a paper's key in its collection, which is also a valid file name."""
    return re.sub(r"[^a-z0-9.-]", "-", identifier.rpartition("/")[2]).strip(".") or "document"


def _suffix(file: Path) -> str:
    # Every file gets a suffix, as the paper's key before it may contain dots.
    return file.suffix if re.fullmatch(r"\.[a-z]{1,8}", file.suffix) else ".txt"


def _rows(source: Corpus, table: str, owner: str, ids: Mapping[str, str]) -> pa.Table:
    """Return the rows of papers (by column `owner`) with the ids that they have in a library."""
    schema = rows.PAPERS if table == "papers" else rows.passages_schema(source.manifest.dimension)
    renamed = []
    for batch in source.scan(table, schema.names):
        for row in batch.to_pylist():
            former = row[owner]
            if former in ids:
                paper = ids[former]
                # The id of a paper is replaced by, that of a passage begins with, the paper's new id.
                row |= {"id": f"{paper}{row['id'].removeprefix(former)}", owner: paper}
                renamed.append(row | {"collection_id": paper.rpartition("/")[0]})
    return pa.Table.from_pylist(renamed, schema=schema)


def _writer(folder: LibraryFolder, encoder: Encoder) -> CorpusWriter:
    return CorpusWriter(folder.corpus, encoder, unfinished=True)


def _published(writer: CorpusWriter) -> Corpus:
    corpus = writer.published()
    assert corpus is not None, "it has just been published"
    return corpus
