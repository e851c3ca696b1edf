"""The commands that list the language models and fetch weights of small ones."""

from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.box import SIMPLE_HEAD
from rich.table import Column, Table
from rich.text import Text

from assistant.commands.printing import JsonOption, failing, out, print_json, say
from assistant.models.gguf.offers import Offer, fetch, needs_of, offer_named, offers
from assistant.models.menu import ModelEntry, available_models, describe_setup, load_models, receiver
from assistant.records import AssistantError
from corpus.command_line import new_app
from corpus.settings import Settings, read_settings

app = new_app(
    help="List the language models that can be chosen as writers, and fetch weights of small ones.",
    invoke_without_command=True,
)


@app.callback()
def models(
    context: typer.Context,
    *,
    every: Annotated[
        bool, typer.Option("--all", help="List models too that need a key or a server which is not set.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """List the language models that can be chosen as writers, and those that need a key or a server."""
    if context.invoked_subcommand:
        return
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
            offered_here = [_offer_for_json(offer, settings) for offer in offers()]
            print_json({"models": rows, "offers": offered_here})
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
        say(f"No model can be reached; answers are extracted from the papers. Set {describe_setup()}.")
    if rest and not every:
        say(f"{len(rest)} more models need a key or a server that is not set: --all lists them.")

    _print_offers(settings)


def _print_offers(settings: Settings) -> None:
    """Print the models whose weights can be downloaded and run on this machine."""
    table = Table(
        Column("Name", overflow="fold"),
        "Model",
        Column("Size", justify="right"),
        "Licence",
        "Here",
        box=SIMPLE_HEAD,
        title="To run on this machine: paper-trail models get NAME",
        title_justify="left",
    )
    for offer in offers():
        is_here = (settings.models_folder / offer.file).exists()
        cells = (offer.name, offer.label, f"{offer.gigabytes:g} GB", offer.licence)
        table.add_row(*map(Text, cells), "yes" if is_here else "no")
    out.print(table)


def _offer_for_json(offer: Offer, settings: Settings) -> dict[str, Any]:
    return offer.model_dump() | {"here": (settings.models_folder / offer.file).exists()}


@app.command()
def get(name: Annotated[str, typer.Argument(help="Its name, as the list shows it.")]) -> None:
    """Fetch the weights of a small model from the Hugging Face hub, to run it on this machine.

    A fetch that was ended goes on where it ended, and what has come is checked by its SHA-256.
    """
    with failing(as_json=False):
        settings = read_settings()
        path, offer = Path(name), offer_named(name)
        if path.suffix == ".gguf" and path.exists():
            say(f"Running {path} takes {needs_of(path)}.")
            return
        if offer is None:
            names = ", ".join(known.name for known in offers())
            raise AssistantError(f"There is no model {name!r} to fetch. There are: {names}.")
        say(f"{offer.label}: {offer.gigabytes:g} GB, licence {offer.licence}.")
        file = fetch(offer, settings)
        say(f"Its weights are in {file}, and running them takes {needs_of(file)}.")
        if find_spec("xllamacpp") is None:
            say("llama.cpp, which runs it, is still missing: pip install 'paper-trail[local]'.")
    say(f"To answer with it: PAPER_TRAIL_LOCAL_MODEL={offer.name} paper-trail app")


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
        "licence": entry.licence,
        "note": entry.note,
    }
