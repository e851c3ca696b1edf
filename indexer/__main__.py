"""The indexer's command line: paper collections in, corpus out."""

import json
import re
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any, NoReturn

import typer
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Column, Table

from corpus.encoder import SentenceEncoder
from corpus.errors import CorpusError
from corpus.records import Build, Collection
from corpus.settings import Settings, read_settings
from corpus.store import Corpus, CorpusWriter
from corpus.text import storable
from indexer.build import build_collection, build_lock
from indexer.sources.protocol import Source, SourceError

app = typer.Typer(
    help="Read paper collections into the corpus.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
# Standard output carries results, standard error everything said on the way.
out, err = Console(), Console(stderr=True)

JsonOption = Annotated[bool, typer.Option("--json", help="Print the result as one JSON document.")]
CollectionOption = Annotated[
    str, typer.Option("--collection", help="The collection's id, such as my-papers.")
]
TitleOption = Annotated[str, typer.Option("--title", help="The collection's title as readers see it.")]
COLLECTION_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,79}")


@app.command()
def demo(as_json: JsonOption = False) -> None:
    """Index the demonstration collection."""
    from indexer.sources.demo import demo_volumes  # noqa: PLC0415 - each command loads only its own source

    _build(demo_volumes(), as_json)


@app.command()
def acl(
    volumes: Annotated[list[str], typer.Argument(help="Volume ids, such as 2022.acl-long or P19-1.")],
    anthology: Annotated[
        Path | None, typer.Option(help="A local Anthology data directory; downloaded when not given.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Index volumes of the ACL Anthology: titles and abstracts."""
    from indexer.sources.acl_anthology import open_volumes  # noqa: PLC0415

    try:
        opened = open_volumes(volumes, anthology, read_settings().home / "anthology")
    except (CorpusError, SourceError) as error:
        _fail(error, as_json)
    _build(opened, as_json)


@app.command()
def pdfs(
    directory: Path, collection: CollectionOption, title: TitleOption, as_json: JsonOption = False
) -> None:
    """Index a folder of PDFs, one paper each, without a GROBID server."""
    from indexer.sources.folder import PDF_SUFFIXES  # noqa: PLC0415

    _build_folder(
        directory,
        Collection(collection, storable(title).strip(), source="Folder of PDFs"),
        PDF_SUFFIXES,
        as_json,
    )


@app.command()
def tei(
    directory: Path, collection: CollectionOption, title: TitleOption, as_json: JsonOption = False
) -> None:
    """Index a folder of GROBID's TEI files, one paper each."""
    from indexer.sources.folder import TEI_SUFFIXES  # noqa: PLC0415

    _build_folder(
        directory,
        Collection(collection, storable(title).strip(), source="Folder of TEI files"),
        TEI_SUFFIXES,
        as_json,
    )


@app.command()
def status(as_json: JsonOption = False) -> None:
    """Say what the corpus holds."""
    try:
        settings = read_settings()
        corpus = Corpus.open(settings.corpus_path, SentenceEncoder(settings.encoder))
    except CorpusError as error:
        _fail(error, as_json)
    summaries = corpus.collections()
    if as_json:
        _print_json(
            {
                "home": str(settings.home),
                "encoder": corpus.manifest.encoder,
                "papers": sum(summary.papers for summary in summaries),
                "passages": sum(summary.passages for summary in summaries),
                "collections": [
                    {
                        "id": summary.collection.id,
                        "title": summary.collection.title,
                        "papers": summary.papers,
                        "passages": summary.passages,
                        "full_texts": summary.full_texts,
                        "failed": summary.failed,
                        "built": summary.built,
                    }
                    for summary in summaries
                ],
            }
        )
        return
    table = Table(
        Column("Collection", overflow="fold", min_width=10),
        *_right("Papers", "Passages", "Full texts", "Failed"),
        box=SIMPLE_HEAD,
    )
    for summary in summaries:
        counts = (summary.papers, summary.passages, summary.full_texts, summary.failed)
        name = f"[bold]{summary.collection.id}[/bold]\n{escape(summary.collection.title)}"
        table.add_row(name, *(f"{n:,}" for n in counts))
    out.print(table)
    out.print(f"Corpus: {settings.corpus_path}   Encoder: {corpus.manifest.encoder}", soft_wrap=True)


@app.command()
def remove(collection: str, as_json: JsonOption = False) -> None:
    """Remove a collection from the corpus."""
    try:
        settings = read_settings()
        encoder = SentenceEncoder(settings.encoder)
        papers = _papers_of(Corpus.open(settings.corpus_path, encoder), collection)
        with build_lock(settings):
            writer = CorpusWriter(settings.corpus_path, encoder)
            writer.remove_collection(collection)
            writer.publish()
    except CorpusError as error:
        _fail(error, as_json)
    if as_json:
        _print_json({"removed": collection, "papers": papers})
    else:
        out.print(f"Removed {collection}: {papers:,} papers.")


def _papers_of(corpus: Corpus, collection: str) -> int:
    counts = {summary.collection.id: summary.papers for summary in corpus.collections()}
    if collection not in counts:
        held = ", ".join(counts) or "none"
        raise CorpusError(f"The corpus has no collection {collection!r}. It holds: {held}.")
    return counts[collection]


def _build_folder(directory: Path, collection: Collection, suffixes: tuple[str, ...], as_json: bool) -> None:
    from indexer.sources.folder import Folder  # noqa: PLC0415

    try:
        if not COLLECTION_ID.fullmatch(collection.id):
            raise SourceError(
                f"{collection.id!r} cannot be a collection's id. Use letters, digits, dots and dashes."
            )
        if not collection.title:
            raise SourceError("The collection has no title. Give it one with --title.")
        source = Folder(directory, collection, suffixes)
    except SourceError as error:
        _fail(error, as_json)
    _build([source], as_json)


def _build(sources: Sequence[Source], as_json: bool) -> None:
    """Build every source and report; ends with exit code 2 when none of them brought a single paper."""
    builds: list[Build] = []
    failure: CorpusError | SourceError | None = None
    try:
        settings = read_settings()
        encoder = SentenceEncoder(settings.encoder)
        for source in sources:
            builds.append(_build_with_progress(settings, encoder, source))
    except (CorpusError, SourceError) as error:
        failure = error
    if builds and not as_json:
        _print_report(builds)
    report = {"builds": [asdict(build) for build in builds]}
    if failure:
        _fail(failure, as_json, report)
    if as_json:
        _print_json(report)
    if not any(build.added + build.changed + build.unchanged for build in builds):
        raise typer.Exit(2)


def _build_with_progress(settings: Settings, encoder: SentenceEncoder, source: Source) -> Build:
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("{task.fields[paper]}", markup=False),
    )
    with Progress(*columns, console=err) as progress:
        task = progress.add_task(source.collection.id, total=len(source), paper="")

        def advance(name: str) -> None:
            progress.update(task, advance=1, paper=name[:40])

        build = build_collection(settings, encoder, source, advance)
        progress.update(
            task, paper=f"{build.passages:,} passages embedded" if build.passages else "unchanged"
        )
    return build


def _print_report(builds: Sequence[Build]) -> None:
    table = Table(
        Column("Collection", overflow="fold", min_width=10),
        *_right("New", "Changed", "Same", "Gone", "Failed", "Passages", "Seconds"),
        box=SIMPLE_HEAD,
        padding=(0, 1, 0, 0),
    )
    for build in builds:
        counts = (build.added, build.changed, build.unchanged, build.removed, len(build.failures))
        table.add_row(
            build.collection_id, *(f"{n:,}" for n in counts), f"{build.passages:,}", f"{build.seconds:.1f}"
        )
    out.print(table)
    _print_listed("Not indexed", "Why", [(it.item, it.reason) for build in builds for it in build.failures])
    _print_listed("Indexed", "But", [(it.item, it.text) for build in builds for it in build.remarks])


def _print_listed(item: str, text: str, entries: Sequence[tuple[str, str]]) -> None:
    if not entries:
        return
    listed = Table(Column(item, overflow="fold"), text, box=SIMPLE_HEAD)
    for row in entries:
        listed.add_row(*map(escape, row))
    out.print(listed)


def _right(*headers: str) -> list[Column]:
    return [Column(header, justify="right", no_wrap=True, min_width=len(header)) for header in headers]


def _print_json(value: dict[str, Any]) -> None:
    typer.echo(json.dumps(value, ensure_ascii=False))


def _fail(error: Exception, as_json: bool, done: dict[str, Any] | None = None) -> NoReturn:
    """Say what went wrong and end; `done` is what was done before it."""
    if as_json:
        _print_json({**(done or {}), "error": str(error)})
    err.print(str(error), style="red", markup=False, soft_wrap=True)
    raise typer.Exit(2)


if __name__ == "__main__":
    app()
