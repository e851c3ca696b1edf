"""The cost of model calls, reported as they end."""

from collections.abc import Callable, Generator, Sequence
from contextlib import closing

from assistant.models.menu import ModelEntry
from assistant.models.protocol import (
    ChatModel,
    Completion,
    Enough,
    Exchange,
    ModelError,
    OnPiece,
    Schema,
)
from assistant.prompts.material import estimate_tokens
from assistant.records import Message, Parameters

# Called with the cost of a call, in US dollars.
OnCost = Callable[[float], None]


def is_paid(entry: ModelEntry) -> bool:
    """Return True if a model's calls cost money; a hosted model without prices does."""
    is_hosted_without = entry.served_by.is_hosted and not _has_prices(entry)
    return not entry.served_by.runs_here and bool(is_hosted_without or entry.price_in or entry.price_out)


def can_be_counted(entry: ModelEntry) -> bool:
    """Return True if the cost of a model's calls is known or zero."""
    return _has_prices(entry) or not is_paid(entry)


def _has_prices(entry: ModelEntry) -> bool:
    return None not in (entry.price_in, entry.price_out)


class MeteredModel:
    """A model that reports the cost of each call when it ends, successfully or not.

    Without token counts, as for a stopped call, the greatest possible cost is reported; 0 for a failed call.
    """

    def __init__(self, model: ChatModel, entry: ModelEntry, on_cost: OnCost) -> None:
        self.id = model.id
        self.label = model.label
        self._model = model
        self._entry = entry
        self._on_cost = on_cost

    def stream(
        self, messages: Sequence[Message], parameters: Parameters, enough: Enough | None = None
    ) -> Generator[str, None, Completion]:
        cost = self._most(messages, parameters)
        try:
            with closing(self._model.stream(messages, parameters, enough)) as reply:
                completion = yield from reply
            cost = self._cost(messages, parameters, completion)
        except ModelError:
            cost = 0.0
            raise
        finally:
            self._on_cost(cost)
        return completion

    def reply(
        self,
        messages: Sequence[Message],
        parameters: Parameters,
        schema: type[Schema],
        on_exchange: Callable[[Exchange], None] | None = None,
        on_piece: OnPiece | None = None,
    ) -> Schema:
        def count(exchange: Exchange) -> None:
            self._on_cost(self._cost(exchange.messages, parameters, exchange.completion))
            if on_exchange:
                on_exchange(exchange)

        stopped = self._most(messages, parameters)
        try:
            reply = self._model.reply(messages, parameters, schema, count, on_piece)
            stopped = 0.0
        except ModelError:
            stopped = 0.0
            raise
        finally:
            if stopped:
                self._on_cost(stopped)
        return reply

    def _cost(self, messages: Sequence[Message], parameters: Parameters, completion: Completion) -> float:
        price = self._entry.price(completion.prompt_tokens, completion.completion_tokens)
        return self._most(messages, parameters) if price is None else max(price, 0.0)

    def _most(self, messages: Sequence[Message], parameters: Parameters) -> float:
        prompt = sum(estimate_tokens(message.content) for message in messages)
        return self._entry.price(prompt, parameters.max_tokens) or 0.0
