"""A chat model whose calls are counted and logged."""

import time
from collections.abc import Callable, Generator, Sequence
from contextlib import closing

from assistant.models.protocol import ChatModel, Completion, Enough, Exchange, ModelError, OnPiece, Schema
from assistant.records import Message, Parameters
from explorer.observing.events import CallOutcome, ModelCallOver
from explorer.observing.observer import observe


class ObservedModel:
    """Wraps a model and observes the outcome and time of each call."""

    def __init__(self, model: ChatModel) -> None:
        self.id = model.id
        self.label = model.label
        self._model = model

    def stream(
        self, messages: Sequence[Message], parameters: Parameters, enough: Enough | None = None
    ) -> Generator[str, None, Completion]:
        call = _Call()
        try:
            with closing(self._model.stream(messages, parameters, enough)) as reply:
                completion = yield from reply
            call.end_with(completion)
        except ModelError:
            call.outcome = "failed"
            raise
        finally:
            call.observe()
        return completion

    def reply(
        self,
        messages: Sequence[Message],
        parameters: Parameters,
        schema: type[Schema],
        on_exchange: Callable[[Exchange], None] | None = None,
        on_piece: OnPiece | None = None,
    ) -> Schema:
        call = _Call()

        def note_exchange(exchange: Exchange) -> None:
            call.end_with(exchange.completion)
            if on_exchange:
                on_exchange(exchange)

        try:
            return self._model.reply(messages, parameters, schema, note_exchange, on_piece)
        except ModelError:
            call.outcome = "failed"
            raise
        finally:
            call.observe()


class _Call:
    """A running call, whose outcome is "stopped" until it has another."""

    def __init__(self) -> None:
        self.outcome: CallOutcome = "stopped"
        self._began = time.monotonic()

    def end_with(self, completion: Completion) -> None:
        cut = completion.finish_reason in ("length", "too_long", "content_filter")
        self.outcome = "interrupted" if completion.problem else "cut" if cut else "complete"

    def observe(self) -> None:
        observe(ModelCallOver(self.outcome, time.monotonic() - self._began))
