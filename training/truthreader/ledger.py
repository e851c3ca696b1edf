"""What was asked of a model, call by call on disk, so that nothing is asked twice."""

import hashlib
import json
import os
from collections import defaultdict
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import IO, Self

from pydantic import BaseModel, ConfigDict, ValidationError

from assistant.models import (
    ChatModel,
    Completion,
    Exchange,
    Schema,
    bad_reply,
    complaint,
    read_reply,
    reply_problem,
)
from assistant.records import Message, Parameters
from corpus.text import storable
from training.files import TrainingError

MOST_REPLIES = 2
LONGEST_KEPT = 20_000


class _Entry(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    key: str
    reply: str
    finish_reason: str


class Ledger:
    """The replies of a model by the key of what was asked, in a file of JSON lines, for a `with` block.

    A line is on the disk before the next call is made; one that a killed process has left unfinished is cut.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._replies: dict[str, list[Completion]] = defaultdict(list)
        self._file: IO[bytes] | None = None

    def __enter__(self) -> Self:
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._file = self.path.open("ab+")
            self._read()
        except OSError as error:
            self._close()
            raise self._failed(error) from None
        except TrainingError:
            self._close()
            raise
        return self

    def __exit__(
        self, _kind: type[BaseException] | None, _error: BaseException | None, _where: TracebackType | None
    ) -> None:
        self._close()

    @property
    def count(self) -> int:
        """How many calls were made, those of runs before among them."""
        return sum(map(len, self._replies.values()))

    def replies(self, key: str) -> tuple[Completion, ...]:
        return tuple(self._replies.get(key, ()))

    def add(self, key: str, completion: Completion) -> None:
        """Keep a reply; raises TrainingError where the disk takes no more."""
        kept = storable(completion.text)[:LONGEST_KEPT]
        entry = {"key": key, "reply": kept, "finish_reason": completion.finish_reason}
        self._replies[key].append(Completion(kept, completion.finish_reason))
        assert self._file is not None
        try:
            self._file.write(json.dumps(entry, ensure_ascii=False).encode() + b"\n")
            self._file.flush()
            os.fsync(self._file.fileno())
        except OSError as error:
            raise self._failed(error) from None

    def _close(self) -> None:
        # What a full disk did not take is tried again here, and was said already.
        with suppress(OSError):
            if self._file:
                self._file.close()

    def _read(self) -> None:
        assert self._file is not None
        self._file.seek(0)
        whole = 0
        for number, line in enumerate(self._file, start=1):
            if not line.endswith(b"\n"):
                break
            whole += len(line)
            entry = self._entry(number, line)
            self._replies[entry.key].append(Completion(entry.reply, entry.finish_reason))
        self._file.truncate(whole)

    def _entry(self, number: int, line: bytes) -> _Entry:
        try:
            return _Entry.model_validate_json(line)
        except ValidationError:
            raise TrainingError(
                f"{self.path}, line {number}: this is no record of a call. Remove the file to ask anew."
            ) from None

    def _failed(self, error: OSError) -> TrainingError:
        return TrainingError(
            f"The record of calls {self.path} cannot be kept: {error.strerror}. Free space or choose another"
            " --out, and run again: what was asked is not asked twice."
        )


@dataclass(frozen=True, slots=True)
class AskedModel:
    """A model that is asked only what its ledger does not know."""

    model: ChatModel
    parameters: Parameters
    ledger: Ledger

    def reply(self, messages: tuple[Message, ...], schema: type[Schema]) -> Schema:
        """Return the reply read into `schema`; raises BadReplyError after two that do not fit, ModelError."""
        key = call_key(self.model.id, messages, self.parameters, schema)
        received = self.ledger.replies(key)
        sent, problem = messages, ""
        for completion in received:
            try:
                return read_reply(completion.text, schema)
            except ValidationError as error:
                problem = reply_problem(completion, error, schema)
            # As a reply that does not fit is sent back where the process lives on.
            sent = (*messages, *complaint(completion, problem))
        if len(received) >= MOST_REPLIES:
            raise bad_reply(self.model.label, problem, tuple(one.text for one in received))

        def keep(exchange: Exchange) -> None:
            self.ledger.add(key, exchange.completion)

        return self.model.reply(sent, self.parameters, schema, keep)


def call_key(model: str, messages: Sequence[Message], parameters: Parameters, schema: type[BaseModel]) -> str:
    """Return what names a call: the hash of all that is sent."""
    sent = [[message.role, message.content] for message in messages]
    asked = [model, sent, repr(parameters), schema.model_json_schema()]
    return hashlib.sha256(json.dumps(asked, sort_keys=True).encode()).hexdigest()
