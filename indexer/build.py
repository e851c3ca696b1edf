"""The build: what a source lists becomes papers and passages of the corpus, and a report."""

import hashlib
import json
import shutil
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path

from filelock import FileLock, Timeout

from corpus import rows
from corpus.bibtex import bibtex
from corpus.encoder import Encoder, Vectors
from corpus.errors import CorpusError
from corpus.records import Author, Build, Collection, Failure, Paper, Passage, Reference, Remark
from corpus.settings import Settings
from corpus.store import Corpus, CorpusWriter, KnownPaper
from corpus.text import storable
from indexer.document import Document, ParseError
from indexer.passages import indexed_text, make_passages
from indexer.reading import file_sha256, is_pdf, read_document
from indexer.sources.protocol import Source, SourcePaper

# Part of every fingerprint: raise it when the same file would give other passages.
INDEXER_VERSION = 1
PASSAGES_PER_BLOCK = 512

Progress = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class IndexedPaper:
    """A paper ready for the corpus."""

    paper: Paper
    references: tuple[Reference, ...]
    passages: tuple[Passage, ...]
    pdf: Path | None
    notes: tuple[str, ...] = ()


@dataclass(slots=True)
class _Tally:
    """What a build has seen so far."""

    known: Mapping[str, KnownPaper]
    seen: set[str] = field(default_factory=set)
    moved: dict[str, int] = field(default_factory=dict)
    added: int = 0
    changed: int = 0
    unchanged: int = 0
    passages: int = 0
    failures: list[Failure] = field(default_factory=list)
    remarks: list[Remark] = field(default_factory=list)

    @property
    def gone(self) -> list[str]:
        return [identifier for identifier in self.known if identifier not in self.seen]

    @property
    def changes_papers(self) -> bool:
        return bool(self.added or self.changed or self.moved or self.gone)


def build_collection(settings: Settings, encoder: Encoder, source: Source, progress: Progress) -> Build:
    """Bring one collection of the corpus up to date with its source.

    A paper whose fingerprint is unchanged is left alone; one that cannot be read is named in the report,
    and what the corpus held of it stays. `progress` is called with the name of each paper that is done
    with. Raises CorpusError and SourceError.
    """
    with build_lock(settings):
        started, clock = datetime.now(UTC), time.perf_counter()
        writer = CorpusWriter(settings.corpus_path, encoder)
        published = writer.published()
        _check_source(published, source.collection)
        tally = _Tally(published.known_papers(source.collection.id) if published else {})
        with ThreadPoolExecutor(max_workers=1) as pool:
            pending: list[Future[None]] = []
            for block in _blocks(_changed_papers(source, tally, progress)):
                pending.append(pool.submit(_write, writer, block, _encode(encoder, block), settings))
                for item in block:
                    progress(item.paper.title)
            for future in pending:
                future.result()
        writer.remove_papers(tally.gone)
        writer.move_papers(tally.moved)
        build = _report(source, encoder, tally, started, time.perf_counter() - clock)
        if tally.changes_papers or not _built(published, source.collection, build):
            writer.put_collection(source.collection)
            writer.add_build(build)
            writer.publish()
        return replace(build, seconds=time.perf_counter() - clock)


def _check_source(published: Corpus | None, collection: Collection) -> None:
    """Raise CorpusError when the collection's id is taken by one of another kind, whose papers would go."""
    for held in (summary.collection for summary in (published.collections() if published else ())):
        if held.id == collection.id and held.source != collection.source:
            raise CorpusError(
                f"The corpus already holds a collection {held.id!r} of another kind ({held.source}). Choose "
                f"another id, or remove that one first: python -m indexer remove {held.id}"
            )


def build_lock(settings: Settings) -> FileLock:
    """Return the lock that lets one build run at a time; entering it raises CorpusError when one does."""
    try:
        settings.home.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise CorpusError(f"The folder {settings.home} cannot be written: {error.strerror}.") from error
    return _BuildLock(settings.home / "build.lock", timeout=0)


class _BuildLock(FileLock):
    def __enter__(self) -> "_BuildLock":
        try:
            super().__enter__()
        except Timeout as error:
            raise CorpusError(
                "Another build is writing to this corpus. Wait for it to end, then run this again."
            ) from error
        except OSError as error:
            raise CorpusError(f"The corpus folder cannot be written: {error.strerror}.") from error
        return self


def _changed_papers(source: Source, tally: _Tally, progress: Progress) -> Iterator[IndexedPaper]:
    """Yield the papers that are new or changed, counting the others."""
    for entry in source.papers():
        try:
            indexed = _index(entry, tally)
        except ParseError as error:
            tally.failures.append(Failure(storable(entry.name), storable(str(error))))
            progress(entry.name)
            continue
        if indexed is None:
            tally.unchanged += 1
            progress(entry.name)
            continue
        tally.changed += entry.paper.id in tally.known
        tally.added += entry.paper.id not in tally.known
        tally.passages += len(indexed.passages)
        tally.remarks += [Remark(storable(entry.name), storable(note)) for note in indexed.notes]
        yield indexed


def _index(entry: SourcePaper, tally: _Tally) -> IndexedPaper | None:
    """Return the paper ready for the corpus, None when it is unchanged; raises ParseError."""
    if entry.paper.id in tally.seen:
        raise ParseError("the source lists this paper twice; the first was taken")
    tally.seen.add(entry.paper.id)
    sha256 = file_sha256(entry.file) if entry.file else ""
    fingerprint = _fingerprint(entry, sha256)
    known = tally.known.get(entry.paper.id)
    if known and known.fingerprint == fingerprint:
        if known.position != entry.paper.position:
            tally.moved[entry.paper.id] = entry.paper.position
        return None
    document = read_document(entry.file) if entry.file else None
    pdf = entry.file if entry.file and is_pdf(entry.file) else None
    paper = _completed(entry, document, sha256 if pdf else "", fingerprint)
    references = entry.references or (document.references if document else ())
    notes = document.notes if document else ()
    return IndexedPaper(paper, references, make_passages(paper, document), pdf, notes)


def _fingerprint(entry: SourcePaper, sha256: str) -> str:
    """Return a hash of all that a paper is made from; its place in the collection is not part of it."""
    paper = replace(entry.paper, position=0)
    facts = [INDEXER_VERSION, sha256, asdict(paper), [asdict(item) for item in entry.references]]
    return hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()


def _completed(entry: SourcePaper, document: Document | None, pdf_sha256: str, fingerprint: str) -> Paper:
    """Return the source's metadata completed by what the parser found."""
    paper = replace(entry.paper, fingerprint=fingerprint, pdf_sha256=pdf_sha256)
    if document is not None:
        authors: tuple[Author, ...] = paper.authors or document.authors
        paper = replace(
            paper,
            title=paper.title or document.title or entry.name,
            authors=authors,
            year=paper.year or document.year,
            doi=paper.doi or document.doi,
            abstract=paper.abstract or "\n\n".join(paragraph.text for paragraph in document.abstract),
            keywords=paper.keywords or document.keywords,
            parser=document.parser,
            parser_version=document.parser_version,
            page_count=document.page_count,
            full_text=any(section.paragraphs for section in document.sections),
        )
    return replace(paper, bibtex=paper.bibtex or bibtex(paper))


def _blocks(papers: Iterator[IndexedPaper]) -> Iterator[list[IndexedPaper]]:
    block: list[IndexedPaper] = []
    size = 0
    for paper in papers:
        block.append(paper)
        size += len(paper.passages)
        if size >= PASSAGES_PER_BLOCK:
            yield block
            block, size = [], 0
    if block:
        yield block


@dataclass(frozen=True, slots=True)
class _EncodedBlock:
    passages: list[Passage]
    indexed: list[str]
    vectors: Vectors


def _encode(encoder: Encoder, block: Sequence[IndexedPaper]) -> _EncodedBlock:
    passages = [passage for item in block for passage in item.passages]
    indexed = [indexed_text(item.paper, passage) for item in block for passage in item.passages]
    return _EncodedBlock(passages, indexed, encoder.encode_passages(indexed))


def _write(
    writer: CorpusWriter, block: Sequence[IndexedPaper], encoded: _EncodedBlock, settings: Settings
) -> None:
    for item in block:
        _keep_pdf(item, settings.pdf_path)
    writer.remove_papers([item.paper.id for item in block])
    years = {item.paper.id: item.paper.year for item in block}
    writer.add_papers(
        rows.paper_rows([(item.paper, item.references) for item in block]),
        rows.passage_rows(encoded.passages, years, encoded.indexed, encoded.vectors),
    )


def _keep_pdf(item: IndexedPaper, folder: Path) -> None:
    """Copy a paper's PDF beside the corpus under its hash, so that page images outlive the original."""
    target = folder / f"{item.paper.pdf_sha256}.pdf"
    if item.pdf is None or target.exists():
        return
    temporary = target.with_suffix(".new")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(item.pdf, temporary)
        temporary.replace(target)
    except OSError as error:
        raise CorpusError(f"{item.pdf.name} cannot be copied to {folder}: {error.strerror}.") from error


def _report(source: Source, encoder: Encoder, tally: _Tally, started: datetime, seconds: float) -> Build:
    stamp = started.isoformat(timespec="milliseconds")
    return Build(
        id=f"{source.collection.id}@{stamp}",
        collection_id=source.collection.id,
        started=stamp,
        seconds=seconds,
        encoder=encoder.name,
        encoder_sha256=encoder.sha256,
        added=tally.added,
        changed=tally.changed,
        unchanged=tally.unchanged,
        removed=len(tally.gone),
        passages=tally.passages,
        failures=tuple(tally.failures),
        remarks=tuple(tally.remarks),
    )


def _built(published: Corpus | None, collection: Collection, build: Build) -> bool:
    """Tell whether the last build of the collection already describes it so and reports the same failures."""
    if published is None or collection not in (summary.collection for summary in published.collections()):
        return False
    earlier = [old for old in published.builds() if old.collection_id == collection.id]
    return bool(earlier) and earlier[-1].failures == build.failures
