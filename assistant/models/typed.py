"""Typed replies: validated against a schema, and requested once more if they do not fit."""

import json
import re
import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime

from pydantic import BaseModel, ValidationError

from assistant.models.protocol import BadReplyError, Completion, Exchange, Schema
from assistant.prompts.render import load_prompt
from assistant.records import Message

LONGEST_REPEATED = 4000
_FENCED = re.compile(r"```(?:json)?[ \t]*\n(?P<inside>[^`]*)\n[ \t]*```", re.IGNORECASE)

Complete = Callable[[tuple[Message, ...]], Completion]


def typed_reply(
    complete: Complete,
    messages: Sequence[Message],
    schema: type[Schema],
    *,
    label: str,
    in_words: bool,
    on_exchange: Callable[[Exchange], None] | None = None,
) -> Schema:
    """Return the reply of `complete` to the messages, parsed as `schema`.

    `in_words`: the schema is written into the prompt, since the server does not enforce it. A reply that does
    not fit is sent back once with the error; nothing is repaired. Raises BadReplyError with both replies.
    """
    sent = with_schema(messages, schema) if in_words else tuple(messages)
    first = _exchange(complete, sent, on_exchange)
    try:
        return read_reply(first.text, schema)
    except ValidationError as error:
        problem = reply_problem(first, error, schema)
    second = _exchange(complete, (*sent, *complaint(first, problem)), on_exchange)
    try:
        return read_reply(second.text, schema)
    except ValidationError as error:
        # The cause would repeat the reply.
        problem = reply_problem(second, error, schema)
    raise bad_reply(label, problem, (first.text, second.text))


def bad_reply(label: str, problem: str, received: tuple[str, ...]) -> BadReplyError:
    """Return the error of a model that twice replied in another form than requested."""
    return BadReplyError(
        f"{label} did not reply in the form asked for, twice: {problem}. Retry, or choose another model.",
        received,
    )


def response_schema(schema: type[BaseModel]) -> dict[str, object]:
    """Return the JSON schema of a reply, under a name that servers accept."""
    name = re.sub(r"[^A-Za-z0-9_-]", "_", schema.__name__)[:64]
    return {"name": name, "schema": schema.model_json_schema(), "strict": True}


def with_schema(messages: Sequence[Message], schema: type[BaseModel]) -> tuple[Message, ...]:
    """Return the messages with the schema in the system message."""
    instruction = _prompt(schema=json.dumps(schema.model_json_schema(), ensure_ascii=False))[0].content
    if messages and messages[0].role == "system":
        return (Message("system", f"{messages[0].content}\n\n{instruction}"), *messages[1:])
    return (Message("system", instruction), *messages)


def complaint(reply: Completion, problem: str) -> tuple[Message, ...]:
    """Return the messages that send a reply back with its problem."""
    text = reply.text[:LONGEST_REPEATED].strip() or "(nothing)"
    return (Message("assistant", text), _prompt(problem=problem)[1])


def _prompt(*, schema: str = "", problem: str = "") -> tuple[Message, ...]:
    return load_prompt("typed").render(schema=schema, problem=problem)


def _exchange(
    complete: Complete, messages: tuple[Message, ...], on_exchange: Callable[[Exchange], None] | None
) -> Completion:
    started, clock = datetime.now(UTC), time.monotonic()
    completion = complete(messages)
    if on_exchange:
        seconds = time.monotonic() - clock
        on_exchange(Exchange(messages, completion, started.isoformat(timespec="milliseconds"), seconds))
    return completion


def read_reply(text: str, schema: type[Schema]) -> Schema:
    """Parse a reply as `schema`; raises ValidationError."""
    text = text.strip()
    # Many models put JSON into a fence.
    fenced = _FENCED.fullmatch(text)
    return schema.model_validate_json(fenced["inside"] if fenced else text)


def reply_problem(reply: Completion, error: ValidationError, schema: type[BaseModel]) -> str:
    """Describe the reply's fault in the validator's words, which repeat nothing of the reply."""
    first = error.errors(include_input=False, include_url=False, include_context=False)[0]
    if first["type"] == "json_invalid":
        is_empty = not reply.text.strip()
        out_of_tokens = "it ran out of tokens" + (" before it wrote anything" if is_empty else "")
        ended = {"interrupted": "it ended in the middle", "length": out_of_tokens}
        return ended.get(reply.finish_reason, "it is empty" if is_empty else "it is not JSON")
    # Names that are not in the schema are foreign text.
    known = [
        str(part)
        for part in first["loc"]
        if isinstance(part, int)
        or part in frozenset(re.findall(r'"(\w+)"\s*:', json.dumps(schema.model_json_schema())))
    ]
    return f"{'.'.join(known) or 'the object'}: {first['msg']}"
