"""Paid results kept in files of JSON lines, so that a killed run loses none and nothing is paid for twice."""

import hashlib
import json
import os
import re
import threading
import time
from collections import Counter
from collections.abc import Callable, Generator, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from pydantic import BaseModel, ValidationError

from assistant.models import (
    BadReplyError,
    ChatModel,
    Completion,
    Enough,
    Exchange,
    ModelUnavailableError,
    OnPiece,
    Schema,
    bad_reply,
    read_reply,
    reply_problem,
)
from assistant.records import Message, Parameters
from corpus.durable import replace_durably
from evaluation.input_files import EvaluationError, Form, read_text, record_of

_UNSAFE = re.compile(r"[^A-Za-z0-9._-]+")


def write_whole(path: Path, text: str) -> None:
    """Write a file that is there whole or not at all; raises OSError."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    temporary.write_text(text, encoding="utf-8")
    replace_durably(temporary, path)


class KeptLines:
    """A file of records whose first field is `key`, a text; it need not be there yet.

    A line torn by a kill is left out. Safe to share between threads.
    """

    _BEGINNING = '{"key": "'

    def __init__(self, path: Path) -> None:
        self._path = path
        self._writing = threading.Lock()

    def read(self, form: type[Form], what: str, hint: str) -> list[Form]:
        """Return the records in their order; raises EvaluationError that names the line at fault."""
        if not self._path.exists():
            return []
        lines = enumerate(read_text(self._path, what).split("\n"), start=1)
        return [
            record_of(self._path, number, line, form, hint)
            for number, line in lines
            if line.strip() and not self._is_torn(line)
        ]

    def begin(self) -> None:
        """Make sure that records can be kept before any is paid for; raises EvaluationError."""
        try:
            text = self._path.read_bytes() if self._path.exists() else b""
        except OSError as error:
            raise self._unwritable(error) from error
        self._append("\n" if text and not text.endswith(b"\n") else "")

    def add(self, record: dict[str, object]) -> None:
        """Write a record; raises EvaluationError."""
        self._append(f"{json.dumps(record)}\n")

    def _append(self, text: str) -> None:
        try:
            # In one piece, so that lines of two runs do not mix.
            with self._writing, self._path.open("ab", buffering=0) as file:
                file.write(text.encode())
        except OSError as error:
            raise self._unwritable(error) from error

    def _unwritable(self, error: OSError) -> EvaluationError:
        return EvaluationError(f"The file {self._path} cannot be written: {error.strerror}.")

    def _is_torn(self, line: str) -> bool:
        try:
            json.loads(line)
        except ValueError:
            return line.startswith(self._BEGINNING[: len(line)])
        return False


class _KeptReply(BaseModel, frozen=True, extra="forbid"):
    """The exchanges of a request, made for the `number`-th time.

    An exchange without messages sent those of the request.
    """

    key: str
    number: int
    model: str
    exchanges: tuple[Exchange, ...]


@dataclass(frozen=True, slots=True)
class _Request:
    """A request by the hash of all of it, and how often it was made before."""

    key: str
    number: int
    model: str
    messages: tuple[Message, ...]


class KeptReplies:
    """The replies of a file, which need not be there yet. Safe to share between threads.

    A request that a run repeats gets as many replies. Raises EvaluationError.
    """

    def __init__(self, path: Path) -> None:
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise EvaluationError(f"The folder {path.parent} cannot be made: {error.strerror}.") from error
        self._lines = KeptLines(path)
        kept = self._lines.read(_KeptReply, "file of replies", "Delete the file to ask for its replies anew.")
        self._kept = {(one.key, one.number): one.exchanges for one in kept}
        self._asked: Counter[str] = Counter()
        self._counting = threading.Lock()
        self._lines.begin()

    def request(
        self, model: str, messages: Sequence[Message], parameters: Parameters, form: object
    ) -> _Request:
        """Return a request; `form` is the wanted form of the reply, as JSON."""
        told = [model, [asdict(message) for message in messages], asdict(parameters), form]
        key = hashlib.sha256(json.dumps(told, sort_keys=True).encode()).hexdigest()
        with self._counting:
            self._asked[key] += 1
            return _Request(key, self._asked[key], model, tuple(messages))

    def find(self, request: _Request) -> tuple[Exchange, ...]:
        """Return the exchanges of an earlier run, none where it did not ask."""
        exchanges = self._kept.get((request.key, request.number), ())
        return tuple(one if one.messages else replace(one, messages=request.messages) for one in exchanges)

    def keep(self, request: _Request, exchanges: Sequence[Exchange]) -> None:
        short = (replace(one, messages=()) if one.messages == request.messages else one for one in exchanges)
        kept = _KeptReply(
            key=request.key,
            number=request.number,
            model=request.model,
            exchanges=tuple(map(_storable, short)),
        )
        self._lines.add(kept.model_dump(mode="json"))


def replies_file(folder: Path, model: str) -> Path:
    """Return the file of a model's replies in the folder of results."""
    name = _UNSAFE.sub("-", model).strip("-.")[-60:]
    return folder / "replies" / f"{name}-{hashlib.sha256(model.encode()).hexdigest()[:8]}.jsonl"


class KeptModel:
    """A model whose whole replies are kept, and given again for the same request.

    An interrupted reply is not kept. `how` says what else replies in a form depend on, such as whether the
    server holds the model to the form.
    """

    def __init__(self, model: ChatModel, replies: KeptReplies, how: str = "") -> None:
        self.id = model.id
        self.label = model.label
        self._model = model
        self._replies = replies
        self._how = how

    def stream(
        self, messages: Sequence[Message], parameters: Parameters, enough: Enough | None = None
    ) -> Generator[str, None, Completion]:
        exchange = yield from self._exchange(messages, parameters, enough)
        return exchange.completion

    def exchange(self, messages: Sequence[Message], parameters: Parameters) -> Exchange:
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
        request = self._replies.request(self.id, messages, parameters, form)
        if kept := self._replies.find(request):
            for exchange in kept if on_exchange else ():
                on_exchange(exchange)  # type: ignore[misc]
            last = kept[-1].completion
            try:
                return read_reply(last.text, schema)
            except ValidationError as error:
                problem = reply_problem(last, error, schema)
            raise bad_reply(self.label, problem, tuple(one.completion.text for one in kept))
        exchanges: list[Exchange] = []

        def note(exchange: Exchange) -> None:
            _check_whole(exchange)
            exchanges.append(exchange)
            if on_exchange:
                on_exchange(exchange)

        try:
            reply = self._model.reply(messages, parameters, schema, note, on_piece)
        except BadReplyError:
            self._replies.keep(request, exchanges)
            raise
        self._replies.keep(request, exchanges)
        return reply

    def _exchange(
        self, messages: Sequence[Message], parameters: Parameters, enough: Enough | None
    ) -> Generator[str, None, Exchange]:
        form = "text" if enough is None else "text, as far as it is wanted"
        request = self._replies.request(self.id, messages, parameters, form)
        if kept := self._replies.find(request):
            yield kept[-1].completion.text
            return kept[-1]
        started, clock = datetime.now(UTC).isoformat(timespec="milliseconds"), time.monotonic()
        with closing(self._model.stream(messages, parameters, enough)) as reply:
            completion = yield from reply
        exchange = Exchange(tuple(messages), completion, started, time.monotonic() - clock)
        if completion.finish_reason != "interrupted":
            self._replies.keep(request, [exchange])
        return exchange


def _check_whole(exchange: Exchange) -> None:
    completion = exchange.completion
    if completion.finish_reason == "interrupted":
        raise ModelUnavailableError(
            completion.problem or "The reply ended in the middle.",
            "What was replied is kept: the same command goes on.",
        )


def _storable(exchange: Exchange) -> Exchange:
    """Return an exchange without lone surrogates, which no file can hold."""
    completion = replace(exchange.completion, text=_whole_characters(exchange.completion.text))
    messages = tuple(replace(one, content=_whole_characters(one.content)) for one in exchange.messages)
    return replace(exchange, messages=messages, completion=completion)


def _whole_characters(text: str) -> str:
    return text.encode("utf-8", "replace").decode("utf-8")
