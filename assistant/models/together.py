"""Chat models on Together, or on any server that speaks the same protocol (vLLM, Ollama, llama.cpp).

Importing this file loads the SDK, about 0.4 s: `assistant.models.menu.open_model` does so when it is needed.
"""

import asyncio
import math
import re
import weakref
from collections.abc import AsyncGenerator, Callable, Generator, Iterator, Mapping, Sequence
from contextlib import aclosing, closing, contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, cast

import httpx
import together
from tenacity import AsyncRetrying, RetryCallState, retry_if_exception, wait_exponential_jitter

from assistant.models.arriving import ArrivingReply
from assistant.models.background import awaited, in_background
from assistant.models.events import ReportedError, read_chunks
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
from assistant.models.request import (
    SCHEMA,
    SYSTEM,
    RequestForm,
    error_words,
    is_of_prompt,
    names_field,
)
from assistant.models.typed import response_schema, typed_reply
from assistant.records import Message, Parameters
from corpus.http import is_busy, retry_after, wait_as_asked

if TYPE_CHECKING:
    from together.types.chat import ChatCompletionChunk, ChatCompletionMessageParam

RETRIES = 2
# Each costs the whole time that a server may be silent.
RETRIES_OF_SILENCE = 1
LONGEST_WAIT_ASKED = 20.0
LONGEST_WAIT = 4.0
LONGEST_CONNECT = 10.0
# Refused fields in one call; after more, the refusal is raised.
MOST_REFUSALS = 6
# Seconds in which token counts may follow a reply that has ended.
LONGEST_AFTER_END = 2.0
DETAIL_LENGTH = 200
EVENT_STREAM = "text/event-stream"
_LOADING = re.compile(
    r"\b(?:loading|warming|warm-?up|initiali[sz]ing|downloading|starting|booting|cold[ -]?start|spinning up"
    r"|waking up|being (?:loaded|started))\b"
    r"|\bnot (?:yet |been |fully ){0,3}(?:ready|loaded|started|available yet)\b|\bnot yet available\b",
    re.IGNORECASE,
)
_FAILED = re.compile(
    r"\berror (?:while )?(?:loading|starting)|\b(?:fail\w*|unable|cannot|could not|can['’]t)\b", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Patience:
    """The time that a server may be silent, in seconds: before the first token, and between two."""

    first: float = 60.0
    between: float = 60.0


# A reply, the iterator of its texts, and the first text.
_Begun = tuple[ArrivingReply, AsyncGenerator[str, None], str]


class _SilentError(ModelUnavailableError):
    """The server was silent for too long."""


class _LoadingError(ModelUnavailableError):
    """The server reports that its model is still being loaded."""


class _RefusedError(ModelError):
    """The server rejects the request; `words` are those of its error."""

    def __init__(self, fault: str, words: str) -> None:
        super().__init__(fault, KEPT)
        self.words = words


class _SchemaRefusedError(ModelError):
    """The server does not enforce schemas."""


@dataclass(slots=True)
class _Asked:
    """One call: its request, the form of that, and the numbers of refusals and of waits for a model."""

    messages: Sequence[Message]
    parameters: Parameters
    extra: Mapping[str, object]
    form: RequestForm
    refusals: int = 0
    loads: int = 0
    is_of_prompt: bool = False


class TogetherModel:
    """A model reached through the Together SDK, by default at the hosted service.

    `first_wait` is the wait before the first retry, in seconds. `structured`: the server enforces a schema on
    request. `hosted_key` is the setting of the key of a hosted service, which messages name; ""
    for a server of the user's own.
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
        hosted_key: str = "",
    ) -> None:
        self.id = model
        self.label = label
        self._structured = structured
        # Learned from refusals: the request without refused fields.
        self._form = RequestForm()
        # Learned from replies whose thoughts have an end mark only.
        self._begins_in_thoughts = False
        hosted_key = hosted_key or ("" if base_url else "TOGETHER_API_KEY")
        self._hosted = bool(hosted_key)
        self._patience = patience
        self._key = api_key.strip()
        self._back_off = wait_exponential_jitter(multiplier=first_wait, max=LONGEST_WAIT, jitter=first_wait)
        self._key_name = hosted_key or "PAPER_TRAIL_MODEL_API_KEY"
        if not (self._key.isascii() and self._key.isprintable()):
            raise ModelError(
                "The API key holds characters that no key has.", setup=f"Check {self._key_name}."
            )
        try:
            self._server = f"The model server at {_host(base_url) if base_url else 'Together'}"
            client = self._client = together.AsyncTogether(
                api_key=self._key or "none",
                # The SDK adds "/v1" itself; other clients expect it in the address, so users give it.
                base_url=base_url.rstrip("/").removesuffix("/v1") or None,
                # Only how long it takes to be reached: its silence is measured from token to token.
                timeout=httpx.Timeout(None, connect=min(self._patience.first, LONGEST_CONNECT)),
                max_retries=0,
            )
            # Models are cached, and dropped without notice when there are too many.
            self.close = weakref.finalize(self, lambda: in_background(client.close()))
        except httpx.InvalidURL:
            raise ModelError(
                "The model server's address is not valid.", setup="Check PAPER_TRAIL_MODEL_URL."
            ) from None

    def stream(
        self, messages: Sequence[Message], parameters: Parameters, enough: Enough | None = None
    ) -> Generator[str, None, Completion]:
        """Yield the reply in pieces as they arrive, then return it; raises ModelError.

        Retried only before the first piece, so that no text is repeated; an interrupted reply is returned as
        far as it came.
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
        """Return the reply parsed as `schema`; raises BadReplyError if two do not fit, and ModelError."""
        try:
            return self._typed(messages, parameters, schema, on_exchange, on_piece)
        except _SchemaRefusedError:
            return self._typed(messages, parameters, schema, on_exchange, on_piece)

    def _typed(
        self,
        messages: Sequence[Message],
        parameters: Parameters,
        schema: type[Schema],
        on_exchange: Callable[[Exchange], None] | None,
        on_piece: OnPiece | None,
    ) -> Schema:
        is_held = self._structured and self._form.takes(SCHEMA)
        form = {"type": "json_schema", "json_schema": response_schema(schema)}
        extra = {SCHEMA: form} if is_held else {}
        return typed_reply(
            lambda sent: whole(self._stream(sent, parameters, extra), on_piece),
            messages,
            schema,
            label=self.label,
            in_words=not is_held,
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
        """Yield the pieces of the reply, and last its Completion; retried until the first piece has come."""
        asked = _Asked(messages, parameters, extra, self._form)
        retrying = self._retrying(asked)
        begun: _Begun = await retrying(self._begin, asked)
        reply, texts, text = begun
        if not asked.is_of_prompt:
            self._form = self._form.without(asked.form.left_out)
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
        # A schema may force a reply to begin without thoughts.
        self._begins_in_thoughts = reply.begins_in_thoughts or (bool(extra) and self._begins_in_thoughts)
        completion = reply.completion(retrying.statistics["attempt_number"] + asked.refusals)
        yield replace(completion, not_taken=tuple(sorted(asked.form.left_out)))

    async def _begin(self, asked: _Asked) -> "_Begun":
        """Return a reply that has begun, requested without the fields that the server refuses."""
        while True:
            begun_in_thoughts = self._begins_in_thoughts and not asked.extra
            reply = ArrivingReply(self.id, begun_in_thoughts=begun_in_thoughts)
            texts = self._texts(reply, self._chunks(asked))
            try:
                return reply, texts, await anext(texts, "")
            except _LoadingError:
                asked.loads += 1
                raise
            except _RefusedError as refusal:
                self._leave_out(asked, refusal)

    def _leave_out(self, asked: _Asked, refusal: _RefusedError) -> None:
        """Remove the refused field from a call; raises the refusal if it is not clear which that is."""
        sent = asked.form.fields(asked.parameters, asked.extra, hosted=self._hosted)
        has_system = asked.form.takes(SYSTEM) and any(message.role == "system" for message in asked.messages)
        names = [name for name, value in sent.items() if value is not False]
        refused = asked.form.refused(refusal.words, [*names, SYSTEM] if has_system else names)
        if not refused or asked.refusals >= MOST_REFUSALS:
            raise refusal
        asked.refusals += 1
        asked.is_of_prompt = asked.is_of_prompt or is_of_prompt(refusal.words)
        asked.form = asked.form.without(refused)
        if SCHEMA in refused:
            # The schema has to be written into the prompt instead.
            self._form = asked.form
            raise _SchemaRefusedError(refusal.fault, KEPT)

    async def _texts(
        self, reply: ArrivingReply, chunks: AsyncGenerator[object, None]
    ) -> AsyncGenerator[str, None]:
        """Yield the text of a reply as its chunks arrive; raises ModelError unless the reply has ended."""
        clock = asyncio.get_running_loop().time
        deadline = clock() + self._patience.first
        async with aclosing(chunks):
            while not reply.is_over:
                try:
                    with self._errors_translated(begun=reply.has_begun):
                        async with asyncio.timeout_at(deadline):
                            chunk = await anext(chunks, None)
                        text = reply.end() if chunk is None else reply.take(chunk)
                except ModelError:
                    if not reply.has_ended:
                        raise
                    text = reply.end()
                if reply.has_ended:
                    deadline = clock() + min(self._patience.between, LONGEST_AFTER_END)
                elif reply.has_begun:
                    deadline = clock() + self._patience.between
                if text:
                    yield text

    async def _chunks(self, asked: _Asked) -> AsyncGenerator[object, None]:
        stream = await self._send(asked)
        kind = stream.response.headers.get("content-type", EVENT_STREAM).lower()
        is_empty = True
        try:
            if "html" in kind:
                raise ValueError("a page")
            async with aclosing(read_chunks(stream.response.aiter_bytes())) as chunks:
                async for chunk in chunks:
                    is_empty = False
                    yield chunk
            if is_empty and EVENT_STREAM not in kind:
                raise ValueError("no chunks")
        finally:
            await stream.close()

    async def _send(self, asked: _Asked) -> "together.AsyncStream[ChatCompletionChunk]":
        return await self._client.chat.completions.create(
            model=self.id,
            messages=[
                cast("ChatCompletionMessageParam", {"role": message.role, "content": message.content})
                for message in asked.form.messages(asked.messages)
            ],
            stream=True,
            extra_body=asked.form.fields(asked.parameters, asked.extra, hosted=self._hosted),
        )

    def _retrying(self, asked: _Asked) -> AsyncRetrying:
        def is_tried_enough(state: RetryCallState) -> bool:
            error = state.outcome.exception() if state.outcome else None
            if isinstance(error, _LoadingError):
                return (state.seconds_since_start or 0.0) >= self._patience.first
            retries = RETRIES_OF_SILENCE if isinstance(error, _SilentError) else RETRIES
            return state.attempt_number - asked.loads > retries

        return AsyncRetrying(
            stop=is_tried_enough,
            retry=retry_if_exception(_is_worth_retrying),
            wait=wait_as_asked(self._back_off, LONGEST_WAIT_ASKED),
            reraise=True,
        )

    @contextmanager
    def _errors_translated(self, *, begun: bool) -> Iterator[None]:
        try:
            yield
        except (
            together.TogetherError,
            httpx.HTTPError,
            ReportedError,
            EOFError,
            TimeoutError,
            ValueError,
        ) as error:
            # The cause would contain the request with the key.
            raise self._translated(error, begun) from None

    def _translated(self, error: Exception, begun: bool) -> ModelError:
        match error:
            case together.APIStatusError():
                return self._status_error(error)
            case TimeoutError():
                return self._silence(begun)
            case together.APIConnectionError() | httpx.TransportError() | EOFError():
                return self._connection_error(error, begun)
            case ReportedError() if not begun and _is_loading(error_words(error.body)):
                return self._loading("", self._detail(error.body))
            case ReportedError():
                fault = (
                    f"{self._server} gave up on the answer: {self._detail(error.body) or 'no reason given'}."
                )
                return _RefusedError(fault, error_words(error.body))
            case _:
                return ModelError(f"{self._server} sent something that is no chat reply.", KEPT)

    def _status_error(self, error: together.APIStatusError) -> ModelError:
        status, words = error.status_code, error_words(error.body)
        if status in (401, 403):
            return ModelError(
                f"{self._server} refused the API key (HTTP {status}).",
                "Your question is kept.",
                setup=f"Check {self._key_name}.",
            )
        if status == 404 and not names_field(words):
            return ModelError(
                f"{self._server} knows no model {self.id!r} (HTTP 404). Choose another writer.",
                "Your question is kept.",
                setup="Or check the id in the models file and PAPER_TRAIL_MODEL_URL.",
            )
        # Some servers fail on a field that they do not take (llama.cpp on the system's role).
        if is_busy(status) and not (status in (500, 501) and names_field(words)):
            return self._busy(error, words)
        detail = self._detail(error.body) or "no reason given"
        return _RefusedError(f"{self._server} did not take the request (HTTP {status}): {detail}.", words)

    def _busy(self, error: together.APIStatusError, words: str) -> ModelUnavailableError:
        status, detail = error.status_code, self._detail(error.body)
        if status != 429 and _is_loading(words):
            return self._loading(f" (HTTP {status})", detail)
        detail = f": {detail}" if detail else ""
        wait = retry_after(error.response.headers)
        problem = "limits how often it is asked" if status == 429 else "failed"
        wish = "" if wait is None else f" and asks to wait {math.ceil(wait)} s"
        return ModelUnavailableError(f"{self._server} {problem} (HTTP {status}){wish}{detail}.", KEPT, wait)

    def _loading(self, status: str, detail: str) -> _LoadingError:
        return _LoadingError(
            f"{self._server} is still loading its model{status}{f': {detail}' if detail else ''}.",
            setup="A longer PAPER_TRAIL_MODEL_TIMEOUT waits longer for it.",
        )

    def _connection_error(self, error: Exception, begun: bool) -> ModelError:
        reason = error.__cause__ if isinstance(error, together.APIConnectionError) else error
        match reason:
            case httpx.ConnectError() | httpx.ConnectTimeout() | httpx.UnsupportedProtocol():
                check = (
                    "the network" if self._hosted else "that it runs and that PAPER_TRAIL_MODEL_URL is right"
                )
                return ModelUnavailableError(f"{self._server} cannot be reached.", setup=f"Check {check}.")
            case _:
                part = "in the middle of its answer" if begun else "without an answer"
                return ModelUnavailableError(f"{self._server} ended the connection {part}.")

    def _silence(self, begun: bool) -> _SilentError:
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

    def _detail(self, body: object) -> str:
        """Return the server's error message, shortened and without the key, which some servers repeat."""
        while isinstance(body, Mapping):
            body = next((body[key] for key in ("error", "message", "detail") if body.get(key)), "")
        message = body if isinstance(body, str) else error_words(body)
        # An HTML page of a proxy adds nothing to the status.
        message = "" if message.lstrip().startswith("<") else message
        words = " ".join(message.split()).replace(self._key or "\n", "[key]")
        return words[:DETAIL_LENGTH].rstrip(". ")


def _host(url: str) -> str:
    """Return the host of an address, without a password; raises httpx.InvalidURL."""
    parsed = httpx.URL(url)
    if parsed.scheme not in ("http", "https") or not parsed.host:
        raise httpx.InvalidURL("It names no server.")
    return parsed.netloc.decode()


def _is_loading(words: str) -> bool:
    """Return True if an error says that a model is being loaded, and not that loading failed."""
    words = words[:DETAIL_LENGTH]
    return _LOADING.search(words) is not None and _FAILED.search(words) is None


def _is_worth_retrying(error: BaseException) -> bool:
    if isinstance(error, _LoadingError):
        return True
    return isinstance(error, ModelUnavailableError) and (error.retry_after or 0.0) <= LONGEST_WAIT_ASKED
