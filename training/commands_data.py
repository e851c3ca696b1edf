"""The commands that make data and the generator; `training/__main__.py` registers them."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from assistant.generators import default_parameters
from assistant.models import ModelEntry, available_models, open_model
from assistant.records import AssistantError
from corpus.errors import CorpusError
from corpus.settings import Settings, read_settings
from training.errors import TrainingError


@contextmanager
def _failures_told() -> Iterator[None]:
    """End with what is wrong, when nothing can be made."""
    try:
        yield
    except (AssistantError, CorpusError, TrainingError) as error:
        typer.echo(str(error), err=True)
        raise typer.Exit(2) from None


def _say(line: str) -> None:
    typer.echo(line, err=True)


def data(
    documents: Annotated[
        Path, typer.Option(help="A PAPER_TRAIL_HOME, a folder of files, or JSON lines {id, title, text}.")
    ],
    out: Annotated[Path, typer.Option(help="Where the rows go; counts and what was dropped go beside it.")],
    model: Annotated[
        str, typer.Option(help="Who writes questions and answers; by default the settings' first model.")
    ] = "",
    seed: Annotated[int, typer.Option(help="What everything that is drawn depends on.")] = 0,
    limit: Annotated[
        int | None, typer.Option(help="Ask about at most so many passages, drawn at random.", min=1)
    ] = None,
    context: Annotated[
        int, typer.Option(help="Tokens that prompt and reply have at most.", min=1_500)
    ] = 4096,
) -> None:
    """Make cited dialogues of documents to train a generator on (TruthReader, section 3.1).

    What a model has replied is kept beside the rows: a run that was killed goes on where it was.
    """
    from training import truthreader  # noqa: PLC0415 - scikit-learn takes seconds to import

    with _failures_told():
        settings = read_settings()
        entry = _entry(model, settings)
        found, unread = truthreader.read_documents(documents)
        sizes = truthreader.Sizes(limit=limit, context=context)
        with truthreader.Ledger(truthreader.ledger_path(out)) as ledger:
            asked = truthreader.AskedModel(
                open_model(entry, settings), default_parameters(settings, entry), ledger
            )
            made = truthreader.construct(found, asked, sizes, seed, _say)
            about = {"documents": len(found), "model": entry.id, "seed": seed, "calls": ledger.count}
        made = truthreader.Construction(made.rows, (*unread, *made.dropped))
        typer.echo(json.dumps(truthreader.write_construction(made, out, about)))


def _entry(name: str, settings: Settings) -> ModelEntry:
    """Return the model of that name, the first where none is given; raises TrainingError."""
    entries = {entry.id: entry for entry in available_models(settings)}
    if not entries or (name and name not in entries):
        raise TrainingError(
            f"There is no model {name!r} to write questions. Available: {', '.join(entries) or 'none'}. Set"
            " TOGETHER_API_KEY for hosted models, PAPER_TRAIL_MODEL_URL and PAPER_TRAIL_MODELS_FILE for a"
            " server of your own, or PAPER_TRAIL_LOCAL_MODEL for a model on this machine."
        )
    return entries[name] if name else next(iter(entries.values()))
