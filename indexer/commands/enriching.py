"""The command that has a model write what is chosen from papers otherwise."""

from collections.abc import Generator
from dataclasses import asdict
from typing import Annotated

import typer
from rich.progress import Progress

from assistant.models.menu import available_models, open_model
from assistant.models.protocol import ChatModel, Completion, ModelError
from assistant.records import AssistantError, Message, Parameters
from corpus.encoder_choice import open_encoder
from corpus.errors import CorpusError
from corpus.settings import Settings, read_settings
from indexer.commands.printing import JsonOption, err, fail, out, print_json, print_listed
from indexer.enrich.written import Complete
from indexer.writing_aspects import AspectWriter, ModelFailedError, write_corpus_aspects

_PARAMETERS = Parameters(temperature=0.0, top_p=1.0, max_tokens=400)


def enrich(
    model: Annotated[str, typer.Option("--model", help="The model's id, as python -m assistant lists them.")],
    collections: Annotated[
        list[str] | None, typer.Argument(help="The collections' ids; all of the corpus when not given.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Have a model write challenge, approach and outcome; what the paper does not carry is dropped."""
    try:
        settings = read_settings()
        chat = _model(model, settings)
        with Progress(console=err) as progress:
            task = progress.add_task(chat.label, total=None)
            done = write_corpus_aspects(
                settings,
                open_encoder(settings),
                AspectWriter(chat.id, _completing(chat)),
                collections or (),
                lambda _: progress.advance(task),
            )
    except (AssistantError, CorpusError) as error:
        fail(error, as_json)
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


def _completing(model: ChatModel) -> Complete:
    def complete(system: str, user: str) -> str:
        try:
            return _whole(model.stream([Message("system", system), Message("user", user)], _PARAMETERS))
        except ModelError as error:
            raise ModelFailedError(str(error)) from error

    return complete


def _whole(reply: Generator[str, None, Completion]) -> str:
    try:
        while True:
            next(reply)
    except StopIteration as end:
        completion: Completion = end.value
        return completion.text
