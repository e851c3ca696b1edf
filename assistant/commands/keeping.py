"""The commands for stored conversations and comparisons."""

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer
from rich.box import SIMPLE_HEAD
from rich.markup import escape
from rich.table import Column, Table

from assistant.commands.compared import comparison_json
from assistant.commands.exporting import export
from assistant.commands.opening import (
    OWNER,
    opened_comparisons,
    opened_store,
    read_conversation,
    read_trail,
    stored_comparison,
)
from assistant.commands.printing import JsonOption, err, fail, out, print_json, say
from assistant.database import tidy_title
from assistant.exports.comparison_markdown import comparison_to_markdown
from assistant.exports.markdown import to_markdown
from assistant.records import AssistantError, Conversation
from assistant.wording import counted
from corpus.errors import CorpusError

Identifier = Annotated[
    str, typer.Argument(help="The conversation's id, as the list and its address show it.")
]

app = typer.Typer(help="List, show, delete, import and export stored conversations.", no_args_is_help=True)
app.command()(export)
comparisons = typer.Typer(
    help="List, show, rename, delete, import and export stored comparisons.", no_args_is_help=True
)
comparisons.command()(export)

Comparison = Annotated[str, typer.Argument(help="The comparison's id, as the list shows it.")]


@app.command("list")
def list_conversations(
    *,
    owner: Annotated[str, typer.Option(help="Whose conversations.")] = OWNER,
    limit: Annotated[int, typer.Option(min=1, help="How many at most.")] = 50,
    offset: Annotated[int, typer.Option(min=0, help="How many to pass over.")] = 0,
    as_json: JsonOption = False,
) -> None:
    """List the conversations kept by this command line, the one last changed first."""
    try:
        with opened_store() as store:
            found = store.list(owner, limit, offset)
    except (AssistantError, CorpusError) as error:
        fail(error, as_json)
    if as_json:
        print_json({"conversations": [asdict(one) for one in found]})
        return
    table = Table(
        Column("Id", no_wrap=True), "Title", Column("Turns", justify="right"), "Changed", box=SIMPLE_HEAD
    )
    for one in found:
        table.add_row(escape(one.id), escape(one.title), str(one.turns), one.updated[:16].replace("T", " "))
    if found:
        out.print(table)
    else:
        err.print("No conversations are kept. Begin one with: python -m assistant ask --conversation new ...")


@app.command()
def show(conversation: Identifier, *, as_json: JsonOption = False) -> None:
    """Print a stored conversation as Markdown."""
    try:
        with opened_store() as store:
            stored = store.read(conversation)
        if stored is None:
            raise AssistantError(f"There is no conversation {conversation!r}. It may have been deleted.")
    except (AssistantError, CorpusError) as error:
        fail(error, as_json)
    kept = stored.conversation
    if as_json:
        turns = [{"question": turn.question, "answer": turn.answer.text} for turn in kept.turns]
        print_json({"id": kept.id, "title": kept.title, "turns": turns, "faults": list(stored.faults)})
        return
    for fault in stored.faults:
        say(fault)
    typer.echo(to_markdown(kept), nl=False)


@app.command()
def delete(conversation: Identifier, *, as_json: JsonOption = False) -> None:
    """Delete a stored conversation for good."""
    try:
        with opened_store() as store:
            if not store.delete(conversation):
                raise AssistantError(f"There is no conversation {conversation!r}. It may have been deleted.")
    except (AssistantError, CorpusError) as error:
        fail(error, as_json)
    if as_json:
        print_json({"deleted": conversation})
    else:
        say("Deleted.")


@app.command("import")
def import_conversation(
    file: Annotated[Path, typer.Argument(help="A transcript, as exported to JSON.")],
    *,
    as_json: JsonOption = False,
) -> None:
    """Keep a conversation from a file, under the id it had where that is free."""
    try:
        conversation = read_conversation(file)
        with opened_store() as store:
            # On one's own machine a file puts back what was there; links to it shall lead to it again.
            kept = store.put(OWNER, conversation, keep_id=True)
    except (AssistantError, CorpusError) as error:
        fail(error, as_json)
    if as_json:
        print_json({"id": kept.id, "title": kept.title, "turns": len(kept.turns)})
    else:
        out.print(kept.id, markup=False)
        say(f"Kept with {counted(len(kept.turns), 'turn')}. Go on with: ask --conversation {kept.id}")


@comparisons.command("list")
def list_comparisons(
    *,
    owner: Annotated[str, typer.Option(help="Whose comparisons.")] = OWNER,
    limit: Annotated[int, typer.Option(min=1, help="How many at most.")] = 50,
    offset: Annotated[int, typer.Option(min=0, help="How many to pass over.")] = 0,
    as_json: JsonOption = False,
) -> None:
    """List the comparisons kept by this command line, the one last changed first."""
    try:
        with opened_comparisons() as store:
            found = store.list(owner, limit, offset)
    except (AssistantError, CorpusError) as error:
        fail(error, as_json)
    if as_json:
        print_json({"comparisons": [asdict(one) for one in found]})
        return
    columns = (
        Column("Id", no_wrap=True),
        "Description",
        Column("Papers", justify="right", no_wrap=True),
        "State",
        Column("Changed", no_wrap=True),
    )
    table = Table(*columns, box=SIMPLE_HEAD)
    for one in found:
        state = f"{one.state}: {one.error}" if one.error else one.state
        changed = one.updated[:16].replace("T", " ")
        table.add_row(escape(one.id), escape(one.title), str(one.papers), escape(state), changed)
    if found:
        out.print(table)
    else:
        err.print(
            "No comparisons are kept. Begin one with: python -m assistant compare PAPER PAPER --about ..."
        )


@comparisons.command("show")
def show_comparison(comparison: Comparison, *, as_json: JsonOption = False) -> None:
    """Print a stored comparison as Markdown."""
    try:
        found = stored_comparison(comparison)
        if found is None:
            raise AssistantError(f"There is no comparison {comparison!r}. It may have been deleted.")
    except (AssistantError, CorpusError) as error:
        fail(error, as_json)
    if as_json:
        print_json(comparison_json(found))
    else:
        typer.echo(comparison_to_markdown(found), nl=False)


@comparisons.command("import")
def import_comparison(
    file: Annotated[Path, typer.Argument(help="A comparison, as exported to JSON.")],
    *,
    as_json: JsonOption = False,
) -> None:
    """Keep a comparison from a file, under an id of its own."""
    try:
        found = read_trail(file)
        if isinstance(found, Conversation):
            raise AssistantError(
                f"The file {file} holds a conversation. Keep it with: python -m assistant conversations "
                f"import {file}"
            )
        with opened_comparisons() as store:
            kept = store.put(OWNER, found)
    except (AssistantError, CorpusError) as error:
        fail(error, as_json)
    if as_json:
        print_json({"id": kept.id, "title": kept.title, "papers": len(kept.request.papers)})
    else:
        out.print(kept.id, markup=False)
        papers = counted(len(kept.request.papers), "paper")
        say(f"Kept with {papers}. See it with: python -m assistant comparisons show {kept.id}")


@comparisons.command("rename")
def rename_comparison(
    comparison: Comparison,
    title: Annotated[str, typer.Argument(help="Its new title.")],
    *,
    as_json: JsonOption = False,
) -> None:
    """Give a stored comparison another title."""
    try:
        if not tidy_title(title):
            raise AssistantError("The new title is empty: give some words, or leave the title as it is.")
        with opened_comparisons() as store:
            store.rename(comparison, title)
    except (AssistantError, CorpusError) as error:
        fail(error, as_json)
    if as_json:
        print_json({"renamed": comparison})
    else:
        say("Renamed.")


@comparisons.command("delete")
def delete_comparison(comparison: Comparison, *, as_json: JsonOption = False) -> None:
    """Delete a stored comparison for good, with every call made for it."""
    try:
        with opened_comparisons() as store:
            if not store.delete(comparison):
                raise AssistantError(f"There is no comparison {comparison!r}. It may have been deleted.")
    except (AssistantError, CorpusError) as error:
        fail(error, as_json)
    if as_json:
        print_json({"deleted": comparison})
    else:
        say("Deleted.")
