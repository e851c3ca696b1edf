"""A model whose replies are recorded on disk, call by call, so that nothing is asked twice."""

import hashlib
import json
import os
from collections import defaultdict
from pathlib import Path

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
from training.files import TrainingError, saving

MOST_REPLIES = 2
LONGEST_KEPT = 20_000


class _Entry(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    key: str
    reply: str
    finish_reason: str


class RecordedModel:
    """A model that is asked only what its record, a file of JSON lines, does not hold.

    A line is on disk before the next call; one that a killed process left unfinished is cut.
    """

    def __init__(self, model: ChatModel, parameters: Parameters, path: Path) -> None:
        self.model, self.parameters, self.path = model, parameters, path
        self._replies: dict[str, list[Completion]] = defaultdict(list)
        with saving(path):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.touch()
            whole, newline, _ = path.read_bytes().rpartition(b"\n")
            os.truncate(path, len(whole + newline))
        for number, line in enumerate(whole.split(b"\n") if newline else [], start=1):
            try:
                entry = _Entry.model_validate_json(line)
            except ValidationError:
                raise TrainingError(
                    f"{path}, line {number}: this is no record of a call. Remove the file to ask anew."
                ) from None
            self._replies[entry.key].append(Completion(entry.reply, entry.finish_reason))

    @property
    def count(self) -> int:
        """The number of recorded calls, earlier runs included."""
        return sum(map(len, self._replies.values()))

    def reply(self, messages: tuple[Message, ...], schema: type[Schema]) -> Schema:
        """Return the reply read into `schema`; raises BadReplyError after two that do not fit, ModelError."""
        asked = [[message.role, message.content] for message in messages]
        sent_all = [self.model.id, asked, repr(self.parameters), schema.model_json_schema()]
        key = hashlib.sha256(json.dumps(sent_all, sort_keys=True).encode()).hexdigest()
        received = self._replies[key]
        sent, problem = messages, ""
        for completion in received:
            try:
                return read_reply(completion.text, schema)
            except ValidationError as error:
                problem = reply_problem(completion, error, schema)
            # A reply that does not fit is sent back, as in an uninterrupted run.
            sent = (*messages, *complaint(completion, problem))
        if len(received) >= MOST_REPLIES:
            raise bad_reply(self.model.label, problem, tuple(completion.text for completion in received))

        def keep(exchange: Exchange) -> None:
            completion = exchange.completion
            kept = Completion(storable(completion.text)[:LONGEST_KEPT], completion.finish_reason)
            received.append(kept)
            entry = {"key": key, "reply": kept.text, "finish_reason": kept.finish_reason}
            with saving(self.path), self.path.open("ab") as file:
                file.write(json.dumps(entry, ensure_ascii=False).encode() + b"\n")
                file.flush()
                os.fsync(file.fileno())

        return self.model.reply(sent, self.parameters, schema, keep)
