"""The command that writes a conversation as a file, and the formats there are."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Literal, get_args

import typer

from assistant.commands.opening import check_writable, find_conversation, write_file
from assistant.commands.printing import JsonOption, fail, print_json, say
from assistant.exports.html import to_html
from assistant.exports.markdown import to_markdown
from assistant.exports.references import cited_papers, to_bibtex, to_csl_json, to_ris
from assistant.records import AssistantError, Conversation
from assistant.transcript import to_json, transcript_schema
from corpus.errors import CorpusError

Format = Literal["json", "md", "html", "bib", "ris", "csl"]
FORMATS: dict[Format, Callable[[Conversation], str]] = {
    "json": to_json,
    "md": to_markdown,
    "html": to_html,
    "bib": to_bibtex,
    "ris": to_ris,
    "csl": to_csl_json,
}
_REFERENCES: tuple[Format, ...] = ("bib", "ris", "csl")


def export(
    source: Annotated[str, typer.Argument(help="A transcript's file, or the id of a stored conversation.")],
    *,
    form: Annotated[
        Format | None,
        typer.Option("--format", help="What to write; else what the file's name says, else json."),
    ] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="The file to write, else standard output.")
    ] = None,
    turn: Annotated[int | None, typer.Option(help="Only this turn, counted from 1.")] = None,
    as_json: JsonOption = False,
) -> None:
    """Write a conversation as JSON, Markdown or HTML, or the papers it cites as BibTeX, RIS or CSL-JSON."""
    try:
        form = form or (format_of(output) if output else "json")
        if output:
            check_writable(output)
        conversation = _part(find_conversation(source), turn)
        text = FORMATS[form](conversation)
        if output:
            write_file(output, text)
    except (AssistantError, CorpusError) as error:
        fail(error, as_json)
    if form in _REFERENCES and not cited_papers(conversation):
        say("No paper is cited, so there are no references to write.")
    if as_json:
        written = {"written": str(output)} if output else {"text": text}
        print_json({"format": form, "turns": len(conversation.turns), **written})
    elif output:
        say(f"Written to {output}.")
    else:
        typer.echo(text, nl=False)


def schema() -> None:
    """Print the JSON Schema of transcripts, as docs/transcript.schema.json holds it."""
    typer.echo(json.dumps(transcript_schema(), ensure_ascii=False, indent=2))


def format_of(path: Path) -> Format:
    """Return the format that a file's name asks for; raises AssistantError where it is none."""
    ending = path.suffix.lower().removeprefix(".")
    for form in get_args(Format):
        if ending == form:
            found: Format = form
            return found
    raise AssistantError(
        f"The name {path.name!r} does not say what to write: let it end in "
        f"{', '.join(f'.{form}' for form in FORMATS)}, or choose with --format."
    )


def _part(conversation: Conversation, turn: int | None) -> Conversation:
    if turn is None:
        return conversation
    if not 1 <= turn <= len(conversation.turns):
        raise AssistantError(f"There is no turn {turn}: the conversation has {len(conversation.turns)}.")
    return replace(conversation, turns=(conversation.turns[turn - 1],))
