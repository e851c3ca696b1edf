"""Chat models on Together, or on any server that speaks the same protocol (vLLM, Ollama, llama.cpp).

Importing this file loads the SDK, about 0.4 s: `assistant.models.menu.open_model` does so when it is needed.
"""

import math
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, cast

import httpx
import together
from pydantic import BaseModel
from tenacity import RetryCallState, Retrying, retry_if_exception, stop_after_attempt, wait_exponential_jitter

from assistant.models.protocol import Completion, ModelError, ModelUnavailableError
from assistant.records import Message, Parameters

if TYPE_CHECKING:
    from together.types.chat import ChatCompletionChunk, ChatCompletionMessageParam

RETRIES = 2
LONGEST_WAIT_ASKED = 20.0
LONGEST_WAIT = 4.0
LONGEST_CONNECT = 10.0
DETAIL_LENGTH = 200
KEPT = "Your question is kept; retry or choose another writer."


class _Delta(BaseModel):
    content: str | None = None


class _Choice(BaseModel):
    delta: _Delta | None = None
    finish_reason: str | None = None


class _Usage(BaseModel):
    prompt_tokens: int | None = None
    completion_tokens: int | None = None


class _Chunk(BaseModel):
    """What is read of a chunk; the SDK hands through whatever the server sent, unchecked."""

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


class _Reply:
    """A reply while it arrives."""

    def __init__(self, stream: "together.Stream[ChatCompletionChunk]") -> None:
        self._stream = stream
        self._texts = self._read()
        self._finish_reason = ""
        self._usage = _Usage()
        self.text = ""

    def next_text(self) -> str:
        """Return the next piece of text, or "" at the end of a complete reply."""
        text = next(self._texts, "")
        self.text += text
        return text

    def _read(self) -> Iterator[str]:
        thoughts = _Thoughts()
        with self._stream:
            for sent in self._stream:
                if text := thoughts.pass_on(self._note(_Chunk.model_validate(sent, from_attributes=True))):
                    yield text
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

    def completion(self) -> Completion:
        # Together says "eos" where the other servers say "stop".
        finish_reason = "stop" if self._finish_reason == "eos" else self._finish_reason
        return Completion(self.text, finish_reason, self._usage.prompt_tokens, self._usage.completion_tokens)

    def close(self) -> None:
        self._stream.close()


class TogetherModel:
    """A model reached through the Together SDK; without `base_url` the hosted service is asked.

    `timeout` (seconds) is how long the server may stay silent, before its answer and in it. `first_wait` is
    the wait before the first retry.
    """

    def __init__(
        self,
        model: str,
        label: str,
        *,
        api_key: str,
        base_url: str = "",
        timeout: float = 60.0,
        first_wait: float = 0.5,
    ) -> None:
        self.id = model
        self.label = label
        self._hosted = not base_url
        self._timeout = timeout
        self._key = api_key.strip()
        self._back_off = wait_exponential_jitter(multiplier=first_wait, max=LONGEST_WAIT, jitter=first_wait)
        self._key_name = "TOGETHER_API_KEY" if self._hosted else "PAPER_TRAIL_MODEL_API_KEY"
        if not (self._key.isascii() and self._key.isprintable()):
            raise ModelError(f"The API key holds characters that no key has. Check {self._key_name}.")
        try:
            self._server = f"The model server at {httpx.URL(base_url).netloc.decode() or 'Together'}"
            self._client = self._open_client(base_url)
        except httpx.InvalidURL:
            raise ModelError(
                "The model server's address is not valid. Check PAPER_TRAIL_MODEL_URL."
            ) from None

    def _open_client(self, base_url: str) -> together.Together:
        return together.Together(
            api_key=self._key or "none",
            # The SDK adds "/v1" itself; other clients expect it in the address, so users give it.
            base_url=base_url.rstrip("/").removesuffix("/v1") or None,
            timeout=httpx.Timeout(self._timeout, connect=min(self._timeout, LONGEST_CONNECT)),
            max_retries=0,
        )

    def close(self) -> None:
        self._client.close()

    def stream(self, messages: Sequence[Message], parameters: Parameters) -> Generator[str, None, Completion]:
        """Yield the reply in pieces as they arrive, then return it whole; raises ModelError.

        Tried again only before the first piece, so that no text is ever written twice.
        """
        reply, text = self._retrying()(self._begin, messages, parameters)
        try:
            while text:
                yield text
                text = self._continue(reply)
        finally:
            reply.close()
        return reply.completion()

    def _begin(self, messages: Sequence[Message], parameters: Parameters) -> tuple[_Reply, str]:
        with self._errors_translated(begun=False):
            reply = _Reply(self._send(messages, parameters))
            return reply, reply.next_text()

    def _continue(self, reply: _Reply) -> str:
        with self._errors_translated(begun=True):
            return reply.next_text()

    def _send(
        self, messages: Sequence[Message], parameters: Parameters
    ) -> "together.Stream[ChatCompletionChunk]":
        return self._client.chat.completions.create(
            model=self.id,
            messages=[
                cast("ChatCompletionMessageParam", {"role": message.role, "content": message.content})
                for message in messages
            ],
            temperature=parameters.temperature,
            top_p=parameters.top_p,
            max_tokens=parameters.max_tokens,
            stream=True,
            extra_body={"stream_options": {"include_usage": True}},
        )

    def _retrying(self) -> Retrying:
        return Retrying(
            stop=stop_after_attempt(1 + RETRIES),
            retry=retry_if_exception(_is_worth_retrying),
            wait=self._wait,
            reraise=True,
        )

    def _wait(self, state: RetryCallState) -> float:
        error = state.outcome and state.outcome.exception()
        asked = error.retry_after if isinstance(error, ModelUnavailableError) else None
        return max(asked or 0.0, self._back_off(state))

    @contextmanager
    def _errors_translated(self, *, begun: bool) -> Iterator[None]:
        try:
            yield
        except (together.TogetherError, httpx.HTTPError, EOFError, ValueError) as error:
            # Without the cause: it holds the request, and with it the key.
            raise self._translated(error, begun) from None

    def _translated(self, error: Exception, begun: bool) -> ModelError:
        match error:
            case together.APIStatusError():
                return self._status_error(error)
            case together.APIConnectionError() | httpx.TransportError() | EOFError():
                return self._connection_error(error, begun)
            case together.APIError():
                detail = self._detail(error.body)
                return ModelError(f"{self._server} gave up on the answer: {detail}. {KEPT}")
            case _:
                return ModelError(f"{self._server} sent something that is no chat reply. {KEPT}")

    def _status_error(self, error: together.APIStatusError) -> ModelError:
        status = error.status_code
        if status in (401, 403):
            return ModelError(
                f"{self._server} refused the API key (HTTP {status}). Check {self._key_name};"
                " your question is kept."
            )
        if status == 404:
            return ModelError(
                f"{self._server} knows no model {self.id!r} (HTTP 404). Choose another writer, or check the"
                " id in the models file and PAPER_TRAIL_MODEL_URL; your question is kept."
            )
        if status == 429 or status >= 500:
            return self._busy(status, _retry_after(error.response.headers))
        detail = self._detail(error.body)
        return ModelError(f"{self._server} did not take the request (HTTP {status}): {detail}. {KEPT}")

    def _busy(self, status: int, retry_after: float | None) -> ModelUnavailableError:
        problem = "limits how often it is asked" if status == 429 else "failed"
        wish = "" if retry_after is None else f" and asks to wait {math.ceil(retry_after)} s"
        return ModelUnavailableError(f"{self._server} {problem} (HTTP {status}){wish}. {KEPT}", retry_after)

    def _connection_error(self, error: Exception, begun: bool) -> ModelError:
        reason = error.__cause__ if isinstance(error, together.APIConnectionError) else error
        when = "stopped in the middle of its answer: nothing came for" if begun else "did not answer within"
        match reason:
            case httpx.ConnectError() | httpx.ConnectTimeout() | httpx.UnsupportedProtocol():
                return self._unreachable()
            case httpx.TimeoutException():
                return ModelError(f"{self._server} {when} {self._timeout:g} s. {KEPT}")
            case _:
                part = "in the middle of its answer" if begun else "without an answer"
                return ModelUnavailableError(f"{self._server} ended the connection {part}. {KEPT}")

    def _unreachable(self) -> ModelUnavailableError:
        check = "the network" if self._hosted else "that it runs and that PAPER_TRAIL_MODEL_URL is right"
        return ModelUnavailableError(f"{self._server} cannot be reached. Check {check}. {KEPT}")

    def _detail(self, body: object) -> str:
        """Return the server's own words, shortened and without the key, which some servers repeat."""
        while isinstance(body, Mapping):
            body = next((body[key] for key in ("error", "message", "detail") if body.get(key)), "")
        words = " ".join(str(body).split()).replace(self._key or "\n", "[key]")
        return words[:DETAIL_LENGTH].rstrip(". ") or "no reason given"


def _is_worth_retrying(error: BaseException) -> bool:
    return isinstance(error, ModelUnavailableError) and (error.retry_after or 0.0) <= LONGEST_WAIT_ASKED


def _retry_after(headers: Mapping[str, str]) -> float | None:
    """Return the seconds asked for in a Retry-After header, given there as seconds or as a date."""
    value = headers.get("retry-after", "")
    try:
        seconds = float(value)
    except ValueError:
        seconds = _seconds_until(value)
    return max(seconds, 0.0) if math.isfinite(seconds) else None


def _seconds_until(date: str) -> float:
    try:
        moment = parsedate_to_datetime(date)
    except ValueError:
        return math.nan
    return (moment.replace(tzinfo=moment.tzinfo or UTC) - datetime.now(UTC)).total_seconds()
