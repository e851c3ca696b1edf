"""Replies of models kept as they come: a run that was killed goes on, and nothing is paid for twice."""

import hashlib
import json
import re
import threading
import time
from collections import Counter
from collections.abc import Callable, Generator, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

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
from evaluation.input_files import EvaluationError
from evaluation.kept_lines import KeptLines

_HINT = "Delete the file to ask for its replies anew."
_UNSAFE = re.compile(r"[^A-Za-z0-9._-]+")


class _KeptReply(BaseModel):
    """What a model was asked for the `number`-th time, and its exchanges.

    An exchange without messages sent those that were asked, as they were.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    key: str
    number: int
    model: str
    exchanges: tuple[Exchange, ...]


@dataclass(frozen=True, slots=True)
class _Asking:
    """What is asked, told apart by all of it, and how often it was asked before."""

    key: str
    number: int
    model: str
    messages: tuple[Message, ...]


class KeptReplies:
    """The replies of a file, which need not be there yet; one for each run. Safe to share between threads.

    What a run asks several times in the same words gets as many replies. Raises EvaluationError.
    """

    def __init__(self, path: Path) -> None:
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise EvaluationError(f"The folder {path.parent} cannot be made: {error.strerror}.") from error
        self._lines = KeptLines(path, "key")
        kept = self._lines.read(_KeptReply, "file of replies", _HINT)
        self._kept = {(one.key, one.number): one for one in kept}
        self._asked: Counter[str] = Counter()
        self._counting = threading.Lock()
        self._lines.begin()

    def asking(
        self, model: str, messages: Sequence[Message], parameters: Parameters, form: object
    ) -> _Asking:
        """Return what is asked now; `form` is in what form the reply is wanted, as JSON can say it."""
        told = [model, [asdict(message) for message in messages], asdict(parameters), form]
        key = hashlib.sha256(json.dumps(told, sort_keys=True).encode()).hexdigest()
        with self._counting:
            self._asked[key] += 1
            return _Asking(key, self._asked[key], model, tuple(messages))

    def find(self, asking: _Asking) -> tuple[Exchange, ...]:
        """Return the exchanges of an earlier run, none where it did not ask."""
        kept = self._kept.get((asking.key, asking.number))
        exchanges = kept.exchanges if kept else ()
        return tuple(one if one.messages else replace(one, messages=asking.messages) for one in exchanges)

    def keep(self, asking: _Asking, exchanges: Sequence[Exchange]) -> None:
        short = [replace(one, messages=()) if one.messages == asking.messages else one for one in exchanges]
        kept = _KeptReply(
            key=asking.key, number=asking.number, model=asking.model, exchanges=tuple(map(_storable, short))
        )
        self._lines.add(kept.model_dump(mode="json"))


def replies_file(folder: Path, model: str) -> Path:
    """Return the file of a model's replies in the folder where what is measured is kept."""
    name = _UNSAFE.sub("-", model).strip("-.")[-60:]
    return folder / "replies" / f"{name}-{hashlib.sha256(model.encode()).hexdigest()[:8]}.jsonl"


class KeptModel:
    """A model of which each whole reply is kept, and given again where the same is asked.

    A reply that its server broke off is not kept: the next run asks for it anew. `how` says what replies in a
    form depend on besides what is asked, such as whether the server holds the model to the form.
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
        """Return a whole reply in whatever form, with its time; raises ModelError where it breaks off."""
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
        asking = self._replies.asking(self.id, messages, parameters, form)
        if kept := self._replies.find(asking):
            return self._given_again(kept, schema, on_exchange)
        exchanges: list[Exchange] = []

        def note(exchange: Exchange) -> None:
            _check_whole(exchange)
            exchanges.append(exchange)
            if on_exchange:
                on_exchange(exchange)

        try:
            reply = self._model.reply(messages, parameters, schema, note, on_piece)
        except BadReplyError:
            self._replies.keep(asking, exchanges)
            raise
        self._replies.keep(asking, exchanges)
        return reply

    def _exchange(
        self, messages: Sequence[Message], parameters: Parameters, enough: Enough | None
    ) -> Generator[str, None, Exchange]:
        form = "text" if enough is None else "text, as far as it is wanted"
        asking = self._replies.asking(self.id, messages, parameters, form)
        if kept := self._replies.find(asking):
            yield kept[-1].completion.text
            return kept[-1]
        started, clock = datetime.now(UTC).isoformat(timespec="milliseconds"), time.monotonic()
        with closing(self._model.stream(messages, parameters, enough)) as reply:
            completion = yield from reply
        exchange = Exchange(tuple(messages), completion, started, time.monotonic() - clock)
        if completion.finish_reason != "interrupted":
            self._replies.keep(asking, [exchange])
        return exchange

    def _given_again(
        self,
        kept: Sequence[Exchange],
        schema: type[Schema],
        on_exchange: Callable[[Exchange], None] | None,
    ) -> Schema:
        for exchange in kept:
            if on_exchange:
                on_exchange(exchange)
        last = kept[-1].completion
        try:
            return read_reply(last.text, schema)
        except ValidationError as error:
            problem = reply_problem(last, error, schema)
        raise bad_reply(self.label, problem, tuple(one.completion.text for one in kept))


def _check_whole(exchange: Exchange) -> None:
    completion = exchange.completion
    if completion.finish_reason == "interrupted":
        raise ModelUnavailableError(
            completion.problem or "The reply ended in the middle.",
            "What was replied is kept: the same command goes on.",
        )


def _storable(exchange: Exchange) -> Exchange:
    """Return an exchange whose texts a file can hold: half of a pair of characters is in none."""
    completion = replace(exchange.completion, text=_whole_characters(exchange.completion.text))
    messages = tuple(replace(one, content=_whole_characters(one.content)) for one in exchange.messages)
    return replace(exchange, messages=messages, completion=completion)


def _whole_characters(text: str) -> str:
    return text.encode("utf-8", "replace").decode("utf-8")
