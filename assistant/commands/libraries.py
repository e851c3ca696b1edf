"""The operator's commands for kept libraries of all owners."""

from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer
from rich.box import SIMPLE_HEAD
from rich.markup import escape
from rich.table import Column, Table

from assistant.commands.keeping import Identifier
from assistant.commands.opening import check_writable
from assistant.commands.printing import JsonOption, err, failing, out, print_json, say
from assistant.libraries.keeping import Libraries, LibraryLimits
from assistant.records import AssistantError
from assistant.storage.libraries import LibraryStore, StoredLibrary
from corpus.command_line import new_app
from corpus.settings import read_settings
from corpus.wording import counted

libraries = new_app(
    help="List, show, rename, export and delete the libraries that visitors keep.", no_args_is_help=True
)


@contextmanager
def opened_libraries() -> Iterator[Libraries]:
    settings = read_settings()
    with closing(LibraryStore.open(settings)) as store:
        yield Libraries(settings.libraries_path, store, LibraryLimits.of(settings))


def _facts(kept: Libraries, stored: StoredLibrary) -> dict[str, str | int | bool]:
    return {
        "id": stored.id,
        "title": stored.title,
        "owner": stored.owner,
        "documents": kept.count_documents(stored.id),
        "bytes": kept.room.size_of(kept.folder(stored.id).path),
        "is_shared": bool(stored.link),
    }


@libraries.command("list")
def list_libraries(
    *,
    owner: Annotated[str, typer.Option(help="Whose, as the list shows it; all if not given.")] = "",
    as_json: JsonOption = False,
) -> None:
    """List the kept libraries, the one last changed first."""
    with failing(as_json=as_json), opened_libraries() as kept:
        listed = [_facts(kept, library) for library in kept.store.everyones() if owner in ("", library.owner)]
    if as_json:
        print_json({"libraries": listed})
        return
    if not listed:
        err.print("No libraries are kept.")
        return
    table = Table(Column("Id", no_wrap=True), "Name", "Documents", "MB", "Shared", "Owner", box=SIMPLE_HEAD)
    for library in listed:
        megabytes = f"{int(library['bytes']) / 1_000_000:.1f}"
        shared = "by link" if library["is_shared"] else ""
        shown_owner = f"{str(library['owner'])[:16]}…"
        row = (library["id"], library["title"], library["documents"], megabytes, shared, shown_owner)
        table.add_row(*(escape(str(cell)) for cell in row))
    out.print(table)


@libraries.command()
def show(identifier: Identifier, *, as_json: JsonOption = False) -> None:
    """Print what a library holds, and how much is stored over it."""
    with failing(as_json=as_json), opened_libraries() as kept:
        stored = kept.own(identifier, None)
        papers = kept.as_kept(identifier).papers()
        facts, over = _facts(kept, stored), kept.store.over(identifier)
    if as_json:
        documents = [{"id": paper.id, "title": paper.title, "file": paper.source} for paper in papers]
        print_json(facts | {"holds": documents, **asdict(over)})
        return
    out.print(escape(stored.title), style="bold")
    for paper in papers:
        out.print(f"- {escape(paper.title)} ({escape(paper.source)})")
    counts = counted(len(over.conversations), "conversation"), counted(len(over.comparisons), "comparison")
    say(f"{' and '.join(counts)} over it.")


@libraries.command()
def rename(
    identifier: Identifier,
    title: Annotated[str, typer.Argument(help="Its new name.")],
    *,
    as_json: JsonOption = False,
) -> None:
    """Give a library another name."""
    with failing(as_json=as_json), opened_libraries() as kept:
        kept.rename(identifier, None, kept.own(identifier, None).title, title)
    print_json({"renamed": identifier}) if as_json else say("Renamed.")


@libraries.command()
def export(
    identifier: Identifier,
    file: Annotated[Path, typer.Argument(help="The zip to write.")],
    *,
    as_json: JsonOption = False,
) -> None:
    """Write a library's files as they were brought, and lists of what was read of them, to a zip."""
    with failing(as_json=as_json), opened_libraries() as kept:
        check_writable(file)
        kept.own(identifier, None)
        try:
            with file.open("wb") as target:
                kept.export(identifier, None, target)
        except OSError as error:
            raise AssistantError(f"The file {file} cannot be written: {error.strerror}.") from error
    print_json({"exported": identifier, "file": str(file)}) if as_json else say(f"Written to {file}.")


@libraries.command()
def delete(identifier: Identifier, *, as_json: JsonOption = False) -> None:
    """Delete a library with its files and all conversations and comparisons over it, for good."""
    with failing(as_json=as_json), opened_libraries() as kept:
        gone = kept.delete(identifier, None)
    over = gone.over
    if as_json:
        print_json({"deleted": identifier, "documents": gone.documents, **asdict(over)})
        return
    parts = (
        counted(gone.documents, "document"),
        counted(len(over.conversations), "conversation"),
        counted(len(over.comparisons), "comparison"),
    )
    say(f"Deleted: {', '.join(parts)}.")
