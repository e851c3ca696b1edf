"""The command that writes a conversation or a comparison as a file."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Annotated, get_args

import typer

from assistant.commands.opening import check_writable, find_trail, write_file
from assistant.commands.printing import JsonOption, failing, print_json, say
from assistant.comparing.records import Comparison
from assistant.exports.registry import CONVERSATION_FORMATS, OptionName, ReferenceName, comparison_text
from assistant.records import AssistantError, Conversation
from assistant.trail.comparison_file import comparison_schema
from assistant.trail.transcript import transcript_schema


def export(
    source: Annotated[str, typer.Argument(help="A file, or the id, of a conversation or of a comparison.")],
    *,
    form: Annotated[
        OptionName | None,
        typer.Option("--format", help="What to write; else what the file's name says, else json."),
    ] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="The file to write, else (or -) standard output.")
    ] = None,
    turn: Annotated[int | None, typer.Option(help="Of a conversation: only this turn, from 1.")] = None,
    as_json: JsonOption = False,
) -> None:
    """Write a conversation or a comparison as JSON, Markdown, HTML or Word, or its references.

    References are BibTeX, RIS, CSL-JSON, or Zotero RDF with the answers as notes. A comparison is also
    written as LaTeX (tex, which takes its references from the bib of the same name), and its key elements as
    CSV.
    """
    output = None if output == Path("-") else output
    with failing(as_json=as_json):
        form = form or (format_of(output) if output else "json")
        if output:
            check_writable(output)
        trail = find_trail(source)
        text, facts = _written(trail, form, turn, output.stem if output else "")
        if output:
            write_file(output, text)
        elif isinstance(text, bytes):
            raise AssistantError(f"A file of the format {form} is no text: name one with --output.")
    if form in get_args(ReferenceName) and isinstance(text, str) and not text.strip("[]\n"):
        say("No paper is cited, so there are no references to write.")
    if as_json:
        written = {"written": str(output)} if output else {"text": text}
        print_json({"format": form, **facts, **written})
    elif output:
        say(f"Written to {output}.")
    else:
        typer.echo(text, nl=False)


def _written(
    trail: Conversation | Comparison, form: OptionName, turn: int | None, name: str
) -> tuple[str | bytes, dict[str, int]]:
    """Return the text of a format, and the numbers of its turns or papers."""
    if isinstance(trail, Comparison):
        if turn is not None:
            raise AssistantError("A comparison has no turns: leave --turn out.")
        return comparison_text(trail, form, name), {"papers": len(trail.evidence.papers)}
    if turn is not None:
        if not 1 <= turn <= len(trail.turns):
            raise AssistantError(f"There is no turn {turn}: the conversation has {len(trail.turns)}.")
        trail = replace(trail, turns=(trail.turns[turn - 1],))
    return conversation_text(trail, form), {"turns": len(trail.turns)}


def conversation_text(conversation: Conversation, form: OptionName) -> str | bytes:
    """Return a conversation in a format; raises AssistantError for a format of comparisons only."""
    formats = {known.name: known for known in CONVERSATION_FORMATS}
    if form not in formats:
        raise AssistantError(
            f"Only comparisons can be written as {form}: choose {', '.join(formats)} for a conversation."
        )
    return formats[form].write(conversation)


def schema(
    *,
    comparison: Annotated[bool, typer.Option("--comparison", help="That of comparisons instead.")] = False,
) -> None:
    """Print the JSON Schema of transcripts, or of comparisons, as the files in docs/ hold them."""
    document = comparison_schema() if comparison else transcript_schema()
    typer.echo(json.dumps(document, ensure_ascii=False, indent=2))


def format_of(path: Path, *, choosable: bool = True) -> OptionName:
    """Return the format of a file name's ending; raises AssistantError for any other ending.

    `choosable`: the command has an option for the format.
    """
    names: tuple[OptionName, ...] = get_args(OptionName)
    for name in names:
        if path.suffix.lower() == f".{name}":
            return name
    raise AssistantError(
        f"The name {path.name!r} does not say what to write: let it end in "
        f"{' or '.join(f'.{name}' for name in names)}{', or choose with --format' * choosable}."
    )
