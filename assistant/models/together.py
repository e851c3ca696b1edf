"""Chat models on Together, or on any server that speaks the same protocol (vLLM, Ollama, llama.cpp).

Importing this file loads the SDK, about 0.4 s: `assistant.models.menu.open_model` does so when it is needed.
"""

import asyncio
import json
import math
import re
import weakref
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Generator, Iterator, Mapping, Sequence
from contextlib import aclosing, closing, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

import httpx
import together
from tenacity import AsyncRetrying, RetryCallState, retry_if_exception, wait_exponential_jitter

from assistant.models.arriving import ArrivingReply
from assistant.models.background import awaited, in_background
from assistant.models.protocol import (
    KEPT,
    Completion,
    Enough,
    Exchange,
    ModelError,
    ModelUnavailableError,
    OnPiece,
    Schema,
    whole,
)
from assistant.models.typed import response_schema, typed_reply
from assistant.records import Message, Parameters
from corpus.http import is_busy, retry_after, wait_as_asked

if TYPE_CHECKING:
    from together.types.chat import ChatCompletionChunk, ChatCompletionMessageParam

RETRIES = 2
# Each costs the whole time a server may stay silent.
RETRIES_OF_SILENCE = 1
LONGEST_WAIT_ASKED = 20.0
LONGEST_WAIT = 4.0
LONGEST_CONNECT = 10.0
DETAIL_LENGTH = 200
EVENT_STREAM = "text/event-stream"
# A return at the end may be the first half of the next part's.
_LINE_END = re.compile(rb"\r\n|\n|\r(?!\Z)")


@dataclass(frozen=True, slots=True)
class Patience:
    """The time a server may stay silent, in seconds: before the first token, and between two."""

    first: float = 60.0
    between: float = 60.0


# A reply, its texts to come, and the first of them.
_Begun = tuple[ArrivingReply, AsyncGenerator[str, None], str]


class _SilentError(ModelUnavailableError):
    """Nothing came for as long as a server may stay silent."""


class TogetherModel:
    """A model reached through the Together SDK; without `base_url` the hosted service is asked.

    `first_wait` is the wait before the first retry, in seconds. `structured`: the server holds the model to
    a schema when asked to.
    """

    def __init__(  # how it is reached, by name
        self,
        model: str,
        label: str,
        *,
        api_key: str,
        base_url: str = "",
        patience: Patience = Patience(),
        first_wait: float = 0.5,
        structured: bool = False,
    ) -> None:
        self.id = model
        self.label = label
        self._structured = structured
        # Learned from replies whose thoughts have an end and no beginning.
        self._begins_in_thoughts = False
        self._hosted = not base_url
        self._patience = patience
        self._key = api_key.strip()
        self._back_off = wait_exponential_jitter(multiplier=first_wait, max=LONGEST_WAIT, jitter=first_wait)
        self._key_name = "TOGETHER_API_KEY" if self._hosted else "PAPER_TRAIL_MODEL_API_KEY"
        if not (self._key.isascii() and self._key.isprintable()):
            raise ModelError(
                "The API key holds characters that no key has.", setup=f"Check {self._key_name}."
            )
        try:
            self._server = f"The model server at {_host(base_url) if base_url else 'Together'}"
            client = self._client = self._open_client(base_url)
            # Models are kept open between questions, and dropped without a word when there are too many.
            self.close = weakref.finalize(self, lambda: in_background(client.close()))
        except httpx.InvalidURL:
            raise ModelError(
                "The model server's address is not valid.", setup="Check PAPER_TRAIL_MODEL_URL."
            ) from None

    def _open_client(self, base_url: str) -> together.AsyncTogether:
        return together.AsyncTogether(
            api_key=self._key or "none",
            # The SDK adds "/v1" itself; other clients expect it in the address, so users give it.
            base_url=base_url.rstrip("/").removesuffix("/v1") or None,
            # Only how long it takes to be reached: its silence is measured from token to token.
            timeout=httpx.Timeout(None, connect=min(self._patience.first, LONGEST_CONNECT)),
            max_retries=0,
        )

    def stream(
        self, messages: Sequence[Message], parameters: Parameters, enough: Enough | None = None
    ) -> Generator[str, None, Completion]:
        """Yield the reply in pieces as they arrive, then return it whole; raises ModelError.

        Tried again only before the first piece, so that no text is ever written twice; a reply that ends
        after it is returned as far as it came.
        """
        return self._stream(messages, parameters, {}, enough)

    def reply(
        self,
        messages: Sequence[Message],
        parameters: Parameters,
        schema: type[Schema],
        on_exchange: Callable[[Exchange], None] | None = None,
        on_piece: OnPiece | None = None,
    ) -> Schema:
        """Return the reply read into `schema`; raises BadReplyError after two that do not fit, ModelError."""
        form = {"type": "json_schema", "json_schema": response_schema(schema)}
        extra = {"response_format": form} if self._structured else {}
        return typed_reply(
            lambda sent: whole(self._stream(sent, parameters, extra), on_piece),
            messages,
            schema,
            label=self.label,
            in_words=not self._structured,
            on_exchange=on_exchange,
        )

    def _stream(
        self,
        messages: Sequence[Message],
        parameters: Parameters,
        extra: Mapping[str, object],
        enough: Enough | None = None,
    ) -> Generator[str, None, Completion]:
        with closing(awaited(self._pieces(messages, parameters, extra, enough))) as pieces:
            for piece in pieces:
                if isinstance(piece, Completion):
                    return piece
                yield piece or ""
        raise ModelError(f"{self._server} sent nothing.", KEPT)

    async def _pieces(
        self,
        messages: Sequence[Message],
        parameters: Parameters,
        extra: Mapping[str, object],
        enough: Enough | None,
    ) -> AsyncGenerator[str | Completion, None]:
        """Yield the reply in pieces, and at last whole; tried again until the first piece has come."""
        retrying = self._retrying()
        begun: _Begun = await retrying(self._begin, messages, parameters, extra)
        reply, texts, text = begun
        async with aclosing(texts):
            while text:
                yield text
                if enough and enough(reply.text):
                    reply.cut()
                    break
                try:
                    text = await anext(texts, "")
                except ModelError as error:
                    reply.interrupt(error.fault)
                    break
        # A reply held to a schema may be made to begin with it.
        self._begins_in_thoughts = reply.begins_in_thoughts or (bool(extra) and self._begins_in_thoughts)
        yield reply.completion(retrying.statistics["attempt_number"])

    async def _begin(
        self, messages: Sequence[Message], parameters: Parameters, extra: Mapping[str, object]
    ) -> "_Begun":
        reply = ArrivingReply(self.id, begun_in_thoughts=self._begins_in_thoughts and not extra)
        texts = self._texts(reply, self._chunks(messages, parameters, extra))
        return reply, texts, await anext(texts, "")

    async def _texts(
        self, reply: ArrivingReply, chunks: AsyncGenerator[object, None]
    ) -> AsyncGenerator[str, None]:
        """Yield the text of a reply as its chunks arrive; raises ModelError."""
        clock = asyncio.get_running_loop().time
        deadline = clock() + self._patience.first
        async with aclosing(chunks):
            while not reply.is_over:
                with self._errors_translated(begun=reply.has_begun):
                    async with asyncio.timeout_at(deadline):
                        chunk = await anext(chunks, None)
                    text = reply.end() if chunk is None else reply.take(chunk)
                if reply.has_begun:
                    deadline = clock() + self._patience.between
                if text:
                    yield text

    async def _chunks(
        self, messages: Sequence[Message], parameters: Parameters, extra: Mapping[str, object]
    ) -> AsyncGenerator[object, None]:
        stream = await self._send(messages, parameters, extra)
        try:
            async with aclosing(_read_chunks(stream)) as chunks:
                async for chunk in chunks:
                    yield chunk
        finally:
            await stream.close()

    async def _send(
        self, messages: Sequence[Message], parameters: Parameters, extra: Mapping[str, object]
    ) -> "together.AsyncStream[ChatCompletionChunk]":
        stream = await self._client.chat.completions.create(
            model=self.id,
            messages=[
                cast("ChatCompletionMessageParam", {"role": message.role, "content": message.content})
                for message in messages
            ],
            temperature=parameters.temperature,
            top_p=parameters.top_p,
            max_tokens=parameters.max_tokens,
            stream=True,
            extra_body={"stream_options": {"include_usage": True}, **self._chosen(parameters), **extra},
        )
        if EVENT_STREAM not in stream.response.headers.get("content-type", EVENT_STREAM):
            await stream.close()
            raise ValueError("no event stream")
        return stream

    def _chosen(self, parameters: Parameters) -> dict[str, Any]:
        """Return the parameters that not every server knows, where they are set.

        A server of one's own may know the penalty by another name (llama.cpp, Ollama).
        """
        penalty = parameters.repetition_penalty
        chosen = {"top_k": parameters.top_k, "repetition_penalty": penalty}
        chosen |= {} if self._hosted else {"repeat_penalty": penalty}
        return {name: value for name, value in chosen.items() if value is not None}

    def _retrying(self) -> AsyncRetrying:
        return AsyncRetrying(
            stop=_is_tried_enough,
            retry=retry_if_exception(_is_worth_retrying),
            wait=wait_as_asked(self._back_off, LONGEST_WAIT_ASKED),
            reraise=True,
        )

    @contextmanager
    def _errors_translated(self, *, begun: bool) -> Iterator[None]:
        try:
            yield
        except (together.TogetherError, httpx.HTTPError, EOFError, TimeoutError, ValueError) as error:
            # Without the cause: it holds the request, and with it the key.
            raise self._translated(error, begun) from None

    def _translated(self, error: Exception, begun: bool) -> ModelError:
        match error:
            case together.APIStatusError():
                return self._status_error(error)
            case TimeoutError():
                return self._silence(begun)
            case together.APIConnectionError() | httpx.TransportError() | EOFError():
                return self._connection_error(error, begun)
            case together.APIError():
                detail = self._detail(error.body)
                return ModelError(f"{self._server} gave up on the answer: {detail}.", KEPT)
            case _:
                return ModelError(f"{self._server} sent something that is no chat reply.", KEPT)

    def _status_error(self, error: together.APIStatusError) -> ModelError:
        status = error.status_code
        if status in (401, 403):
            return ModelError(
                f"{self._server} refused the API key (HTTP {status}).",
                "Your question is kept.",
                setup=f"Check {self._key_name}.",
            )
        if status == 404:
            return ModelError(
                f"{self._server} knows no model {self.id!r} (HTTP 404). Choose another writer.",
                "Your question is kept.",
                setup="Or check the id in the models file and PAPER_TRAIL_MODEL_URL.",
            )
        if is_busy(status):
            return self._busy(status, retry_after(error.response.headers))
        detail = self._detail(error.body)
        return ModelError(f"{self._server} did not take the request (HTTP {status}): {detail}.", KEPT)

    def _busy(self, status: int, retry_after: float | None) -> ModelUnavailableError:
        problem = "limits how often it is asked" if status == 429 else "failed"
        wish = "" if retry_after is None else f" and asks to wait {math.ceil(retry_after)} s"
        return ModelUnavailableError(f"{self._server} {problem} (HTTP {status}){wish}.", KEPT, retry_after)

    def _connection_error(self, error: Exception, begun: bool) -> ModelError:
        reason = error.__cause__ if isinstance(error, together.APIConnectionError) else error
        match reason:
            case httpx.ConnectError() | httpx.ConnectTimeout() | httpx.UnsupportedProtocol():
                return self._unreachable()
            case _:
                part = "in the middle of its answer" if begun else "without an answer"
                return ModelUnavailableError(f"{self._server} ended the connection {part}.")

    def _silence(self, begun: bool) -> ModelUnavailableError:
        if begun:
            return _SilentError(
                f"{self._server} stopped in the middle of its answer: nothing came for"
                f" {self._patience.between:g} s.",
                setup="PAPER_TRAIL_MODEL_SILENCE says how long it may be silent.",
            )
        return _SilentError(
            f"{self._server} did not begin to answer within {self._patience.first:g} s, asked twice.",
            setup="A longer PAPER_TRAIL_MODEL_TIMEOUT lets a slow one read for longer.",
        )

    def _unreachable(self) -> ModelUnavailableError:
        check = "the network" if self._hosted else "that it runs and that PAPER_TRAIL_MODEL_URL is right"
        return ModelUnavailableError(f"{self._server} cannot be reached.", setup=f"Check {check}.")

    def _detail(self, body: object) -> str:
        """Return the server's own words, shortened and without the key, which some servers repeat."""
        while isinstance(body, Mapping):
            body = next((body[key] for key in ("error", "message", "detail") if body.get(key)), "")
        words = " ".join(str(body).split()).replace(self._key or "\n", "[key]")
        return words[:DETAIL_LENGTH].rstrip(". ") or "no reason given"


def _host(url: str) -> str:
    """Return the host an address names, without a password in it; raises httpx.InvalidURL."""
    parsed = httpx.URL(url)
    if parsed.scheme not in ("http", "https") or not parsed.host:
        raise httpx.InvalidURL("It names no server.")
    return parsed.netloc.decode()


async def _read_chunks(
    stream: "together.AsyncStream[ChatCompletionChunk]",
) -> AsyncGenerator[object, None]:
    """Yield the chunks of a stream, read to its very end.

    The SDK's own iteration ends at the last chunk and drops the connection with what is unread; the next
    question would pay for a new one.
    """
    is_done = False
    try:
        async for data in _events(stream.response.aiter_bytes()):
            is_done = is_done or data.startswith(b"[DONE]")
            if not is_done:
                yield _chunk(json.loads(data), stream)
    except httpx.HTTPError:
        if not is_done:
            raise


async def _events(parts: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    """Yield the data of each event of a stream; one that is not ended is not whole."""
    data: list[bytes] = []
    async for line in _lines(parts):
        name, _, value = line.partition(b":")
        if name == b"data":
            data.append(value.removeprefix(b" "))
        elif not line and data:
            yield b"\n".join(data)
            data = []


async def _lines(parts: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    """Yield the lines of a stream; only these three ends count, for others may stand in a text."""
    rest = b""
    async for part in parts:
        *lines, rest = _LINE_END.split(rest + part)
        for line in lines:
            yield line


def _chunk(data: object, stream: "together.AsyncStream[ChatCompletionChunk]") -> object:
    if isinstance(data, Mapping) and data.get("error"):
        raise together.APIError("the server reports an error", stream.response.request, body=data["error"])
    return data


def _is_tried_enough(state: RetryCallState) -> bool:
    is_silent = state.outcome is not None and isinstance(state.outcome.exception(), _SilentError)
    return state.attempt_number > (RETRIES_OF_SILENCE if is_silent else RETRIES)


def _is_worth_retrying(error: BaseException) -> bool:
    return isinstance(error, ModelUnavailableError) and (error.retry_after or 0.0) <= LONGEST_WAIT_ASKED
