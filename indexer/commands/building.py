"""Commands that bring papers into the corpus."""

import re
from collections.abc import Callable, Iterable, Sequence
from contextlib import nullcontext
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from corpus.encoder_choice import open_encoder
from corpus.encoders.base import Encoder
from corpus.errors import CorpusError
from corpus.records import Build, Collection
from corpus.settings import Settings, read_settings
from corpus.store.corpus import Corpus
from corpus.store.manifest import find_manifest
from corpus.text import storable
from indexer.build.engines import Engine
from indexer.build.run import BuildOptions, build_collections
from indexer.commands.engine_options import with_engine_options
from indexer.errors import SourceError
from indexer.parsers.registry import ParserChoice
from indexer.printing import (
    JsonOption,
    err,
    fail,
    out,
    print_figures,
    print_json,
    print_report,
    reports_errors,
    run_figures,
)
from indexer.sources.protocol import Source

CollectionOption = Annotated[
    str, typer.Option("--collection", help="The collection's id, such as my-papers.")
]
TitleOption = Annotated[str, typer.Option("--title", help="The collection's title as readers see it.")]
ParserOption = Annotated[
    ParserChoice,
    typer.Option(
        "--parser",
        help="What reads PDFs: auto is the GROBID server where one is set and answers, else pypdfium2.",
    ),
]
COLLECTION_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,79}")


@reports_errors
@with_engine_options
def demo(engine: Engine, as_json: JsonOption = False) -> None:
    """Index the demonstration collection."""
    from indexer.sources.demo import demo_volumes  # noqa: PLC0415 - each command loads only its own source

    _build(demo_volumes(), as_json, BuildOptions(engine=engine))


@reports_errors
@with_engine_options
def acl(
    engine: Engine,
    volumes: Annotated[
        list[str] | None, typer.Argument(help="Volume ids, such as 2022.acl-long or P19-1.")
    ] = None,
    everything: Annotated[bool, typer.Option("--all", help="Every volume of the Anthology.")] = False,
    anthology: Annotated[
        Path | None, typer.Option(help="A local Anthology data directory; downloaded when not given.")
    ] = None,
    pdfs: Annotated[
        Path | None,
        typer.Option(
            help="A folder of PDFs named by Anthology id. They join their papers' metadata; those of other "
            "volumes become a collection of their own."
        ),
    ] = None,
    download_pdfs: Annotated[
        bool, typer.Option("--download-pdfs", help="Fetch the papers' PDFs, one at a time.")
    ] = False,
    collection: CollectionOption = "acl-pdfs",
    title: TitleOption = "ACL papers with PDFs",
    parser: ParserOption = "auto",
    as_json: JsonOption = False,
) -> None:
    """Index volumes of the ACL Anthology: titles and abstracts, and full texts where PDFs are at hand."""
    from indexer.commands.acl import open_acl  # noqa: PLC0415

    with open_acl(
        read_settings(),
        _collection(collection, title, "ACL Anthology"),
        volumes=volumes or (),
        everything=everything,
        data=anthology,
        pdf_folder=pdfs,
        download=download_pdfs,
    ) as opened:
        _build(opened.sources, as_json, BuildOptions(parser, engine=engine), opened.remarks)


@reports_errors
@with_engine_options
def arxiv(
    engine: Engine,
    collection: CollectionOption,
    title: TitleOption,
    ids: Annotated[list[str] | None, typer.Argument(help="arXiv ids, such as 2104.08663.")] = None,
    query: Annotated[str, typer.Option(help="A query in arXiv's own language, such as cat:cs.CL.")] = "",
    most: Annotated[int, typer.Option("--max", min=1, max=2000, help="Papers of a query at most.")] = 100,
    download_pdfs: Annotated[
        bool, typer.Option("--download-pdfs", help="Fetch the papers' PDFs, one every three seconds.")
    ] = False,
    parser: ParserOption = "auto",
    as_json: JsonOption = False,
) -> None:
    """Index papers of arXiv: what a query finds now, or papers by their ids."""
    from indexer.sources.arxiv import ArxivPapers, ArxivSite  # noqa: PLC0415
    from indexer.web.downloads import Downloads  # noqa: PLC0415

    settings = read_settings()
    site = ArxivSite(settings.arxiv_url)
    folder = settings.downloads_path / "arxiv"
    with Downloads(folder, pause=site.pause) if download_pdfs else nullcontext() as downloads:
        source = ArxivPapers(
            _collection(collection, title, "arXiv"),
            query=query,
            ids=ids or (),
            limit=most,
            site=site,
            downloads=downloads,
        )
        _build([source], as_json, BuildOptions(parser, engine=engine))


@reports_errors
@with_engine_options
def folder(
    engine: Engine,
    directory: Path,
    collection: CollectionOption,
    title: TitleOption,
    parser: ParserOption = "auto",
    as_json: JsonOption = False,
) -> None:
    """Index a folder of papers, one file each: PDF, TEI, Markdown, plain text, Word."""
    from indexer.sources.folder import FOLDER_SUFFIXES  # noqa: PLC0415

    _build_folder(
        directory,
        (collection, title, "Folder"),
        FOLDER_SUFFIXES,
        as_json,
        BuildOptions(parser, engine=engine),
    )


@reports_errors
@with_engine_options
def pdfs(
    engine: Engine,
    directory: Path,
    collection: CollectionOption,
    title: TitleOption,
    parser: ParserOption = "auto",
    as_json: JsonOption = False,
) -> None:
    """Index the PDFs of a folder, one paper each."""
    from indexer.sources.folder import PDF_SUFFIXES  # noqa: PLC0415

    _build_folder(
        directory,
        (collection, title, "Folder of PDFs"),
        PDF_SUFFIXES,
        as_json,
        BuildOptions(parser, engine=engine),
    )


@reports_errors
@with_engine_options
def tei(
    engine: Engine,
    directory: Path,
    collection: CollectionOption,
    title: TitleOption,
    as_json: JsonOption = False,
) -> None:
    """Index a folder of GROBID's TEI files, one paper each."""
    from indexer.sources.folder import TEI_SUFFIXES  # noqa: PLC0415

    _build_folder(
        directory,
        (collection, title, "Folder of TEI files"),
        TEI_SUFFIXES,
        as_json,
        BuildOptions(engine=engine),
    )


@reports_errors
@with_engine_options
def zotero(
    engine: Engine,
    directory: Path,
    collection: CollectionOption = "zotero",
    title: TitleOption = "My Zotero library",
    only: Annotated[str, typer.Option(help="A collection (“Parent / Child”) or a tag.")] = "",
    linked: Annotated[
        Path | None, typer.Option(help="The folder below which files lie that Zotero only links to.")
    ] = None,
    parser: ParserOption = "auto",
    as_json: JsonOption = False,
) -> None:
    """Index a Zotero library from its data directory; Zotero may be running."""
    from indexer.sources.library import LibraryPapers  # noqa: PLC0415
    from indexer.sources.zotero import read_zotero  # noqa: PLC0415

    library = read_zotero(directory, only=only, linked=linked)
    source = LibraryPapers(_collection(collection, title, "Zotero"), library.items)
    _build([source], as_json, BuildOptions(parser, engine=engine), lambda: library.remarks)


@reports_errors
@with_engine_options
def references(
    engine: Engine,
    file: Path,
    collection: CollectionOption,
    title: TitleOption,
    parser: ParserOption = "auto",
    as_json: JsonOption = False,
) -> None:
    """Index a file of references (CSL-JSON, BibTeX, RIS) with the files beside it that it names."""
    from indexer.sources.library import LibraryPapers  # noqa: PLC0415
    from indexer.sources.references import read_references, unreadable_entries  # noqa: PLC0415

    source = LibraryPapers(_collection(collection, title, file.name), read_references(file))
    _build(
        [source],
        as_json,
        BuildOptions(parser, engine=engine),
        lambda: (*unreadable_entries(file), *source.nameless_entries()),
    )


@reports_errors
@with_engine_options
def reparse(
    engine: Engine,
    collections: Annotated[
        list[str] | None, typer.Argument(help="The collections' ids; all of the corpus when not given.")
    ] = None,
    parser: Annotated[
        ParserChoice, typer.Option("--parser", help="What shall read the PDFs: grobid or pypdfium2.")
    ] = "grobid",
    as_json: JsonOption = False,
) -> None:
    """Read kept PDFs again that another parser read; a paper it cannot read stays as it was."""
    from indexer.sources.corpus import KeptPapers  # noqa: PLC0415

    if parser == "auto":
        raise SourceError("Say which parser shall read the PDFs: --parser grobid or --parser pypdfium2.")
    settings = read_settings()
    corpus = Corpus.open(settings.corpus_path, open_encoder(settings))
    kept = (
        KeptPapers(corpus, corpus.collection(identifier), settings.pdf_path, parser)
        for identifier in collections or corpus.collection_ids()
    )
    sources = [source for source in kept if len(source)]
    if sources:
        _build(sources, as_json, BuildOptions(parser, again=True, engine=engine))
    elif as_json:
        print_json({"builds": []})
    else:
        out.print(f"No paper here has a PDF that {parser} has not read.")


def _build_folder(
    directory: Path,
    described: tuple[str, str, str],
    suffixes: tuple[str, ...],
    as_json: bool,
    options: BuildOptions,
) -> None:
    """Build the files with these suffixes; `described` is the collection's id, title and source."""
    from indexer.sources.folder import Folder  # noqa: PLC0415

    source = Folder(directory, _collection(*described), suffixes)
    _build([source], as_json, options, lambda: source.remarks)


def _collection(identifier: str, title: str, source: str) -> Collection:
    """Return a new collection; raises SourceError for an invalid id or an empty title."""
    if not COLLECTION_ID.fullmatch(identifier):
        raise SourceError(
            f"{identifier!r} cannot be a collection's id. Use letters, digits, dots and dashes."
        )
    title = storable(title).strip()
    if not title:
        raise SourceError("The collection has no title. Give it one with --title.")
    return Collection(identifier, title, source=source)


def _build(
    sources: Iterable[Source],
    as_json: bool,
    options: BuildOptions,
    remarks: Callable[[], Sequence[str]] = tuple,
) -> None:
    """Build the sources in one run and report; exit code 2 if no paper was indexed, 130 on Ctrl+C.

    `remarks` is called after the build and describes problems of the sources as a whole.
    """
    try:
        settings = read_settings()
        builds = _build_with_progress(settings, _ready_encoder(settings), sources, options)
    except (CorpusError, SourceError) as error:
        fail(error, as_json, {"builds": []})
    except KeyboardInterrupt:
        err.print("Stopped. The same command goes on from here; readers see the corpus as it was before.")
        raise typer.Exit(130) from None
    if as_json:
        report = {"builds": [asdict(build) for build in builds], "run": run_figures(builds)}
        print_json(report | {"remarks": list(remarks())})
    else:
        print_report(builds)
        print_figures(builds)
        for remark in remarks():
            out.print(remark, markup=False, highlight=False)
    if not any(build.added + build.changed + build.unchanged for build in builds):
        raise typer.Exit(2)


def _ready_encoder(settings: Settings) -> Encoder:
    """Return the encoder, loaded with a progress message in a home without a corpus."""
    encoder = open_encoder(settings)
    if find_manifest(settings.corpus_path)[0] is None:
        with err.status("Preparing the encoder, once for this folder; it may take a minute"):
            encoder.load()
    return encoder


def _build_with_progress(
    settings: Settings, encoder: Encoder, sources: Iterable[Source], options: BuildOptions
) -> tuple[Build, ...]:
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("{task.fields[paper]}", markup=False),
    )
    name, total = _extent(sources)
    with Progress(*columns, console=err) as progress:
        task = progress.add_task(name, total=total, paper="")

        def advance(paper: str) -> None:
            progress.update(task, advance=1, paper=paper[:40])

        builds = build_collections(settings, encoder, sources, advance, options)
        embedded = sum(build.passages for build in builds)
        progress.update(task, paper=f"{embedded:,} passages embedded" if embedded else "nothing new")
    return builds


def _extent(sources: Iterable[Source]) -> tuple[str, int | None]:
    """Return a name for the sources, and their number of papers, None if unknown."""
    if not isinstance(sources, Sequence):
        return "All volumes", None
    name = sources[0].collection.id if len(sources) == 1 else f"{len(sources):,} collections"
    return name, sum(map(len, sources))
