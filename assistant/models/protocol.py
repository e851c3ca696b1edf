"""The protocol of chat models, and their errors."""

from collections.abc import Callable, Generator, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import Protocol, TypeVar, cast

from pydantic import BaseModel

from assistant.records import AssistantError, Message, Parameters

Schema = TypeVar("Schema", bound=BaseModel)
Piece = TypeVar("Piece")
Item = TypeVar("Item")
Result = TypeVar("Result")
OnPiece = Callable[[str], None]
Enough = Callable[[str], bool]


@dataclass(frozen=True, slots=True)
class Completion:
    """A reply, complete or cut.

    `finish_reason` is "stop", "length", "interrupted" (`problem` says why), "too_long" (reading stopped),
    "enough" (the caller stopped it), "content_filter" (the server withheld the rest) or the server's own
    word. Token counts are None if the server did not report them. `attempts` is the number of requests,
    `served` the model that the server reports, "" if it is the requested one or not reported. Of the prompt,
    `cached_tokens` came from the server's cache and `read_tokens` were read in `read_seconds`, None if not
    reported. `not_taken` are request fields that the server refuses: they were not sent.
    """

    text: str
    finish_reason: str = "stop"
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    attempts: int = 1
    problem: str = ""
    served: str = ""
    cached_tokens: int | None = None
    read_tokens: int | None = None
    read_seconds: float | None = None
    not_taken: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Exchange:
    """Messages as they were sent, and the reply they got; `started` is ISO 8601 in UTC."""

    messages: tuple[Message, ...]
    completion: Completion
    started: str
    seconds: float


class ModelError(AssistantError):
    """A chat model could not be asked, or its reply cannot be used."""


KEPT = "Your question is kept; retry or choose another writer."


class ModelUnavailableError(ModelError):
    """The model may answer later: it is busy, failing or out of reach.

    `retry_after` is the wait in seconds the server asked for, if it did.
    """

    def __init__(
        self, fault: str, kept: str = KEPT, retry_after: float | None = None, *, setup: str = ""
    ) -> None:
        super().__init__(fault, kept, setup=setup)
        self.retry_after = retry_after


class BadReplyError(ModelError):
    """A model twice replied in another form than requested; `received` are its replies."""

    def __init__(self, message: str, received: tuple[str, ...]) -> None:
        super().__init__(message)
        self.received = received


class ChatModel(Protocol):
    """A model that answers a list of messages."""

    @property
    def id(self) -> str:
        """The id its server knows it by."""

    @property
    def label(self) -> str:
        """The name readers see."""

    def stream(
        self, messages: Sequence[Message], parameters: Parameters, enough: Enough | None = None
    ) -> Generator[str, None, Completion]:
        """Yield the reply in pieces as they arrive, then return it; raises ModelError.

        Empty pieces are yielded at intervals while nothing arrives. An interrupted reply is returned as far
        as it came. Closing the generator stops the model, and so does `enough` when it returns True for the
        text so far.
        """

    def reply(
        self,
        messages: Sequence[Message],
        parameters: Parameters,
        schema: type[Schema],
        on_exchange: Callable[[Exchange], None] | None = None,
        on_piece: OnPiece | None = None,
    ) -> Schema:
        """Return the reply parsed as `schema`, requested once more if it does not fit.

        `on_exchange` is called with every exchange, `on_piece` with every piece, also empty ones; an error
        that it raises stops the model. Raises BadReplyError if the second does not fit, and ModelError.
        """


def relay(
    reply: Generator[Piece, None, Result], of_piece: Callable[[Piece], Item]
) -> Generator[Item, None, Result]:
    """Yield `of_piece` of each piece of a generator, then return the generator's result."""
    with closing(reply):
        while True:
            try:
                piece = next(reply)
            except StopIteration as end:
                return cast(Result, end.value)
            yield of_piece(piece)


def whole(reply: Generator[str, None, Result], on_piece: OnPiece | None = None) -> Result:
    """Return a generator's result; an exception from `on_piece`, called with each piece, stops it."""
    with closing(reply):
        while True:
            try:
                piece = next(reply)
            except StopIteration as end:
                return cast(Result, end.value)
            if on_piece:
                on_piece(piece)
