"""A reply while it arrives from a server, chunk by chunk."""

import re

from pydantic import BaseModel

from assistant.models.protocol import Completion

# Far above any sane answer; a model that does not end is not read for ever.
LONGEST_REPLY = 200_000
# What marks the turns of a chat: weights that do not know the template of their server write it as text.
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
    *("<eos>", "</s>"),
)
_CONTROL = re.compile("|".join(map(re.escape, CONTROL_TOKENS)))
LONGEST_SERVED = 200


class _Delta(BaseModel):
    """What a chunk adds: to the text, or to the thoughts that a server keeps apart from it."""

    content: str | None = None
    reasoning_content: str | None = None
    reasoning: str | None = None

    @property
    def has_text(self) -> bool:
        return bool(self.content or self.reasoning_content or self.reasoning)


class _Choice(BaseModel):
    delta: _Delta | None = None
    finish_reason: str | None = None


class _Usage(BaseModel):
    prompt_tokens: int | None = None
    completion_tokens: int | None = None


class _Chunk(BaseModel):
    """What is read of a chunk; clients hand through whatever the server sent, unchecked."""

    choices: list[_Choice] | None = None
    usage: _Usage | None = None
    model: str | None = None


class _Thoughts:
    """Keeps back a leading <think>...</think>, which some servers leave in a reasoning model's text."""

    _OPEN, _CLOSE = "<think>", "</think>"

    def __init__(self) -> None:
        self._held = ""
        self._over = False

    def pass_on(self, text: str) -> str:
        """Return what is answer, once it is certain that it is none of the thoughts."""
        if self._over:
            return text
        self._held = (self._held + text).lstrip()
        if self._held.startswith(self._OPEN):
            answer = self._held.partition(self._CLOSE)[2].lstrip()
        else:
            answer = "" if self._OPEN.startswith(self._held) else self._held
        self._over = bool(answer)
        return answer

    def rest(self) -> str:
        """Return what is still held at the end of the reply and was no thought after all."""
        return "" if self._over or self._held.startswith(self._OPEN) else self._held


class _Turn:
    """Ends a reply where a chat-control token stands: what comes after it is another turn, made up."""

    def __init__(self) -> None:
        self._held = ""
        self.is_over = False

    def pass_on(self, text: str) -> str:
        """Return what belongs to the reply, once it is certain that no token begins in it."""
        text = self._held + text
        if found := _CONTROL.search(text):
            self._held, self.is_over = "", True
            # Some models begin with the mark of their own turn.
            return text[: found.start()].rstrip() if text[: found.start()].strip() else ""
        kept = len(text) - _begun(text)
        self._held = text[kept:]
        return text[:kept]

    def rest(self) -> str:
        """Return what is still held at the end of the reply and was no token after all."""
        return "" if self.is_over else self._held


def _begun(text: str) -> int:
    """Return how many characters at the end of a text may begin a control token."""
    longest = max(map(len, CONTROL_TOKENS)) - 1
    ends = (text[-length:] for length in range(min(longest, len(text)), 0, -1))
    return next((len(end) for end in ends if any(token.startswith(end) for token in CONTROL_TOKENS)), 0)


class ArrivingReply:
    """The text and the figures of a reply, gathered from its chunks; `asked` is the model asked for it.

    `has_begun` once the model has written anything, thoughts included; `is_over` once nothing more is read.
    """

    def __init__(self, asked: str = "") -> None:
        self.has_begun = False
        self.is_over = False
        self._thoughts = _Thoughts()
        self._turn = _Turn()
        self._room = LONGEST_REPLY
        self._asked = asked
        self._served = ""
        self._finish_reason = ""
        self._problem = ""
        self._usage = _Usage()
        self._text: list[str] = []

    def take(self, chunk: object) -> str:
        """Return the text that a chunk makes certain, often none; raises ValueError for what is no chunk."""
        written = self._note(_Chunk.model_validate(chunk, from_attributes=True))
        self._room -= len(written)
        text = self._turn.pass_on(self._thoughts.pass_on(written[: len(written) + min(self._room, 0)]))
        if self._turn.is_over:
            self._finish_reason, self.is_over = "stop", True
        elif self._room < 0:
            self._finish_reason, self.is_over = "too_long", True
        return self._kept(text)

    def end(self) -> str:
        """Return what was held back until the chunks had ended; raises EOFError where the reply had not."""
        if self.is_over:
            return ""
        if not self._finish_reason:
            raise EOFError
        self.is_over = True
        return self._kept(self._turn.pass_on(self._thoughts.rest()) + self._turn.rest())

    def interrupt(self, problem: str) -> None:
        """Take what has come for all that comes."""
        self._finish_reason, self._problem, self.is_over = "interrupted", problem, True
        self._kept(self._turn.rest())

    def cut(self) -> None:
        """Take what has come for all that is wanted."""
        self._finish_reason, self.is_over = "enough", True

    @property
    def text(self) -> str:
        return "".join(self._text)

    def completion(self, attempts: int) -> Completion:
        # Together says "eos" where the other servers say "stop".
        finish_reason = "stop" if self._finish_reason == "eos" else self._finish_reason
        tokens = self._usage.prompt_tokens, self._usage.completion_tokens
        served = "" if self._served == self._asked else self._served
        return Completion(self.text, finish_reason, *tokens, attempts, self._problem, served)

    def _kept(self, text: str) -> str:
        self._text.append(text)
        return text

    def _note(self, chunk: _Chunk) -> str:
        self._usage = chunk.usage or self._usage
        self._served = self._served or (chunk.model or "")[:LONGEST_SERVED]
        if not chunk.choices:
            return ""
        choice = chunk.choices[0]
        self._finish_reason = choice.finish_reason or self._finish_reason
        if choice.delta is None:
            return ""
        self.has_begun = self.has_begun or choice.delta.has_text
        return choice.delta.content or ""
