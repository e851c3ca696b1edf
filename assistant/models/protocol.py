"""The seam for chat models, and what can go wrong when one is asked."""

from collections.abc import Callable, Generator, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import Protocol, TypeVar

from pydantic import BaseModel

from assistant.records import AssistantError, Message, Parameters

Schema = TypeVar("Schema", bound=BaseModel)
OnPiece = Callable[[str], None]
Enough = Callable[[str], bool]


@dataclass(frozen=True, slots=True)
class Completion:
    """A reply as far as it came.

    `finish_reason` is "stop", "length", "interrupted" (`problem` says what ended it), "too_long" (it was not
    read further), "enough" (no more of it was wanted), "content_filter" (its server held back the rest) or
    the server's own word. Token counts are None where the server did not tell them. `attempts` is how often
    it was asked for, `served` the model that the server says has written it, "" where that is the one asked
    for or is not said. Of the prompt the server knew `cached_tokens` already, and read the other
    `read_tokens` in `read_seconds`; None where it does not tell. `not_taken` are the fields of the request
    that the server refuses: they were left out.
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
    """A model did not reply in the form asked for, twice; `received` are its replies."""

    def __init__(self, message: str, received: tuple[str, ...]) -> None:
        super().__init__(message)
        self.received = received


class ChatModel(Protocol):
    """A model that answers a list of messages."""

    @property
    def id(self) -> str:
        """The id its server knows it by."""
        ...

    @property
    def label(self) -> str:
        """The name readers see."""
        ...

    def stream(
        self, messages: Sequence[Message], parameters: Parameters, enough: Enough | None = None
    ) -> Generator[str, None, Completion]:
        """Yield the reply in pieces as they arrive, then return it whole; raises ModelError.

        While nothing arrives empty pieces come every now and then. A reply that ends in the middle is
        returned as far as it came. Closing the generator stops the model; so does `enough`, once it returns
        True of what has come, and that is then the reply.
        """
        ...

    def reply(
        self,
        messages: Sequence[Message],
        parameters: Parameters,
        schema: type[Schema],
        on_exchange: Callable[[Exchange], None] | None = None,
        on_piece: OnPiece | None = None,
    ) -> Schema:
        """Return the reply read into `schema`, asked for once more where it does not fit.

        `on_exchange` is told of every exchange, `on_piece` of every piece as it arrives, empty ones too: what
        it raises stops the model. Raises BadReplyError after the second, and ModelError.
        """
        ...


def whole(reply: Generator[str, None, Completion], on_piece: OnPiece | None = None) -> Completion:
    """Return a reply without its pieces, of which `on_piece` is told; what it raises stops the model."""
    with closing(reply):
        while True:
            try:
                piece = next(reply)
            except StopIteration as end:
                completion: Completion = end.value
                return completion
            if on_piece:
                on_piece(piece)
