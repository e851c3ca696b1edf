"""The command that writes a conversation or a comparison as a file, and the formats there are."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Literal, get_args

import typer

from assistant.commands.opening import check_writable, find_trail, write_file
from assistant.commands.printing import JsonOption, fail, print_json, say
from assistant.comparing.records import Comparison
from assistant.comparing.transcript import comparison_schema, comparison_to_json
from assistant.exports.comparison_grid import grid_to_csv
from assistant.exports.comparison_html import comparison_to_html
from assistant.exports.comparison_latex import (
    comparison_to_bibtex,
    comparison_to_csl_json,
    comparison_to_latex,
    comparison_to_ris,
)
from assistant.exports.comparison_markdown import comparison_to_markdown
from assistant.exports.html import to_html
from assistant.exports.markdown import to_markdown
from assistant.exports.references import to_bibtex, to_csl_json, to_ris
from assistant.records import AssistantError, Conversation
from assistant.transcript import to_json, transcript_schema
from corpus.errors import CorpusError

Format = Literal["json", "md", "html", "bib", "ris", "csl", "tex", "csv"]
FORMATS: dict[Format, Callable[[Conversation], str]] = {
    "json": to_json,
    "md": to_markdown,
    "html": to_html,
    "bib": to_bibtex,
    "ris": to_ris,
    "csl": to_csl_json,
}
# The last argument is the name of the file, without its ending.
COMPARISON_FORMATS: dict[Format, Callable[[Comparison, str], str]] = {
    "json": lambda comparison, _: comparison_to_json(comparison),
    "md": lambda comparison, _: comparison_to_markdown(comparison),
    "html": lambda comparison, _: comparison_to_html(comparison),
    "tex": comparison_to_latex,
    "bib": lambda comparison, _: comparison_to_bibtex(comparison),
    "csv": lambda comparison, _: grid_to_csv(comparison),
    "ris": lambda comparison, _: comparison_to_ris(comparison),
    "csl": lambda comparison, _: comparison_to_csl_json(comparison),
}
_REFERENCES: tuple[Format, ...] = ("bib", "ris", "csl")


def export(
    source: Annotated[str, typer.Argument(help="A file, or the id, of a conversation or of a comparison.")],
    *,
    form: Annotated[
        Format | None,
        typer.Option("--format", help="What to write; else what the file's name says, else json."),
    ] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="The file to write, else standard output.")
    ] = None,
    turn: Annotated[int | None, typer.Option(help="Of a conversation: only this turn, from 1.")] = None,
    as_json: JsonOption = False,
) -> None:
    """Write a conversation or a comparison as JSON, Markdown or HTML, or the papers it cites as references.

    References are BibTeX, RIS or CSL-JSON. A comparison is also written as LaTeX (tex, which takes its
    references from the bib of the same name), and its key elements as CSV.
    """
    try:
        form = form or (format_of(output) if output else "json")
        if output:
            check_writable(output)
        found = find_trail(source)
        text, facts = _written(found, form, turn, output.stem if output else "")
        if output:
            write_file(output, text)
    except (AssistantError, CorpusError) as error:
        fail(error, as_json)
    if form in _REFERENCES and not text.strip("[]\n"):
        say("No paper is cited, so there are no references to write.")
    if as_json:
        written = {"written": str(output)} if output else {"text": text}
        print_json({"format": form, **facts, **written})
    elif output:
        say(f"Written to {output}.")
    else:
        typer.echo(text, nl=False)


def _written(
    found: Conversation | Comparison, form: Format, turn: int | None, name: str
) -> tuple[str, dict[str, int]]:
    """Return the text of a format, and what it holds of what."""
    if isinstance(found, Comparison):
        if turn is not None:
            raise AssistantError("A comparison has no turns: leave --turn out.")
        return comparison_text(found, form, name), {"papers": len(found.evidence.papers)}
    if form not in FORMATS:
        raise AssistantError(
            f"A conversation is not written as {form}: choose {', '.join(FORMATS)}. Comparisons are."
        )
    conversation = _part(found, turn)
    return FORMATS[form](conversation), {"turns": len(conversation.turns)}


def comparison_text(comparison: Comparison, form: Format, name: str) -> str:
    """Return a comparison in a format; `name` is that of the file, without its ending."""
    return COMPARISON_FORMATS[form](comparison, name)


def schema(
    *,
    comparison: Annotated[bool, typer.Option("--comparison", help="That of comparisons instead.")] = False,
) -> None:
    """Print the JSON Schema of transcripts, or of comparisons, as the files in docs/ hold them."""
    found = comparison_schema() if comparison else transcript_schema()
    typer.echo(json.dumps(found, ensure_ascii=False, indent=2))


def format_of(path: Path, *, choosable: bool = True) -> Format:
    """Return the format that a file's name asks for; raises AssistantError where it is none.

    `choosable`: the command can be told the format instead.
    """
    ending = path.suffix.lower().removeprefix(".")
    for form in get_args(Format):
        if ending == form:
            found: Format = form
            return found
    raise AssistantError(
        f"The name {path.name!r} does not say what to write: let it end in "
        f"{' or '.join(f'.{form}' for form in get_args(Format))}{', or choose with --format' * choosable}."
    )


def _part(conversation: Conversation, turn: int | None) -> Conversation:
    if turn is None:
        return conversation
    if not 1 <= turn <= len(conversation.turns):
        raise AssistantError(f"There is no turn {turn}: the conversation has {len(conversation.turns)}.")
    return replace(conversation, turns=(conversation.turns[turn - 1],))
