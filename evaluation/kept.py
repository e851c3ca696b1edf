"""The cache of paid replies: files of JSON lines, so that a killed run loses none and pays for none twice."""

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
# A request by the hash of all of it, and the number of times that it was made.
Numbered = tuple[str, int]
_UNSAFE = re.compile(r"[^A-Za-z0-9._-]+")


def write_whole(path: Path, text: str) -> None:
    """Write a file whole or not at all; raises OSError."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    temporary.write_text(text, encoding="utf-8")
    replace_durably(temporary, path)


def keep_file(path: Path, text: str) -> None:
    """Write a file whole or not at all; raises EvaluationError."""
    try:
        write_whole(path, text)
    except OSError as error:
        raise EvaluationError(f"{path} cannot be written: {error.strerror}.") from error


class _KeptReply(BaseModel, frozen=True, extra="forbid"):
    """The exchanges of a request, made for the `number`-th time.

    An exchange without messages sent those of the request.
    """

    key: str
    number: int
    model: str
    exchanges: tuple[Exchange, ...]


class KeptReplies:
    """The replies of a file of JSON lines, which need not be there yet. Safe to share between threads.

    A request that a run repeats gets as many replies. A line torn by a kill costs its reply alone. Raises
    EvaluationError where the file cannot be read or written.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = threading.Lock()
        self._asked: Counter[str] = Counter()
        self._kept: dict[Numbered, tuple[Exchange, ...]] = {}
        make_folder(path.parent)
        text = read_text(path, "file of replies") if path.exists() else ""
        for line in filter(None, text.split("\n")):
            with suppress(ValidationError):
                reply = _KeptReply.model_validate_json(line)
                self._kept[reply.key, reply.number] = reply.exchanges
        # Fails before a reply is paid for, and ends a torn line.
        self._append("\n" if text and not text.endswith("\n") else "")

    def number(self, model: str, messages: Messages, parameters: Parameters, form: object) -> Numbered:
        """Count a request; `form` is the wanted form of the reply, as JSON."""
        asked = [model, [asdict(message) for message in messages], asdict(parameters), form]
        key = hashlib.sha256(json.dumps(asked, sort_keys=True).encode()).hexdigest()
        with self._lock:
            self._asked[key] += 1
            return key, self._asked[key]

    def find(self, request: Numbered, messages: Messages) -> tuple[Exchange, ...]:
        """Return the exchanges that an earlier run kept, none where it did not ask."""
        exchanges = self._kept.get(request, ())
        return tuple(own if own.messages else replace(own, messages=tuple(messages)) for own in exchanges)

    def keep(self, request: Numbered, model: str, messages: Messages, exchanges: Sequence[Exchange]) -> None:
        sent = tuple(messages)
        short = (replace(own, messages=()) if own.messages == sent else own for own in exchanges)
        stored = tuple(map(_storable, short))
        kept = _KeptReply(key=request[0], number=request[1], model=model, exchanges=stored)
        self._append(f"{json.dumps(kept.model_dump(mode='json'))}\n")

    def _append(self, text: str) -> None:
        try:
            # In one piece, so that lines of two runs do not mix.
            with self._lock, self._path.open("ab", buffering=0) as file:
                file.write(text.encode())
        except OSError as error:
            raise EvaluationError(f"The file {self._path} cannot be written: {error.strerror}.") from error


def replies_file(folder: Path, model: str) -> Path:
    """Name the file of a model's replies in the folder of results."""
    name = _UNSAFE.sub("-", model).strip("-.")[-60:]
    return folder / "replies" / f"{name}-{hashlib.sha256(model.encode()).hexdigest()[:8]}.jsonl"


class KeptModel:
    """A model whose whole replies are kept, and given again for the same request.

    An interrupted reply is not kept. `how` is what else replies in a form depend on, such as whether the
    server holds the model to the form. Without `keeps_bad` a reply that is not of its form is asked for anew
    in the next run.
    """

    def __init__(
        self, model: ChatModel, replies: KeptReplies, how: str = "", *, keeps_bad: bool = True
    ) -> None:
        self.id = model.id
        self.label = model.label
        self._model = model
        self._replies = replies
        self._how = how
        self._keeps_bad = keeps_bad

    def stream(
        self, messages: Messages, parameters: Parameters, enough: Enough | None = None
    ) -> Generator[str, None, Completion]:
        exchange = yield from self._exchange(messages, parameters, enough)
        return exchange.completion

    def exchange(self, messages: Messages, parameters: Parameters) -> Exchange:
        """Return a whole reply in any form, with its time; raises ModelError where it breaks off."""
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
        request = self._replies.number(self.id, messages, parameters, form)
        if kept := self._replies.find(request, messages):
            for exchange in kept if on_exchange else ():
                on_exchange(exchange)  # type: ignore[misc]
            last = kept[-1].completion
            try:
                return read_reply(last.text, schema)
            except ValidationError as error:
                problem = reply_problem(last, error, schema)
            raise bad_reply(self.label, problem, tuple(exchange.completion.text for exchange in kept))
        exchanges: list[Exchange] = []

        def note(exchange: Exchange) -> None:
            _check_whole(exchange)
            exchanges.append(exchange)
            if on_exchange:
                on_exchange(exchange)

        try:
            reply = self._model.reply(messages, parameters, schema, note, on_piece)
        except BadReplyError:
            if self._keeps_bad:
                self._replies.keep(request, self.id, messages, exchanges)
            raise
        self._replies.keep(request, self.id, messages, exchanges)
        return reply

    def _exchange(
        self, messages: Messages, parameters: Parameters, enough: Enough | None
    ) -> Generator[str, None, Exchange]:
        form = "text" if enough is None else "text, as far as it is wanted"
        request = self._replies.number(self.id, messages, parameters, form)
        if kept := self._replies.find(request, messages):
            yield kept[-1].completion.text
            return kept[-1]
        started, clock = datetime.now(UTC).isoformat(timespec="milliseconds"), time.monotonic()
        with closing(self._model.stream(messages, parameters, enough)) as reply:
            completion = yield from reply
        exchange = Exchange(tuple(messages), completion, started, time.monotonic() - clock)
        if completion.finish_reason != "interrupted":
            self._replies.keep(request, self.id, messages, [exchange])
        return exchange


def _check_whole(exchange: Exchange) -> None:
    completion = exchange.completion
    if completion.finish_reason == "interrupted":
        raise ModelUnavailableError(
            completion.problem or "The reply ended in the middle.",
            "What was replied is kept: the same command goes on.",
        )


def _storable(exchange: Exchange) -> Exchange:
    """Replace lone surrogates, which no file can hold."""
    completion = replace(exchange.completion, text=_whole_characters(exchange.completion.text))
    messages = tuple(
        replace(message, content=_whole_characters(message.content)) for message in exchange.messages
    )
    return replace(exchange, messages=messages, completion=completion)


def _whole_characters(text: str) -> str:
    return text.encode("utf-8", "replace").decode("utf-8")


def form_hint(entry: ModelEntry) -> str:
    """Describe how a model is held to a form, on which its replies depend."""
    return "held to the schema" if entry.structured else "told the schema in words"


def with_tokens(entry: ModelEntry, parameters: Parameters, tokens: int) -> Parameters:
    """Limit the tokens of replies; a thinking model needs its usual number for its thoughts too."""
    most = max(tokens, parameters.max_tokens) if entry.thinks else tokens
    return replace(parameters, max_tokens=most)


def ask_each(
    items: Iterable[Item],
    ask: Callable[[Item], Answer],
    at_once: int,
    fatal: type[ModelError] | tuple[()] = (),
) -> tuple[list[Answer | None], list[ModelError]]:
    """Ask a model for each item, `at_once` at a time; None where it failed, and the errors.

    A `fatal` error is raised.
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
