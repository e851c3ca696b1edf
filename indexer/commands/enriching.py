"""The command that has a model write what is chosen from papers otherwise."""

from dataclasses import asdict
from typing import Annotated

import typer
from rich.progress import Progress

from assistant.models import ChatModel, available_models, open_model, whole
from assistant.records import AssistantError, Parameters
from corpus.encoder_choice import open_encoder
from corpus.settings import Settings, read_settings
from indexer.printing import JsonOption, err, fail, out, print_json, print_listed, says_why

_PARAMETERS = Parameters(temperature=0.0, top_p=1.0, max_tokens=400)


@says_why
def enrich(
    model: Annotated[str, typer.Option("--model", help="The model's id, as python -m assistant lists them.")],
    collections: Annotated[
        list[str] | None, typer.Argument(help="The collections' ids; all of the corpus when not given.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Have a model write challenge, approach and outcome; what the paper does not carry is dropped."""
    from indexer.enrich.writing import AspectModel, write_corpus_aspects  # noqa: PLC0415 - loads the store

    settings = read_settings()
    try:
        chat = _model(model, settings)
    except AssistantError as error:
        fail(error, as_json)
    with Progress(console=err) as progress:
        task = progress.add_task(chat.label, total=None)
        done = write_corpus_aspects(
            settings,
            open_encoder(settings),
            AspectModel(chat.id, lambda messages: whole(chat.stream(messages, _PARAMETERS))),
            collections or (),
            lambda _: progress.advance(task),
        )
    if as_json:
        print_json({"model": chat.id, **asdict(done)})
    else:
        print_listed("Not written", "Why", [(failure.item, failure.reason) for failure in done.failures])
        out.print(f"{chat.label} wrote for {done.written:,} of {done.asked:,} papers.", markup=False)
    if done.asked and not done.written:
        raise typer.Exit(2)


def _model(name: str, settings: Settings) -> ChatModel:
    entries = {entry.id: entry for entry in available_models(settings)}
    if name not in entries:
        raise AssistantError(
            f"There is no model {name!r}. Available: {', '.join(entries) or 'none'}. Set TOGETHER_API_KEY "
            "for hosted models, or PAPER_TRAIL_MODEL_URL for a server of your own."
        )
    return open_model(entries[name], settings)
