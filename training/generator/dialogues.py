"""Dialogues as tokens: what the model reads, and the answer that its loss is taken on."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from assistant.records import Message
from training.errors import TrainingError

LONGEST_MESSAGE = 400_000


class ChatMessage(BaseModel):
    """A message as it stands in a file of dialogues."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    role: Literal["system", "user", "assistant"]
    content: str = Field(min_length=1, max_length=LONGEST_MESSAGE)


class ChatRow(BaseModel):
    """A line of a file of dialogues; what else stands in it is left aside."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    messages: tuple[ChatMessage, ...] = Field(min_length=2, max_length=100)


@dataclass(frozen=True, slots=True)
class Dialogue:
    """The tokens of a dialogue; from `answer` on they are the last reply, with what ends it."""

    tokens: tuple[int, ...]
    answer: int


def read_rows(path: Path) -> tuple[tuple[Message, ...], ...]:
    """Return the dialogues of a file of JSON lines; raises TrainingError that names the line at fault."""
    try:
        lines = path.read_text(encoding="utf-8").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise TrainingError(f"The dialogues {path} cannot be read: {error}.") from None
    rows = tuple(_row(path, number, line) for number, line in enumerate(lines, start=1) if line.strip())
    if not rows:
        raise TrainingError(f"The file {path} holds no dialogues: a line is {{messages: [...]}}.")
    return rows


def _row(path: Path, number: int, line: str) -> tuple[Message, ...]:
    try:
        row = ChatRow.model_validate_json(line)
    except ValidationError as error:
        first = error.errors(include_input=False)[0]
        place = ".".join(str(part) for part in first["loc"]) or "the line"
        raise TrainingError(f"{path}, line {number}: {place}: {first['msg']}.") from None
    roles = [message.role for message in row.messages]
    if roles[-1] != "assistant" or "user" not in roles or "system" in roles[1:]:
        raise TrainingError(
            f"{path}, line {number}: a dialogue has a user's message, ends with the assistant's, and what the"
            " system says stands first."
        )
    return tuple(Message(message.role, message.content.strip()) for message in row.messages)


def encode(tokenizer: Any, messages: Sequence[Message], stops: Collection[int], *, system: bool) -> Dialogue:
    """Return a dialogue's tokens as a model that writes the last message reads and writes them.

    `stops` are the tokens that end a reply; `system`: the chat template takes what a system says.
    """
    # Here, because it brings what local models are run with.
    from assistant.models.local import as_chat  # noqa: PLC0415

    chat = as_chat(messages[:-1], knows_system=system)
    reply = messages[-1].content
    prefix = tokenizer.apply_chat_template(chat, tokenize=False, add_generation_prompt=True)
    whole = tokenizer.apply_chat_template([*chat, {"role": "assistant", "content": reply}], tokenize=False)
    completion = _completion(prefix, whole, reply)
    read = _tokens(tokenizer, prefix)
    together = _tokens(tokenizer, prefix + completion)
    # Where a token would span the border, the model writes the answer's first one anew.
    is_clean = together[: len(read)] == read
    written = together[len(read) :] if is_clean else _tokens(tokenizer, completion)
    return Dialogue((*read, *_ended(written, stops, tokenizer.eos_token_id)), len(read))


def _completion(prefix: str, whole: str, reply: str) -> str:
    """Return what follows the prompt: templates that open a reply otherwise than they print one exist."""
    if whole.startswith(prefix):
        return whole[len(prefix) :]
    return reply + whole[whole.rindex(reply) + len(reply) :] if reply in whole else reply


def _tokens(tokenizer: Any, text: str) -> list[int]:
    # Templates write the special tokens themselves.
    return list(tokenizer(text, add_special_tokens=False)["input_ids"])


def _ended(tokens: Sequence[int], stops: Collection[int], end: int | None) -> tuple[int, ...]:
    """Return a reply's tokens up to the last that ends it, which is added where there is none."""
    places = [place for place, token in enumerate(tokens) if token in stops]
    if places:
        return tuple(tokens[: places[-1] + 1])
    return (*tokens, end) if end is not None else tuple(tokens)
