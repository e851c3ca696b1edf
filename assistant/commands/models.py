"""The command that lists the language models."""

from typing import Annotated, Any

import typer
from rich.box import SIMPLE_HEAD
from rich.table import Column, Table
from rich.text import Text

from assistant.commands.printing import JsonOption, failing, out, print_json, say
from assistant.models import ModelEntry, available_models, load_models, receiver
from corpus.settings import read_settings


def models(
    *,
    every: Annotated[
        bool, typer.Option("--all", help="List models too that need a key or a server which is not set.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """List the language models that can be chosen as writers, and those that need a key or a server."""
    with failing(as_json=as_json):
        settings = read_settings()
        available = available_models(settings)
        offered = {entry.id for entry in available}
        rest = [
            entry
            for entry in load_models(settings.models_file)
            if entry.id not in offered and not entry.retired
        ]
        listed = [*available, *(rest if every else ())]
        if as_json:
            rows = [_row_for_json(entry, receiver(entry, settings), entry.id in offered) for entry in listed]
            print_json({"models": rows})
            return
    if listed:
        table = Table(
            Column("Id", overflow="fold"),
            "Provider",
            Column("Context", justify="right"),
            "Available",
            box=SIMPLE_HEAD,
        )
        for entry in listed:
            cells = (entry.id, entry.provider, f"{entry.context:,}")
            table.add_row(*map(Text, cells), "yes" if entry.id in offered else "no")
        out.print(table)
    if not available:
        say(
            "No model can be reached; answers are extracted from the papers. Set TOGETHER_API_KEY for hosted "
            "models, PAPER_TRAIL_MODEL_URL for a server of your own, PAPER_TRAIL_LOCAL_MODEL for a local one."
        )
    if rest and not every:
        say(f"{len(rest)} more models need a key or a server that is not set: --all lists them.")


def _row_for_json(entry: ModelEntry, sent_to: str, is_available: bool) -> dict[str, Any]:
    return {
        "id": entry.id,
        "label": entry.label,
        "provider": entry.provider,
        "context": entry.context,
        "max_tokens": entry.max_tokens,
        "price_in": entry.price_in,
        "price_out": entry.price_out,
        "sent_to": sent_to,
        "available": is_available,
        "note": entry.note,
    }
