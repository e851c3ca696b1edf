"""Caches the replies of paid models in files of JSON lines: a run that was killed pays for no reply twice."""

import hashlib
import json
import os
import re
import threading
import time
from collections import Counter
from collections.abc import Callable, Generator, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from dataclasses import asdict, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, ValidationError

from assistant.models.menu import ModelEntry
from assistant.models.protocol import (
    BadReplyError,
    ChatModel,
    Completion,
    Enough,
    Exchange,
    ModelError,
    ModelUnavailableError,
    OnPiece,
    Schema,
)
from assistant.models.typed import bad_reply, read_reply, reply_problem
from assistant.records import Message, Parameters
from corpus.durable import replace_durably
from evaluation.input_files import EvaluationError, make_folder, read_text

Item = TypeVar("Item")
Answer = TypeVar("Answer")
Messages = Sequence[Message]
# The hash of a request, and how many times this run has made it.
NumberedRequest = tuple[str, int]
_UNSAFE = re.compile(r"[^A-Za-z0-9._-]+")


def write_whole(path: Path, text: str) -> None:
    """Write a file atomically; raises OSError."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    temporary.write_text(text, encoding="utf-8")
    replace_durably(temporary, path)


class _CachedReply(BaseModel, frozen=True, extra="forbid"):
    """The exchanges of a request, made for the `number`-th time.

    An exchange is stored without its messages if they are those of the request.
    """

    key: str
    number: int
    model: str
    exchanges: tuple[Exchange, ...]


class ReplyCache:
    """A cache of replies in a file of JSON lines, created if missing. Safe to share between threads.

    A request that a run makes several times has a reply for each time. A line that was cut off when a run was
    killed is ignored. Raises EvaluationError if the file cannot be read or written.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = threading.Lock()
        self._requests: Counter[str] = Counter()
        self._replies: dict[NumberedRequest, tuple[Exchange, ...]] = {}
        make_folder(path.parent)
        text = read_text(path, "file of replies") if path.exists() else ""
        for line in filter(None, text.split("\n")):
            with suppress(ValidationError):
                reply = _CachedReply.model_validate_json(line)
                self._replies[reply.key, reply.number] = reply.exchanges
        # Raises an error before a reply is paid for, and ends a line that was cut off.
        self._append("\n" if text and not text.endswith("\n") else "")

    def number(self, model: str, messages: Messages, parameters: Parameters, form: object) -> NumberedRequest:
        """Hash and count a request; `form` is the requested form of the reply, as JSON."""
        request = [model, [asdict(message) for message in messages], asdict(parameters), form]
        key = hashlib.sha256(json.dumps(request, sort_keys=True).encode()).hexdigest()
        with self._lock:
            self._requests[key] += 1
            return key, self._requests[key]

    def find(self, request: NumberedRequest, messages: Messages) -> tuple[Exchange, ...]:
        """Return the exchanges that an earlier run stored for a request, () for none."""
        return tuple(
            exchange if exchange.messages else replace(exchange, messages=tuple(messages))
            for exchange in self._replies.get(request, ())
        )

    def store(
        self, request: NumberedRequest, model: str, messages: Messages, exchanges: Sequence[Exchange]
    ) -> None:
        sent = tuple(messages)
        stored = tuple(
            _storable(replace(exchange, messages=()) if exchange.messages == sent else exchange)
            for exchange in exchanges
        )
        reply = _CachedReply(key=request[0], number=request[1], model=model, exchanges=stored)
        self._append(f"{json.dumps(reply.model_dump(mode='json'))}\n")

    def _append(self, text: str) -> None:
        try:
            # One unbuffered write, so that lines of two runs do not mix.
            with self._lock, self._path.open("ab", buffering=0) as file:
                file.write(text.encode())
        except OSError as error:
            raise EvaluationError(f"The file {self._path} cannot be written: {error.strerror}.") from error


def replies_file(folder: Path, model: str) -> Path:
    """Return the path of the cache of a model's replies in the folder of results."""
    name = _UNSAFE.sub("-", model).strip("-.")[-60:]
    return folder / "replies" / f"{name}-{hashlib.sha256(model.encode()).hexdigest()[:8]}.jsonl"


class CachedModel:
    """A model whose complete replies are cached and returned again for the same request.

    Interrupted replies are not cached. `how` is part of the cache key of replies in a form: it describes how
    the server makes the model follow the form. Without `stores_bad_replies` a reply that does not fit its
    form is requested again by the next run.
    """

    def __init__(
        self, model: ChatModel, cache: ReplyCache, how: str = "", *, stores_bad_replies: bool = True
    ) -> None:
        self.id = model.id
        self.label = model.label
        self._model = model
        self._cache = cache
        self._how = how
        self._stores_bad_replies = stores_bad_replies

    def stream(
        self, messages: Messages, parameters: Parameters, enough: Enough | None = None
    ) -> Generator[str, None, Completion]:
        exchange = yield from self._exchange(messages, parameters, enough)
        return exchange.completion

    def exchange(self, messages: Messages, parameters: Parameters) -> Exchange:
        """Return a complete reply in plain text; raises ModelError if it breaks off."""
        with closing(self._exchange(messages, parameters, None)) as reply:
            while True:
                try:
                    next(reply)
                except StopIteration as end:
                    exchange: Exchange = end.value
                    _check_whole(exchange)
                    return exchange

    def reply(
        self,
        messages: Sequence[Message],
        parameters: Parameters,
        schema: type[Schema],
        on_exchange: Callable[[Exchange], None] | None = None,
        on_piece: OnPiece | None = None,
    ) -> Schema:
        form = [self._how, schema.model_json_schema()]
        request = self._cache.number(self.id, messages, parameters, form)
        if cached := self._cache.find(request, messages):
            for exchange in cached if on_exchange else ():
                on_exchange(exchange)  # type: ignore[misc]
            last = cached[-1].completion
            try:
                return read_reply(last.text, schema)
            except ValidationError as error:
                problem = reply_problem(last, error, schema)
            raise bad_reply(self.label, problem, tuple(exchange.completion.text for exchange in cached))
        exchanges: list[Exchange] = []

        def note(exchange: Exchange) -> None:
            _check_whole(exchange)
            exchanges.append(exchange)
            if on_exchange:
                on_exchange(exchange)

        try:
            reply = self._model.reply(messages, parameters, schema, note, on_piece)
        except BadReplyError:
            if self._stores_bad_replies:
                self._cache.store(request, self.id, messages, exchanges)
            raise
        self._cache.store(request, self.id, messages, exchanges)
        return reply

    def _exchange(
        self, messages: Messages, parameters: Parameters, enough: Enough | None
    ) -> Generator[str, None, Exchange]:
        form = "text" if enough is None else "text, as far as it is wanted"
        request = self._cache.number(self.id, messages, parameters, form)
        if cached := self._cache.find(request, messages):
            yield cached[-1].completion.text
            return cached[-1]
        started, clock = datetime.now(UTC).isoformat(timespec="milliseconds"), time.monotonic()
        with closing(self._model.stream(messages, parameters, enough)) as reply:
            completion = yield from reply
        exchange = Exchange(tuple(messages), completion, started, time.monotonic() - clock)
        if completion.finish_reason != "interrupted":
            self._cache.store(request, self.id, messages, [exchange])
        return exchange


def _check_whole(exchange: Exchange) -> None:
    completion = exchange.completion
    if completion.finish_reason == "interrupted":
        raise ModelUnavailableError(
            completion.problem or "The reply ended in the middle.",
            "Complete replies are stored: run the same command again to go on.",
        )


def _storable(exchange: Exchange) -> Exchange:
    """Replace lone surrogates, which UTF-8 cannot encode."""
    completion = replace(exchange.completion, text=_whole_characters(exchange.completion.text))
    messages = tuple(
        replace(message, content=_whole_characters(message.content)) for message in exchange.messages
    )
    return replace(exchange, messages=messages, completion=completion)


def _whole_characters(text: str) -> str:
    return text.encode("utf-8", "replace").decode("utf-8")


def form_hint(entry: ModelEntry) -> str:
    """Describe how a model is made to follow a schema; the text is part of the cache key."""
    return "held to the schema" if entry.structured else "told the schema in words"


def with_tokens(entry: ModelEntry, parameters: Parameters, tokens: int) -> Parameters:
    """Limit the tokens of a reply; a reasoning model keeps its usual limit if that is higher."""
    most = max(tokens, parameters.max_tokens) if entry.thinks else tokens
    return replace(parameters, max_tokens=most)


def ask_each(
    items: Iterable[Item],
    ask: Callable[[Item], Answer],
    at_once: int,
    fatal: type[ModelError] | tuple[()] = (),
) -> tuple[list[Answer | None], list[ModelError]]:
    """Ask a model for each item, `at_once` at a time; return the answers, None for a failure, and the errors.

    An error of the class `fatal` is raised.
    """
    errors: list[ModelError] = []

    def answer(item: Item) -> Answer | None:
        try:
            return ask(item)
        except ModelError as error:
            if isinstance(error, fatal):
                raise
            errors.append(error)
            return None

    with ThreadPoolExecutor(at_once) as pool:
        return list(pool.map(answer, items)), errors
