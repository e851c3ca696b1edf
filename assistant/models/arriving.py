"""A reply while it arrives from a server, chunk by chunk."""

from collections.abc import Iterable, Iterator

from pydantic import BaseModel

from assistant.models.protocol import Completion

# Far above any sane answer; a model that does not end is not read for ever.
LONGEST_REPLY = 200_000


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


class ArrivingReply:
    """The text and the figures of a reply, gathered from its chunks.

    Raises EOFError where the chunks end before the reply, ValueError where one is none.
    """

    def __init__(self, chunks: Iterable[object]) -> None:
        self._texts = self._read(chunks)
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

    def completion(self, attempts: int) -> Completion:
        # Together says "eos" where the other servers say "stop".
        finish_reason = "stop" if self._finish_reason == "eos" else self._finish_reason
        tokens = self._usage.prompt_tokens, self._usage.completion_tokens
        return Completion("".join(self._text), finish_reason, *tokens, attempts, self._problem)

    def _read(self, chunks: Iterable[object]) -> Iterator[str]:
        thoughts = _Thoughts()
        room = LONGEST_REPLY
        for sent in chunks:
            written = self._note(_Chunk.model_validate(sent, from_attributes=True))
            room -= len(written)
            if text := thoughts.pass_on(written[: len(written) + min(room, 0)]):
                yield text
            if room < 0:
                self._finish_reason = "too_long"
                return
        if not self._finish_reason:
            raise EOFError
        if text := thoughts.rest():
            yield text

    def _note(self, chunk: _Chunk) -> str:
        self._usage = chunk.usage or self._usage
        if not chunk.choices:
            return ""
        choice = chunk.choices[0]
        self._finish_reason = choice.finish_reason or self._finish_reason
        return (choice.delta and choice.delta.content) or ""
