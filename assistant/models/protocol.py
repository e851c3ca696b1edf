"""The seam for chat models, and what can go wrong when one is asked."""

from collections.abc import Generator, Sequence
from dataclasses import dataclass
from typing import Protocol

from assistant.records import AssistantError, Message, Parameters


@dataclass(frozen=True, slots=True)
class Completion:
    """A complete reply; `finish_reason` is "stop", "length" or the server's own word.

    Token counts are None where the server did not tell them.
    """

    text: str
    finish_reason: str = "stop"
    prompt_tokens: int | None = None
    completion_tokens: int | None = None


class ModelError(AssistantError):
    """A chat model could not be asked, or its reply did not arrive whole."""


class ModelUnavailableError(ModelError):
    """The model may answer later: it is busy, failing or out of reach.

    `retry_after` is the wait in seconds the server asked for, if it did.
    """

    def __init__(self, message: str, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.retry_after = retry_after


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

    def stream(self, messages: Sequence[Message], parameters: Parameters) -> Generator[str, None, Completion]:
        """Yield the reply in pieces as they arrive, then return it whole; raises ModelError.

        Closing the generator stops the model.
        """
        ...
