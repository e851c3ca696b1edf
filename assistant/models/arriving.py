"""A reply while it arrives from a server, chunk by chunk."""

import re

from pydantic import BaseModel

from assistant.models.protocol import Completion
from assistant.models.thoughts import Thoughts

# Far above any sane answer; a model that does not end is not read for ever.
LONGEST_REPLY = 200_000
# Turn marks of chats: weights that do not know their server's template write them as text.
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
    *("<eos>", "</s>", "<|return|>", "<|call|>"),
)
_CONTROL = re.compile("|".join(map(re.escape, CONTROL_TOKENS)))
# Openings that a model writes ahead of its own turn, with the role at its end and a new line.
_OPENINGS = ("<|im_start|>", "<start_of_turn>", "<|start_header_id|>", "<|assistant|>")
_OWN_TURN = re.compile(
    rf"\s*(?:{'|'.join(map(re.escape, _OPENINGS))})(?:assistant|model)?(?:<\|end_header_id\|>)?"
    r"[^\S\n]*+\n\s*+"
)
LONGEST_OPENING = 60
LONGEST_SERVED = 200


class _Delta(BaseModel):
    """The text of a chunk, or the thoughts that a server sends apart from it."""

    content: str | None = None
    reasoning_content: str | None = None
    reasoning: str | None = None

    @property
    def has_text(self) -> bool:
        return bool(self.content or self.reasoning_content or self.reasoning)


class _Choice(BaseModel):
    delta: _Delta | None = None
    finish_reason: str | None = None


class _PromptDetails(BaseModel):
    cached_tokens: int | None = None


class _Usage(BaseModel):
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    prompt_tokens_details: _PromptDetails | None = None


class _Timings(BaseModel):
    """llama.cpp's timings of a prompt: tokens it knew, tokens it read, and the time for these."""

    cache_n: int | None = None
    prompt_n: int | None = None
    prompt_ms: float | None = None


class _Chunk(BaseModel):
    """The fields read from a chunk; clients pass on whatever the server sent, unchecked."""

    choices: list[_Choice] | None = None
    usage: _Usage | None = None
    timings: _Timings | None = None
    model: str | None = None


class _Turn:
    """Ends a reply where a chat-control token stands: what comes after it is another turn, made up.

    The mark of the model's own turn, with which some models begin, is left out.
    """

    def __init__(self) -> None:
        self._held = ""
        self._has_begun = False
        self.is_over = False

    def pass_on(self, text: str) -> str:
        """Return the text that certainly belongs to the reply, holding back a possible control token."""
        text = self._held + text
        if not self._has_begun:
            if _may_be_opening(text):
                self._held = text
                return ""
            self._has_begun, text = True, _without_own_turn(text)
        if found := _CONTROL.search(text):
            self._held, self.is_over = "", True
            return text[: found.start()].rstrip() if text[: found.start()].strip() else ""
        kept = len(text) - _begun(text)
        self._held = text[kept:]
        return text[:kept]

    def rest(self) -> str:
        """Return the text held back at the end of the reply."""
        if self._has_begun or self.is_over:
            return "" if self.is_over else self._held
        # All of the reply: an opening, with nothing after it.
        return _CONTROL.split(_without_own_turn(self._held), maxsplit=1)[0].rstrip()


def _without_own_turn(text: str) -> str:
    opening = _OWN_TURN.match(text)
    return text[opening.end() :] if opening else text


def _may_be_opening(text: str) -> bool:
    """Return True as long as a text may still become the mark of the model's own turn, and no more."""
    bare = text.lstrip()
    if any(opening.startswith(bare) for opening in _OPENINGS):
        return True
    is_opened = bare.startswith(_OPENINGS)
    return is_opened and len(bare) < LONGEST_OPENING and "\n" not in bare


def _begun(text: str) -> int:
    """Return the length of the text's end that may begin a control token."""
    longest = max(map(len, CONTROL_TOKENS)) - 1
    ends = (text[-length:] for length in range(min(longest, len(text)), 0, -1))
    return next((len(end) for end in ends if any(token.startswith(end) for token in CONTROL_TOKENS)), 0)


class ReplyText:
    """The reply within the text that a model writes: without thoughts and turns of others."""

    def __init__(self, *, begun_in_thoughts: bool = False) -> None:
        self._thoughts = Thoughts(begun=begun_in_thoughts)
        self._turn = _Turn()

    @property
    def is_over(self) -> bool:
        """Whether the model has ended its turn, whatever it goes on to write."""
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
        """Return the reply, without pieces that turned out to be thoughts after they were passed on."""
        turn = _Turn()
        return turn.pass_on(self._thoughts.text) + turn.rest()


class ArrivingReply:
    """The text and the figures of a reply, gathered from its chunks; `asked` is the model asked for it.

    `has_begun` once the model has written anything, thoughts included; `is_over` once nothing more is read.
    What a server sends apart, as a model's reasoning, is not read.
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
        self._usage = _Usage()
        self._timings = _Timings()

    @property
    def begins_in_thoughts(self) -> bool:
        return self._text.begins_in_thoughts

    def take(self, chunk: object) -> str:
        """Return the text that a chunk makes certain, often none; raises ValueError for what is no chunk."""
        written = self._note(_Chunk.model_validate(chunk, from_attributes=True))
        self._room -= len(written)
        text = self._text.pass_on(written[: len(written) + min(self._room, 0)])
        if self._text.is_over:
            self._finish_reason, self.is_over = "stop", True
        elif self._room < 0:
            self._finish_reason, self.is_over = "too_long", True
            self._text.rest(is_whole=False)
        return text

    def end(self) -> str:
        """Return the text held back until the chunks ended; raises EOFError where the reply had not ended."""
        if self.is_over:
            return ""
        if not self._finish_reason:
            raise EOFError
        self.is_over = True
        return self._text.rest(is_whole=self._finish_reason != "length")

    def interrupt(self, problem: str) -> None:
        """Take what has come for all that comes."""
        self._finish_reason, self._problem, self.is_over = "interrupted", problem, True
        self._text.rest(is_whole=False)

    def cut(self) -> None:
        """Take what has come for all that is wanted."""
        self._finish_reason, self.is_over = "enough", True

    @property
    def text(self) -> str:
        return self._text.whole()

    def completion(self, attempts: int) -> Completion:
        # Together says "eos" where the other servers say "stop".
        finish_reason = "stop" if self._finish_reason == "eos" else self._finish_reason
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
        self._finish_reason = choice.finish_reason or self._finish_reason
        if choice.delta is None:
            return ""
        self.has_begun = self.has_begun or choice.delta.has_text
        return choice.delta.content or ""
