"""A chat model whose replies a test gives; it is asked for typed replies as a real one is."""

from collections.abc import Callable, Generator, Sequence

from assistant.checking.scorer import SupportScorer
from assistant.models.protocol import Completion, Exchange, Schema
from assistant.models.typed import typed_reply
from assistant.records import Message, Parameters
from corpus.encoder_choice import open_encoder
from corpus.settings import read_settings
from indexer.enrich.written import AspectModel


class FakeModel:
    """Replies as `complete` does, and is held to no schema."""

    def __init__(self, complete: Callable[[tuple[Message, ...]], Completion], name: str = "m-1") -> None:
        self.id = self.label = name
        self.complete = complete

    def stream(self, messages: Sequence[Message], parameters: Parameters) -> Generator[str, None, Completion]:
        raise NotImplementedError

    def reply(
        self,
        messages: Sequence[Message],
        parameters: Parameters,
        schema: type[Schema],
        on_exchange: Callable[[Exchange], None] | None = None,
    ) -> Schema:
        return typed_reply(
            self.complete, messages, schema, label=self.label, in_words=True, on_exchange=on_exchange
        )


def aspect_model(
    complete: Callable[[tuple[Message, ...]], Completion],
    name: str = "m-1",
    *,
    context: int = 8192,
    max_tokens: int = 400,
) -> AspectModel:
    parameters = Parameters(temperature=0.0, max_tokens=max_tokens)
    return AspectModel(
        FakeModel(complete, name),
        SupportScorer(open_encoder(read_settings())),
        parameters,
        context,
        lambda *_: None,
        at_once=4,
    )
