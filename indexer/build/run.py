"""The build: papers that sources list become papers and passages of the corpus, and a report.

Papers are prepared ahead, embedded in blocks and staged in files; at the end the tables are changed and
published in one step. After a crash the next build continues from the staged files.
"""

import hashlib
import json
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from itertools import count

from corpus.encoders.base import Encoder
from corpus.errors import CorpusError
from corpus.records import USUAL_SIZE, Build, Collection, Failure, ParserCount, PassageSize, Remark
from corpus.settings import Settings
from corpus.store.manifest import SCHEMA_VERSION, mixed_sizes
from corpus.store.writer import CorpusWriter, KnownPaper, known_papers
from corpus.text import storable
from indexer.build.encode import keep_pdf
from indexer.build.engines import BuiltPaper, Engine, ProcessEngine, Work
from indexer.build.staging import StagedPaper, Staging, has_staged
from indexer.errors import ParseError
from indexer.lock import build_lock
from indexer.paper_map.map import draw_map
from indexer.paper_map.subject_fields import assign_fields
from indexer.parsers.ocr.engines import OcrOptions
from indexer.parsers.registry import ParserChoice, file_sha256, is_pdf, open_tei_parser
from indexer.prepare.preparer import Task, unread_scan
from indexer.sources.protocol import Source, SourcePaper

# Part of every fingerprint: raise it when the same file would give other passages.
INDEXER_VERSION = 8

Progress = Callable[[str], None]


@dataclass(slots=True)
class _Tally:
    """The state of one collection in a build; `fresh` are fingerprints of new or changed papers."""

    collection: Collection
    known: Mapping[str, KnownPaper]
    seen: set[str] = field(default_factory=set)
    moved: dict[str, int] = field(default_factory=dict)
    fresh: dict[str, str] = field(default_factory=dict)
    unchanged: int = 0
    passages: int = 0
    parsers: Counter[str] = field(default_factory=Counter)
    failures: list[Failure] = field(default_factory=list)
    remarks: list[Remark] = field(default_factory=list)
    seconds: float = 0.0

    @property
    def changed(self) -> int:
        return sum(identifier in self.known for identifier in self.fresh)

    def count(self, staged: StagedPaper, name: str) -> None:
        """Count a staged paper; `name` is the source's name for it."""
        self.fresh[staged.id] = staged.fingerprint
        self.parsers[staged.parser] += 1
        self.passages += staged.passages
        self.remarks += [Remark(storable(name), storable(note)) for note in staged.notes]

    def fail(self, name: str, reason: str) -> None:
        self.failures.append(Failure(storable(name), storable(reason)))


@dataclass(frozen=True, slots=True)
class BuildOptions:
    """The options of a build: its parser, its engine, and whether to parse `again`.

    With `again`, papers that the source lists are parsed even if unchanged, and papers it does not list stay.
    """

    parser: ParserChoice = "auto"
    again: bool = False
    engine: Engine = field(default_factory=ProcessEngine)


DEFAULT_OPTIONS = BuildOptions()


def build_collection(
    settings: Settings,
    encoder: Encoder,
    source: Source,
    progress: Progress,
    options: BuildOptions = DEFAULT_OPTIONS,
) -> Build:
    """Bring one collection of the corpus up to date with its source; see `build_collections`."""
    return build_collections(settings, encoder, [source], progress, options)[0]


def build_collections(
    settings: Settings,
    encoder: Encoder,
    sources: Iterable[Source],
    progress: Progress,
    options: BuildOptions = DEFAULT_OPTIONS,
) -> tuple[Build, ...]:
    """Bring collections of the corpus up to date with their sources and publish them in one step.

    A paper whose fingerprint is unchanged is skipped; one that cannot be read is named in the report, and
    its rows in the corpus stay. `progress` is called with the name of each finished paper. Sources are read
    one after the other, so that an iterator need not hold them all. Raises CorpusError and SourceError; what
    was embedded before the error is staged, and the next build of the same collections continues from it.
    """
    with build_lock(settings):
        return _Run(settings, encoder, options).build(sources, progress)


class _Run:
    """One run of the indexer over some collections."""

    def __init__(self, settings: Settings, encoder: Encoder, options: BuildOptions) -> None:
        self._settings, self._encoder, self._options = settings, encoder, options
        self._ocr = OcrOptions.of(settings)
        self._started, self._clock = datetime.now(UTC), time.perf_counter()
        # Staged files without a manifest: the first build was killed while it wrote the tables.
        self._writer = CorpusWriter(
            settings.corpus_path, encoder, unfinished=has_staged(settings.staging_path)
        )
        self._published = self._writer.published()
        self._staging = Staging(settings.staging_path, _staging_key(encoder, options))
        self._tallies: dict[str, _Tally] = {}
        self._homes: dict[str, str] = {}
        self._remark: Remark | None = None

    def build(self, sources: Iterable[Source], progress: Progress) -> tuple[Build, ...]:
        self._embed(sources, progress)
        builds = self._commit(list(self._tallies.values()))
        self._staging.discard(list(self._tallies))
        return builds

    def _embed(self, sources: Iterable[Source], progress: Progress) -> None:
        """Prepare, embed and stage the new papers."""
        grobid, self._remark = open_tei_parser(self._settings, self._options.parser)
        fall_back = self._options.parser != "grobid"
        work = Work(self._settings, self._encoder, self._staging, grobid, fall_back, self._ocr)

        def unread(task: Task, error: ParseError) -> None:
            self._tallies[task.entry.paper.collection_id].fail(task.entry.name, str(error))
            progress(task.entry.name)

        with closing(self._options.engine.stage(work, self._tasks(sources, progress), unread)) as done:
            for block in done:
                self._count(block)
                for paper in block:
                    progress(paper.title)

    def _count(self, block: Sequence[BuiltPaper]) -> None:
        """Count the papers of a block, and the time since the last block by their numbers of passages."""
        seconds = time.perf_counter() - self._clock
        self._clock += seconds
        passages = sum(paper.staged.passages for paper in block)
        for paper in block:
            tally = self._tallies[paper.staged.collection_id]
            tally.count(paper.staged, paper.name)
            tally.seconds += seconds * paper.staged.passages / passages

    def _size_of(self, collection: Collection) -> PassageSize:
        """Return a collection's passage size: a reparse keeps the published one."""
        if self._options.again and self._published:
            return self._published.manifest.size_of(collection.id)
        return self._settings.passage_size

    def _tasks(self, sources: Iterable[Source], progress: Progress) -> Iterator[Task]:
        """Yield the papers to prepare, counting the rest."""
        published = (
            [summary.collection for summary in self._published.collections()] if self._published else []
        )
        known = known_papers(self._published) if self._published else {}
        self._homes = {paper: home for home, papers in known.items() for paper in papers}
        numbers = count()
        for source in sources:
            collection = source.collection
            _check_source(published, collection)
            tally = _Tally(collection, known.get(collection.id, {}))
            self._tallies[collection.id] = tally
            for entry in source.papers():
                number = next(numbers)
                try:
                    task = self._task(entry, tally, number)
                except ParseError as error:
                    # Reported in its turn, so that the report keeps the order of the source.
                    task = Task(replace(entry, problem=str(error)), "")
                if task:
                    yield task
                else:
                    progress(entry.name)

    def _task(self, entry: SourcePaper, tally: _Tally, number: int) -> Task | None:
        """Return the task for a paper, None for an unchanged one; raises ParseError."""
        identifier = entry.paper.id
        if entry.problem:
            raise ParseError(entry.problem)
        if identifier in tally.seen:
            raise ParseError("the source lists this paper twice; the first was taken")
        home = self._homes.setdefault(identifier, tally.collection.id)
        if home != tally.collection.id:
            raise ParseError(f"it is in the collection {home!r} already")
        tally.seen.add(identifier)
        sha256 = file_sha256(entry.file) if entry.file else ""
        shown = file_sha256(entry.pdf) if entry.pdf else sha256 if entry.file and is_pdf(entry.file) else ""
        size = self._size_of(tally.collection)
        fingerprint = _fingerprint(entry, sha256, shown, size)
        indexed = tally.known.get(identifier)
        known = indexed is not None
        task = Task(entry, fingerprint, sha256, shown, known=known, size=size, number=number)
        if indexed and not self._options.again and self._is_unchanged(indexed.fingerprint, fingerprint):
            tally.unchanged += 1
            if indexed.has_pdf:
                keep_pdf(task.pdf, task.pdf_sha256, self._settings.pdf_path)
            if indexed.position != entry.paper.position:
                tally.moved[identifier] = entry.paper.position
            return None
        if staged := self._staging.get(identifier, fingerprint):
            tally.count(staged, entry.name)
            return None
        return task

    def _is_unchanged(self, before: str, now: str) -> bool:
        """Compare fingerprints; a scan that was not read stays so while no OCR engine is installed."""
        return before == now or (not self._ocr.engine and before == unread_scan(now))

    def _commit(self, tallies: Sequence[_Tally]) -> tuple[Build, ...]:
        """Change the tables and publish, unless nothing differs from what is published."""
        corpus = self._published
        earlier = {build.collection_id: build for build in corpus.builds()} if corpus else {}
        collections = {summary.collection for summary in corpus.collections()} if corpus else set()
        altered = [
            tally
            for tally in tallies
            if tally.fresh
            or tally.moved
            or self._gone(tally)
            or tally.collection not in collections
            or tally.collection.id not in earlier
            or earlier[tally.collection.id].failures != tuple(tally.failures)
        ]
        self._share_rest(tallies)
        if self._remark and tallies:
            tallies[0].remarks.insert(0, self._remark)
        self._remark_on_sizes(tallies)
        if altered:
            papers_differ = any(tally.fresh or self._gone(tally) for tally in altered)
            self._write(altered)
            for tally in altered:
                self._writer.cut_as(self._size_of(tally.collection), [tally.collection.id])
            self._writer.put_collections([tally.collection for tally in altered])
            if papers_differ:
                assign_fields(self._writer, self._encoder)
            with ThreadPoolExecutor(1) as thread:
                indexed = thread.submit(self._writer.index)
                if papers_differ and (problem := draw_map(self._writer)):
                    altered[0].remarks.insert(0, Remark("the map", storable(problem)))
                indexed.result()
            self._writer.add_builds([self._report(tally) for tally in altered])
            self._writer.publish()
        self._share_rest(tallies)
        return tuple(self._report(tally) for tally in tallies)

    def _remark_on_sizes(self, tallies: Sequence[_Tally]) -> None:
        """Add remarks where passages differ in size: their scores are hard to compare."""
        if not (tallies and self._published):
            return
        manifest, sizes = self._published.manifest, self._published.passage_sizes()
        for tally in tallies:
            before = manifest.size_of(tally.collection.id)
            kept = len((tally.known.keys() & tally.seen) - tally.fresh.keys()) - tally.unchanged
            if self._size_of(tally.collection) != before and kept > 0:
                text = f"{kept:,} of its papers could not be read anew and keep passages of {before}"
                tally.remarks.insert(0, Remark(tally.collection.id, text))
        now = {tally.collection.id: self._size_of(tally.collection) for tally in tallies}
        if problem := mixed_sizes(sizes | now):
            tallies[0].remarks.insert(0, Remark("the corpus", problem))

    def _share_rest(self, tallies: Sequence[_Tally]) -> None:
        """Share the time since the last block among all collections."""
        seconds = time.perf_counter() - self._clock
        self._clock += seconds
        for tally in tallies:
            tally.seconds += seconds / len(tallies)

    def _gone(self, tally: _Tally) -> list[str]:
        if self._options.again:
            return []
        return [identifier for identifier in tally.known if identifier not in tally.seen]

    def _write(self, tallies: Sequence[_Tally]) -> None:
        """Replace changed papers; the rows are streamed from the staged files."""
        outdated = [
            identifier
            for tally in tallies
            for identifier in (*(paper for paper in tally.fresh if paper in tally.known), *self._gone(tally))
        ]
        fresh = {paper: fingerprint for tally in tallies for paper, fingerprint in tally.fresh.items()}
        self._writer.remove_papers(outdated)
        if fresh:
            papers, passages = self._staging.paper_batches(fresh), self._staging.passage_batches(fresh)
            self._writer.add_papers(papers, passages)
        self._writer.move_papers(
            {paper: position for tally in tallies for paper, position in tally.moved.items()}
        )

    def _report(self, tally: _Tally) -> Build:
        stamp = self._started.isoformat(timespec="milliseconds")
        return Build(
            id=f"{tally.collection.id}@{stamp}",
            collection_id=tally.collection.id,
            started=stamp,
            seconds=tally.seconds,
            encoder=self._encoder.name,
            encoder_sha256=self._encoder.sha256,
            added=len(tally.fresh) - tally.changed,
            changed=tally.changed,
            unchanged=tally.unchanged,
            removed=len(self._gone(tally)),
            passages=tally.passages,
            failures=tuple(tally.failures),
            remarks=tuple(tally.remarks),
            parsers=tuple(ParserCount(*entry) for entry in sorted(tally.parsers.items())),
            peak_memory_mib=_peak_memory_mib(),
        )


def _fingerprint(entry: SourcePaper, sha256: str, pdf_sha256: str, size: PassageSize) -> str:
    """Return a hash of everything a paper is made from, without its position in the collection."""
    paper = replace(entry.paper, position=0)
    references = [asdict(item) for item in entry.references]
    facts = [INDEXER_VERSION, sha256, pdf_sha256, asdict(paper), references]
    if size != USUAL_SIZE:
        facts.append(asdict(size))
    return hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()


def _staging_key(encoder: Encoder, options: BuildOptions) -> str:
    """Return the key that staged papers must share with a build to be reused."""
    parser = options.parser if options.again else ""
    encoded_by = f"{encoder.name} {encoder.sha256} {encoder.runtime}"
    return f"{SCHEMA_VERSION} {INDEXER_VERSION} {encoded_by} {parser}"


def _check_source(published: Sequence[Collection], collection: Collection) -> None:
    """Raise CorpusError when a collection of another source has the same id: its papers would be removed."""
    for other in published:
        if other.id == collection.id and other.source != collection.source:
            raise CorpusError(
                f"The corpus already holds a collection {collection.id!r} of another kind ({other.source}). "
                f"Choose another id, or remove that one first: paper-trail index remove {collection.id}"
            )


def _peak_memory_mib() -> int:
    """Return the peak resident memory of this process, 0 where the system does not report it."""
    try:
        import resource  # noqa: PLC0415 - Windows has none
    except ImportError:
        return 0
    # Linux counts it in KiB, macOS in bytes.
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return int(peak // (1024**2 if sys.platform == "darwin" else 1024))


def unfinished(settings: Settings, encoder: Encoder) -> dict[str, int]:
    """Count the papers per collection that an unfinished build has staged."""
    if not has_staged(settings.staging_path):
        return {}
    return Staging(settings.staging_path, _staging_key(encoder, DEFAULT_OPTIONS)).waiting()
