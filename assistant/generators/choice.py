"""The choice of a generator, and its opening by name."""

from collections.abc import Callable
from dataclasses import dataclass

from assistant.generators.extractive.generator import ExtractiveGenerator
from assistant.generators.parameters import check_parameters, default_parameters
from assistant.generators.prompted import ModelOptions, PromptedGenerator
from assistant.generators.protocol import ANY_LENGTH, Generator
from assistant.models.menu import (
    ModelEntry,
    available_models,
    describe_setup,
    is_mute,
    open_model,
    replacement,
)
from assistant.models.metered import MeteredModel, OnCost, is_paid
from assistant.models.protocol import ChatModel
from assistant.models.token_counts import TokenCounts
from assistant.records import AssistantError, Parameters
from corpus.encoders.base import Encoder
from corpus.settings import Settings

# In an error; a server may list hundreds.
MOST_NAMED = 20
# Token counts of all models that this process has called.
_COUNTS = TokenCounts()


@dataclass(frozen=True, slots=True)
class GeneratorChoice:
    """A generator on the menu: its name, the label that readers see, and the licence of its weights."""

    name: str
    label: str
    licence: str = ""


def generator_choices(settings: Settings) -> tuple[GeneratorChoice, ...]:
    """Return the writers to choose from, the default first; without a model only the extractive one.

    The default is the local model of the settings, if any, since the operator chose it and it costs nothing.
    """
    extractive = GeneratorChoice(ExtractiveGenerator.name, ExtractiveGenerator.label)
    models = [GeneratorChoice(entry.id, entry.label, entry.licence) for entry in available_models(settings)]
    first = [model for model in models if model.name == settings.local_model]
    return (*first, extractive, *(model for model in models if model not in first))


def open_generator(
    name: str,
    settings: Settings,
    encoder: Encoder,
    parameters: Parameters | None = None,
    session: str = "",
    *,
    on_cost: OnCost | None = None,
    through: Callable[[ChatModel], ChatModel] | None = None,
) -> Generator:
    """Return the generator of that name; raises AssistantError if it cannot be chosen.

    `parameters` are for generators that ask a model, `session` identifies the user for rate limits, `on_cost`
    receives the cost of each call, `through` wraps the model.
    """
    choice = check_choice(name, settings, parameters)
    if choice is None:
        return ExtractiveGenerator(encoder, searches_again=searches_again(None, settings))
    entry, parameters = choice
    model = open_model(entry, settings, session)
    model = through(model) if through else model
    return PromptedGenerator(
        MeteredModel(model, entry, on_cost) if on_cost else model,
        context=entry.context,
        parameters=parameters,
        price=entry.price,
        counts=_COUNTS,
        options=ModelOptions(
            entry.thinks,
            entry.rerank,
            entry.revise,
            is_small=entry.is_small,
            searches_again=searches_again(entry, settings),
            reading_seconds=None if entry.served_by.is_hosted else settings.model_reading_seconds,
        ),
    )


def open_stand_in(encoder: Encoder) -> Generator:
    """Return the writer that needs no model, for where the reply of one cannot be used."""
    return ExtractiveGenerator(encoder)


def searches_again(entry: ModelEntry | None, settings: Settings) -> bool:
    """Return True if second searches are made: by the setting, or else unless calls cost money."""
    if settings.second_search != "auto":
        return settings.second_search == "on"
    return entry is None or not (entry.served_by.is_hosted or is_paid(entry))


def check_choice(
    name: str, settings: Settings, parameters: Parameters | None
) -> tuple[ModelEntry, Parameters] | None:
    """Return the model of that name and its parameters, None for the extractive generator.

    Raises AssistantError if there is none of that name, or parameters are out of range.
    """
    if name == ExtractiveGenerator.name:
        if parameters:
            # They have no effect, but invalid ones are an error all the same.
            check_parameters(parameters, ANY_LENGTH)
        return None
    entries = {entry.id: entry for entry in available_models(settings)}
    if name not in entries:
        names = (ExtractiveGenerator.name, *entries)
        more = f" and {len(names) - MOST_NAMED:,} more" if len(names) > MOST_NAMED else ""
        instead = replacement(name, settings)
        gone = f"It has left the hosted menu, and {instead} replaces it. " if instead else ""
        mute = "The server of your own does not say what it serves. " if is_mute(settings) else ""
        raise AssistantError(
            f"There is no writer {name!r}. {gone}{mute}Available: {', '.join(names[:MOST_NAMED])}{more}.",
            setup=f"Set {describe_setup()}.",
        )
    entry = entries[name]
    parameters = parameters or default_parameters(settings, entry)
    check_parameters(parameters, entry.context)
    return entry, parameters
