"""Opens comparers by name, which are the names of writers."""

from collections.abc import Callable

from assistant.comparing.extractive.generator import ExtractiveComparer
from assistant.comparing.prompted.generator import PromptedComparer, SummaryMessages, incremental_messages
from assistant.comparing.prompted.one_by_one import OneByOne
from assistant.comparing.protocol import ComparativeGenerator
from assistant.generators.calls import no_price
from assistant.generators.choice import check_choice
from assistant.generators.parameters import default_parameters
from assistant.models.menu import open_model
from assistant.models.metered import MeteredModel, OnCost
from assistant.models.protocol import ChatModel
from assistant.records import Parameters
from corpus.encoders.base import Encoder
from corpus.settings import Settings


def open_comparative_generator(
    name: str,
    settings: Settings,
    encoder: Encoder,
    parameters: Parameters | None = None,
    session: str = "",
    *,
    on_cost: OnCost | None = None,
    through: Callable[[ChatModel], ChatModel] | None = None,
    messages: SummaryMessages = incremental_messages,
) -> ComparativeGenerator:
    """Open the comparative generator `name`; raises AssistantError if it cannot be chosen.

    The parameters are those of `open_generator`; `messages` renders the prompt for a summary.
    """
    choice = check_choice(name, settings, parameters)
    if choice is None:
        return ExtractiveComparer(encoder)
    entry, parameters = choice
    is_local = entry.served_by.runs_here
    is_small = entry.is_small and messages is incremental_messages
    of_session = settings.model_calls_per_session if session else settings.model_calls
    model = open_model(entry, settings, session)
    model = through(model) if through else model
    return PromptedComparer(
        MeteredModel(model, entry, on_cost) if on_cost else model,
        context=entry.context,
        parameters=parameters,
        usual=default_parameters(settings, entry),
        price=no_price if is_local else entry.price,
        at_once=min(of_session, settings.model_calls),
        summaries=OneByOne(encoder) if is_small else "sentences" if is_local else "prose",
        messages=messages,
    )
