"""The commands for stored records, the same for conversations and comparisons."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.box import SIMPLE_HEAD
from rich.markup import escape
from rich.table import Column, Table

from assistant.commands.compared import comparison_json
from assistant.commands.exporting import export
from assistant.commands.opening import (
    OWNER,
    opened_comparisons,
    opened_conversations,
    opened_reading,
    read_conversation,
    read_trail,
    stored_comparison,
)
from assistant.commands.printing import JsonOption, err, failing, out, print_json, say, show
from assistant.comparing.records import Comparison
from assistant.exports.markdown import comparison_to_markdown, to_markdown
from assistant.records import AssistantError, Conversation
from assistant.storage.comparisons import ComparisonStore, ComparisonSummary, StoredComparison
from assistant.storage.conversations import ConversationStore, ConversationSummary, StoredConversation
from assistant.storage.owned import tidy_title
from assistant.storage.reading import ReadingStore, keep_notes
from assistant.trail.papers_named import library_named
from corpus.command_line import new_app
from corpus.wording import counted

Identifier = Annotated[str, typer.Argument(help="Its id, as the list shows it.")]


@dataclass(frozen=True, slots=True)
class StoredKind:
    """A kind of stored records, which consist of `part`s.

    `row` returns the columns of a summary between title and time, `find` reads a record by its id, and `keep`
    stores that of a file and returns it with the number of its parts.
    """

    name: str
    part: str
    columns: tuple[Column | str, ...]
    beginning: str
    id_of_import: str
    next_step: str
    opened: Callable[[], AbstractContextManager[ConversationStore | ComparisonStore]]
    row: Callable[[Any], tuple[str, ...]]
    find: Callable[[str], Any]
    document: Callable[[Any], dict[str, Any]]
    text: Callable[[Any], str]
    keep: Callable[[Path], tuple[Conversation | StoredComparison, int]]


def commands_for(kind: StoredKind) -> typer.Typer:
    """Return the commands that list, show, rename, delete, import and export records of a kind."""
    app = new_app(
        help=f"List, show, rename, delete, import and export stored {kind.name}s.", no_args_is_help=True
    )
    app.command()(export)
    _add_reading(app, kind)
    _add_changing(app, kind)
    return app


def _add_reading(app: typer.Typer, kind: StoredKind) -> None:
    @app.command("list", help=f"List the {kind.name}s kept by this command line, the one last changed first.")
    def list_stored(
        *,
        owner: Annotated[str, typer.Option(help="Whose.")] = OWNER,
        limit: Annotated[int, typer.Option(min=1, help="How many at most.")] = 50,
        offset: Annotated[int, typer.Option(min=0, help="How many to pass over.")] = 0,
        as_json: JsonOption = False,
    ) -> None:
        with failing(as_json=as_json), kind.opened() as store:
            summaries = store.list(owner, limit, offset)
        if as_json:
            print_json({f"{kind.name}s": [asdict(summary) for summary in summaries]})
        elif summaries:
            out.print(_table(kind, summaries))
        else:
            err.print(f"No {kind.name}s are kept. Begin one with: paper-trail {kind.beginning}")

    @app.command(help=f"Print a stored {kind.name} as Markdown.")
    def show(identifier: Identifier, *, as_json: JsonOption = False) -> None:
        with failing(as_json=as_json):
            if (record := kind.find(identifier)) is None:
                raise _missing(kind, identifier)
        if as_json:
            print_json(kind.document(record))
        else:
            typer.echo(kind.text(record), nl=False)


def _table(kind: StoredKind, found: tuple[ConversationSummary | ComparisonSummary, ...]) -> Table:
    table = Table(Column("Id", no_wrap=True), *kind.columns, Column("Changed", no_wrap=True), box=SIMPLE_HEAD)
    for summary in found:
        table.add_row(
            *map(
                escape,
                (summary.id, summary.title, *kind.row(summary), summary.updated[:16].replace("T", " ")),
            )
        )
    return table


def _add_changing(app: typer.Typer, kind: StoredKind) -> None:
    @app.command(help=f"Give a stored {kind.name} another title.")
    def rename(
        identifier: Identifier,
        title: Annotated[str, typer.Argument(help="Its new title.")],
        *,
        as_json: JsonOption = False,
    ) -> None:
        with failing(as_json=as_json), kind.opened() as store:
            if not tidy_title(title):
                raise AssistantError("The new title is empty: give some words, or leave the title as it is.")
            store.rename(identifier, title)
        print_json({"renamed": identifier}) if as_json else say("Renamed.")

    @app.command(help=f"Delete a stored {kind.name} for good, with every call made for it.")
    def delete(identifier: Identifier, *, as_json: JsonOption = False) -> None:
        with failing(as_json=as_json), kind.opened() as store:
            if not store.delete(identifier):
                raise _missing(kind, identifier)
        print_json({"deleted": identifier}) if as_json else say("Deleted.")

    @app.command("import", help=f"Keep a {kind.name} from a file, under {kind.id_of_import}.")
    def import_stored(
        file: Annotated[Path, typer.Argument(help=f"A {kind.name}, as exported to JSON.")],
        *,
        as_json: JsonOption = False,
    ) -> None:
        with failing(as_json=as_json):
            kept, count = kind.keep(file)
        if as_json:
            print_json({"id": kept.id, "title": kept.title, f"{kind.part}s": count})
        else:
            show(kept.id)
            say(f"Kept with {counted(count, kind.part)}. {kind.next_step} {kept.id}")


def _missing(kind: StoredKind, identifier: str) -> AssistantError:
    return AssistantError(f"There is no {kind.name} {identifier!r}. It may have been deleted.")


def _find_conversation(identifier: str) -> StoredConversation | None:
    with opened_conversations() as store:
        return store.read(identifier)


def _conversation_document(stored: StoredConversation) -> dict[str, Any]:
    kept = stored.conversation
    turns = [{"question": turn.question, "answer": turn.answer.text} for turn in kept.turns]
    return {"id": kept.id, "title": kept.title, "turns": turns, "faults": list(stored.faults)}


def _conversation_text(stored: StoredConversation) -> str:
    for fault in stored.faults:
        say(fault)
    return to_markdown(stored.conversation)


def _keep_conversation(file: Path) -> tuple[Conversation, int]:
    conversation = read_conversation(file)
    with opened_conversations() as store, opened_reading() as reading:
        # The id is kept, so that links to a restored conversation work again.
        stored = store.put(OWNER, conversation, library_named(conversation), keep_id=True)
        _keep_notes(reading, conversation, store, stored.id)
    return stored, len(conversation.turns)


def _keep_comparison(file: Path) -> tuple[StoredComparison, int]:
    comparison = read_trail(file)
    if isinstance(comparison, Conversation):
        raise AssistantError(
            f"The file {file} holds a conversation. Keep it with: paper-trail conversations import {file}"
        )
    with opened_comparisons() as store, opened_reading() as reading:
        stored = store.put(OWNER, replace(comparison, notes=()), library_named(comparison))
        _keep_notes(reading, comparison, store, stored.id)
    return stored, len(comparison.paper_ids)


def _keep_notes(
    reading: ReadingStore,
    trail: Conversation | Comparison,
    store: ConversationStore | ComparisonStore,
    stored: str,
) -> None:
    """Store the notes of a file, except those that are stored already."""
    if new := keep_notes(reading, OWNER, trail, store, stored):
        say(f"{counted(new, 'note')} kept with it.")


def _comparison_row(summary: ComparisonSummary) -> tuple[str, str]:
    return str(summary.papers), f"{summary.state}: {summary.error}" if summary.error else summary.state


conversations = commands_for(
    StoredKind(
        name="conversation",
        part="turn",
        columns=("Title", Column("Turns", justify="right")),
        beginning="ask --conversation new ...",
        id_of_import="the id it had where that is free",
        next_step="Go on with: ask --conversation",
        opened=opened_conversations,
        row=lambda summary: (str(summary.turns),),
        find=_find_conversation,
        document=_conversation_document,
        text=_conversation_text,
        keep=_keep_conversation,
    )
)
comparisons = commands_for(
    StoredKind(
        name="comparison",
        part="paper",
        columns=("Description", Column("Papers", justify="right", no_wrap=True), "State"),
        beginning="compare PAPER PAPER --about ...",
        id_of_import="an id of its own",
        next_step="See it with: paper-trail comparisons show",
        opened=opened_comparisons,
        row=_comparison_row,
        find=stored_comparison,
        document=comparison_json,
        text=comparison_to_markdown,
        keep=_keep_comparison,
    )
)
