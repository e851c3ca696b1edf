"""A reply while it arrives from a server, chunk by chunk."""

import re
from collections.abc import Iterable, Iterator

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
    content: str | None = None


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

    Raises EOFError where the chunks end before the reply, ValueError where one is none.
    """

    def __init__(self, chunks: Iterable[object], asked: str = "") -> None:
        self._texts = self._read(chunks)
        self._turn = _Turn()
        self._asked = asked
        self._served = ""
        self._finish_reason = ""
        self._problem = ""
        self._usage = _Usage()
        self._text: list[str] = []

    def next_text(self) -> str:
        """Return the next piece of text, or "" at the end of the reply."""
        text = next(self._texts, "")
        self._text.append(text)
        return text

    def interrupt(self, problem: str) -> None:
        """Take what has come for all that comes."""
        self._finish_reason, self._problem = "interrupted", problem
        self._text.append(self._turn.rest())

    def completion(self, attempts: int) -> Completion:
        # Together says "eos" where the other servers say "stop".
        finish_reason = "stop" if self._finish_reason == "eos" else self._finish_reason
        tokens = self._usage.prompt_tokens, self._usage.completion_tokens
        served = "" if self._served == self._asked else self._served
        return Completion("".join(self._text), finish_reason, *tokens, attempts, self._problem, served)

    def _read(self, chunks: Iterable[object]) -> Iterator[str]:
        thoughts, turn = _Thoughts(), self._turn
        room = LONGEST_REPLY
        for sent in chunks:
            written = self._note(_Chunk.model_validate(sent, from_attributes=True))
            room -= len(written)
            if text := turn.pass_on(thoughts.pass_on(written[: len(written) + min(room, 0)])):
                yield text
            if turn.is_over:
                self._finish_reason = "stop"
                return
            if room < 0:
                self._finish_reason = "too_long"
                return
        if not self._finish_reason:
            raise EOFError
        if text := turn.pass_on(thoughts.rest()) + turn.rest():
            yield text

    def _note(self, chunk: _Chunk) -> str:
        self._usage = chunk.usage or self._usage
        self._served = self._served or (chunk.model or "")[:LONGEST_SERVED]
        if not chunk.choices:
            return ""
        choice = chunk.choices[0]
        self._finish_reason = choice.finish_reason or self._finish_reason
        return (choice.delta and choice.delta.content) or ""
