"""The commands for what readers keep of papers: notes, reading lists and what they follow."""

from dataclasses import asdict
from typing import Annotated

import typer
from rich.box import SIMPLE_HEAD
from rich.markup import escape
from rich.table import Column, Table

from assistant.commands.opening import OWNER, opened_reading
from assistant.commands.printing import JsonOption, err, failing, out, print_json, say
from assistant.records import AssistantError
from assistant.storage.reading import KINDS as READING_KINDS
from corpus.command_line import new_app
from corpus.wording import counted

Owner = Annotated[str, typer.Option(help="Whose.")]

app = new_app(
    help="List, export and delete what readers keep of papers: notes, reading lists, what they follow.",
    no_args_is_help=True,
)


@app.command("list")
def list_kept(
    *,
    owner: Owner = OWNER,
    limit: Annotated[int, typer.Option(min=1, help="How many at most.")] = 50,
    offset: Annotated[int, typer.Option(min=0, help="How many to pass over.")] = 0,
    as_json: JsonOption = False,
) -> None:
    """List what a reader keeps of papers, what was last changed first."""
    with failing(as_json=as_json), opened_reading() as store:
        summaries = store.list(owner, limit, offset)
    if as_json:
        print_json({"reading": [asdict(summary) for summary in summaries]})
    elif summaries:
        table = Table(Column("Id", no_wrap=True), "Kind", "Title", "Paper", "Changed", box=SIMPLE_HEAD)
        for summary in summaries:
            changed = summary.updated[:16].replace("T", " ")
            table.add_row(
                *map(escape, (summary.id, READING_KINDS[summary.kind], summary.title, summary.paper, changed))
            )
        out.print(table)
    else:
        err.print("Nothing is kept. Notes are written on the Paper screen, or kept from an imported trail.")


@app.command("export")
def export_kept(*, owner: Owner = OWNER) -> None:
    """Print everything that a reader keeps as JSON."""
    with failing(as_json=True), opened_reading() as store:
        kept = {
            "notes": [asdict(note.record) for note in store.annotations(owner)],
            "reading_list": [asdict(paper) for paper in store.reading_list(owner)],
            "followed": [asdict(search.record) for search in store.followed(owner)],
        }
    print_json(kept)


@app.command()
def delete(
    identifier: Annotated[str, typer.Argument(help="Its id, as the list shows it.")] = "",
    *,
    owner: Annotated[str, typer.Option(help="Delete everything that this reader keeps.")] = "",
    as_json: JsonOption = False,
) -> None:
    """Permanently delete one kept thing, or everything that one reader keeps."""
    with failing(as_json=as_json), opened_reading() as store:
        if bool(identifier) == bool(owner):
            raise AssistantError("Give the id of what is to be deleted, or --owner for all of a reader.")
        if owner:
            count = store.delete_all(owner)
        elif not (count := int(store.delete(identifier))):
            raise AssistantError(f"Nothing is kept as {identifier!r}. It may have been deleted.")
    print_json({"deleted": count}) if as_json else say(f"Deleted {counted(count, 'thing')}.")
