"""A reply while it arrives from a server, chunk by chunk."""

import math
import re
from collections.abc import Mapping
from typing import Annotated

from pydantic import BaseModel, BeforeValidator, model_validator

from assistant.models.events import DONE
from assistant.models.protocol import Completion
from assistant.models.thoughts import Thoughts

# Far above any answer, against models that never end.
LONGEST_REPLY = 200_000
# Control tokens of chat templates, which a model writes as text if its server's template is another.
CONTROL_TOKENS = (
    *(
        "<|im_start|>",
        "<|im_end|>",
        "<|endoftext|>",
        "<|eot_id|>",
        "<|start_header_id|>",
        "<|end_header_id|>",
    ),
    *("<start_of_turn>", "<end_of_turn>", "<|end|>", "<|user|>", "<|assistant|>", "<|system|>"),
    *("<eos>", "</s>", "<|return|>", "<|call|>", "<|eom_id|>", "<|end_of_text|>", "<|eot|>"),
    *("<｜end▁of▁sentence｜>", "<｜User｜>", "<｜Assistant｜>", "<|turn>", "<turn|>"),
    *("<|END_OF_TURN_TOKEN|>", "<|START_OF_TURN_TOKEN|>", "<|END_RESPONSE|>", "<|END_TEXT|>"),
    *("<|end_of_solution|>", "[END FINAL RESPONSE]", "[|endofturn|]", "[|user|]", "[|system|]"),
    *("<|start_of_role|>", "<|end_of_role|>", "<|header_start|>", "<|header_end|>", "<|observation|>"),
    *("<|im_user|>", "<|im_assistant|>", "<|im_system|>", "<end_of_utterance>"),
)
_CONTROL = re.compile("|".join(map(re.escape, CONTROL_TOKENS)))
# Control tokens that open the model's turn, followed by the role and a new line.
_OPENINGS = ("<|im_start|>", "<start_of_turn>", "<|start_header_id|>", "<|assistant|>")
_OWN_TURN = re.compile(
    rf"\s*(?:{'|'.join(map(re.escape, _OPENINGS))})(?:assistant|model)?(?:<\|end_header_id\|>)?"
    r"[^\S\n]*+\n\s*+"
)
# Control tokens that begin a text, and those that open the model's turn without a new line.
_BEGINNINGS = (
    *("<s>", "<bos>", "<|begin_of_text|>", "<｜begin▁of▁sentence｜>", "<BOS_TOKEN>"),
    *("<｜Assistant｜>", "[|assistant|]", "<|START_OF_TURN_TOKEN|><|CHATBOT_TOKEN|>"),
    *("<|start_of_role|>assistant<|end_of_role|>", "<|header_start|>assistant<|header_end|>"),
    "<|im_assistant|>assistant<|im_middle|>",
)
_BEGINNING = re.compile(rf"(?:\s*(?:{'|'.join(map(re.escape, _BEGINNINGS))}))+")
LONGEST_OPENING = 60
LONGEST_SERVED = 200


# Servers' finish reasons, and ours: "interrupted" if the server failed.
_STOP, _LENGTH, _FILTER, _FAILED = "stop", "length", "content_filter", "interrupted"
_ENDINGS = {
    **dict.fromkeys(
        ("stop", "eos", "eos_token", "eos_token_id", "end_turn", "stop_sequence", "stop_token", "complete",
         "completed", "done", "end", "finish", "finished", "finish_reason_stop"),
        _STOP,
    ),
    **dict.fromkeys(
        ("length", "max_tokens", "max_length", "model_length", "token_limit", "max_output_tokens",
         "max_completion_tokens"),
        _LENGTH,
    ),
    **dict.fromkeys(
        ("content_filter", "content_filtered", "content-filter", "contentfilter", "filtered", "safety",
         "blocked", "blocklist", "prohibited_content", "recitation", "spii", "sensitive", "moderation",
         "refusal", "guardrail_intervened"),
        _FILTER,
    ),
    **dict.fromkeys(
        ("error", "network_error", "abort", "aborted", "cancelled", "canceled", "timeout",
         "insufficient_system_resource"),
        _FAILED,
    ),
}  # fmt: skip
_CUT = (_LENGTH, _FILTER, _FAILED)
# Tokens; a larger count is a server's mistake.
_MOST_TOKENS = 10**9
# Types of content parts that are thoughts, and the depth to which parts are read.
_THOUGHTS = ("thinking", "reasoning", "thought", "redacted_thinking")
_DEEPEST = 6


def _count(value: object) -> int | None:
    """Return a number of tokens, None for an invalid value, which must not break a reply."""
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 10:
        return int(value)
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= _MOST_TOKENS:
        return None
    return int(value) if value == int(value) else None


def _seconds(value: object) -> float | None:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return float(value) if is_number and 0 <= value < math.inf else None  # type: ignore[operator,arg-type]


def _fields(value: object) -> object:
    return value if isinstance(value, Mapping | BaseModel) else None


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None


def _ending(value: object) -> str | None:
    """Return a finish reason as text, None for none; some servers write a number or an object."""
    if isinstance(value, Mapping):
        value = value.get("type") or value.get("reason") or _STOP
    if value is None or isinstance(value, str):
        return value
    return _STOP if value else None


def _content_text(content: object, depth: int = _DEEPEST) -> str | None:
    """Return the text of a content, which may consist of parts, without thoughts; None without text."""
    if isinstance(content, str):
        return content
    if isinstance(content, list | tuple) and depth:
        texts = [text for part in content if (text := _content_text(part, depth - 1)) is not None]
        return "".join(texts) if texts else None
    if isinstance(content, Mapping) and depth and content.get("type", "text") not in _THOUGHTS:
        names = ("text", "value", "content", "parts", "refusal")
        return next((text for name in names if (text := _content_text(content.get(name), depth - 1))), None)
    return None


Count = Annotated[int | None, BeforeValidator(_count)]
Text = Annotated[str | None, BeforeValidator(_text)]


class _Delta(BaseModel):
    """The text of a chunk, and whether it has thoughts in fields of their own.

    Content in parts is joined, without thoughts.
    """

    content: str | None = None
    has_thoughts: bool = False

    @model_validator(mode="before")
    @classmethod
    def _of_parts(cls, data: object) -> object:
        if isinstance(data, str):
            return {"content": data}
        if not isinstance(data, Mapping):
            return data
        content = data.get("content")
        text = _content_text(content) if isinstance(content, list | Mapping) else content
        apart = ("reasoning_content", "reasoning", "thinking", "reasoning_details")
        has_thoughts = any(data.get(name) for name in apart) or (text is None and bool(content))
        return {"content": data.get("refusal") if text is None else text, "has_thoughts": has_thoughts}


class _Choice(BaseModel):
    """A choice of a chunk; some servers send a whole message, or bare text, in place of a delta."""

    delta: _Delta | None = None
    message: _Delta | None = None
    text: Text = None
    finish_reason: Annotated[str | None, BeforeValidator(_ending)] = None


class _PromptDetails(BaseModel):
    cached_tokens: Count = None


class _Usage(BaseModel):
    prompt_tokens: Count = None
    completion_tokens: Count = None
    prompt_tokens_details: Annotated[_PromptDetails | None, BeforeValidator(_fields)] = None


class _Timings(BaseModel):
    """llama.cpp's timings of a prompt: cached tokens, tokens read, and the time for these."""

    cache_n: Count = None
    prompt_n: Count = None
    prompt_ms: Annotated[float | None, BeforeValidator(_seconds)] = None


class _Chunk(BaseModel):
    """The fields read from a chunk; clients pass on whatever the server sent, unchecked."""

    choices: list[_Choice] | None = None
    usage: Annotated[_Usage | None, BeforeValidator(_fields)] = None
    timings: Annotated[_Timings | None, BeforeValidator(_fields)] = None
    model: Text = None


class _Turn:
    """Ends a reply at a control token, after which the model invents another turn.

    The opening of the model's own turn, with which some models begin, is removed.
    """

    def __init__(self) -> None:
        self._held = ""
        self._has_begun = False
        self.is_over = False

    def pass_on(self, text: str) -> str:
        """Return the text that certainly belongs to the reply, holding back a possible control token."""
        if self.is_over:
            return ""
        text = self._held + text
        if not self._has_begun:
            if _may_be_opening(text):
                self._held = text
                return ""
            self._has_begun, text = True, _without_own_turn(text)
        if control := _CONTROL.search(text):
            self._held, self.is_over = "", True
            return text[: control.start()].rstrip() if text[: control.start()].strip() else ""
        kept = len(text) - _begun(text)
        self._held = text[kept:]
        return text[:kept]

    def rest(self) -> str:
        """Return the text held back at the end of the reply."""
        if self._has_begun or self.is_over:
            return "" if self.is_over else self._held
        # The whole reply is an opening.
        return _CONTROL.split(_without_own_turn(self._held), maxsplit=1)[0].rstrip()


def _without_own_turn(text: str) -> str:
    beginning = _BEGINNING.match(text)
    text = text[beginning.end() :].lstrip() if beginning else text
    opening = _OWN_TURN.match(text)
    return text[opening.end() :] if opening else text


def _may_be_opening(text: str) -> bool:
    """Return True if a text may still become the opening of the model's own turn."""
    beginning = _BEGINNING.match(text)
    bare = text[beginning.end() if beginning else 0 :].lstrip()
    if any(opening.startswith(bare) for opening in (*_OPENINGS, *_BEGINNINGS)):
        return True
    is_opened = bare.startswith(_OPENINGS)
    return is_opened and len(bare) < LONGEST_OPENING and "\n" not in bare


def _begun(text: str) -> int:
    """Return the length of the text's end that may begin a control token."""
    longest = max(map(len, CONTROL_TOKENS)) - 1
    ends = (text[-length:] for length in range(min(longest, len(text)), 0, -1))
    return next((len(end) for end in ends if any(token.startswith(end) for token in CONTROL_TOKENS)), 0)


class ReplyText:
    """The reply within a model's text: without thoughts and further turns."""

    def __init__(self, *, begun_in_thoughts: bool = False) -> None:
        self._thoughts = Thoughts(begun=begun_in_thoughts)
        self._turn = _Turn()

    @property
    def is_over(self) -> bool:
        """Whether the model has ended its turn."""
        return self._turn.is_over

    @property
    def begins_in_thoughts(self) -> bool:
        """Whether the prompt is known to begin the model's thoughts, so that it only ends them."""
        return self._thoughts.begun

    def pass_on(self, text: str) -> str:
        """Return the text that certainly belongs to the reply."""
        return self._turn.pass_on(self._thoughts.pass_on(text))

    def rest(self, *, is_whole: bool) -> str:
        """Return the text held back at the end, without thoughts that were cut."""
        return self._turn.pass_on(self._thoughts.rest(is_whole=is_whole)) + self._turn.rest()

    def whole(self) -> str:
        """Return the reply, without pieces that were passed on and then turned out to be thoughts."""
        turn = _Turn()
        return turn.pass_on(self._thoughts.text) + turn.rest()


class ArrivingReply:
    """The text and token counts of a reply, collected from its chunks; `asked` is the requested model.

    `has_begun`: the model has written anything, thoughts included; `has_ended`: the server has sent a finish
    reason, though token counts may follow; `is_over`: nothing more is read. Reasoning in fields of its own is
    not read.
    """

    def __init__(self, asked: str = "", *, begun_in_thoughts: bool = False) -> None:
        self.has_begun = False
        self.is_over = False
        self._text = ReplyText(begun_in_thoughts=begun_in_thoughts)
        self._room = LONGEST_REPLY
        self._asked = asked
        self._served = ""
        self._finish_reason = ""
        self._problem = ""
        self._ended_with = ""
        self._received: list[str] = []
        self._usage = _Usage()
        self._timings = _Timings()

    @property
    def begins_in_thoughts(self) -> bool:
        return self._text.begins_in_thoughts

    @property
    def has_ended(self) -> bool:
        return bool(self._finish_reason)

    def take(self, chunk: object) -> str:
        """Return the text that a chunk makes certain, often ""; raises ValueError for an invalid chunk."""
        if chunk is DONE:
            self._finish_reason = self._finish_reason or _STOP
            return ""
        written = self._note(_Chunk.model_validate(chunk, from_attributes=True))
        self._received.append(written)
        self._room -= len(written)
        text = self._text.pass_on(written[: len(written) + min(self._room, 0)])
        if self._text.is_over:
            self._finish_reason, self.is_over = "stop", True
        elif self._room < 0:
            self._finish_reason, self.is_over = "too_long", True
            self._text.rest(is_whole=False)
        return text

    def end(self) -> str:
        """Return the text held back at the end of the chunks; raises EOFError if the reply had not ended."""
        if self.is_over:
            return ""
        if not self._finish_reason:
            raise EOFError
        self.is_over = True
        return self._text.rest(is_whole=self._finish_reason not in _CUT)

    def interrupt(self, problem: str) -> None:
        """End an interrupted reply with the text so far."""
        self._finish_reason, self._problem, self.is_over = "interrupted", problem, True
        self._text.rest(is_whole=False)

    def cut(self) -> None:
        """End a reply of which no more is needed."""
        self._finish_reason, self.is_over = "enough", True

    @property
    def text(self) -> str:
        return self._text.whole()

    def completion(self, attempts: int) -> Completion:
        finish_reason = self._finish_reason
        if finish_reason == _FAILED and not self._problem:
            self._problem = f"Its server ended the reply with “{self._ended_with}”."
        tokens = self._usage.prompt_tokens, self._usage.completion_tokens
        served = "" if self._served == self._asked else self._served
        details, timings = self._usage.prompt_tokens_details, self._timings
        return Completion(
            self.text,
            finish_reason,
            *tokens,
            attempts,
            self._problem,
            served,
            cached_tokens=details.cached_tokens if details else timings.cache_n,
            read_tokens=timings.prompt_n,
            read_seconds=None if timings.prompt_ms is None else timings.prompt_ms / 1000,
        )

    def _note(self, chunk: _Chunk) -> str:
        self._usage = chunk.usage or self._usage
        self._timings = chunk.timings or self._timings
        self._served = self._served or (chunk.model or "")[:LONGEST_SERVED]
        if not chunk.choices:
            return ""
        choice = chunk.choices[0]
        if choice.finish_reason:
            self._ended_with = choice.finish_reason[:LONGEST_SERVED]
            self._finish_reason = _ENDINGS.get(self._ended_with.lower(), self._ended_with)
        delta, message = choice.delta or _Delta(), choice.message or _Delta()
        text = delta.content or choice.text or self._beyond(message.content or "")
        self.has_begun = self.has_begun or bool(text) or delta.has_thoughts or message.has_thoughts
        return text

    def _beyond(self, message: str) -> str:
        """Return the new text of a message; some messages repeat all of the reply so far."""
        if not message:
            return ""
        received = "".join(self._received)
        self._received = [received]
        if received and message.strip() == received.strip():
            return ""
        return message.removeprefix(received)
