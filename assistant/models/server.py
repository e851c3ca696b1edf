"""Facts that the user's own model server reports: its models and slots."""

import logging
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, TypeVar

import httpx
from cachetools import TTLCache, cached
from pydantic import (
    AfterValidator,
    BaseModel,
    Field,
    SecretStr,
    StringConstraints,
    TypeAdapter,
    ValidationError,
)

# Short, because a menu waits for it.
LONGEST_WAIT = 1.5
ASKED_AGAIN_SECONDS = 30.0
MOST_LISTED = 1000
LARGEST_REPLY = 4 * 2**20

logger = logging.getLogger(__name__)

Tokens = Annotated[int, Field(gt=0, le=100_000_000)]


def _printable(name: str) -> str:
    if not name.isprintable():
        raise ValueError("characters that are not seen")
    return name


Name = Annotated[str, StringConstraints(min_length=1, max_length=200), AfterValidator(_printable)]
Reply = TypeVar("Reply")


@dataclass(frozen=True, slots=True)
class ServedModel:
    """A model that a server lists.

    `context` is in tokens, `parameters` in billions, None if not reported. `structured`: its kind of server
    is known to enforce JSON schemas.
    """

    id: str
    context: int | None = None
    parameters: float | None = None
    structured: bool = False


@dataclass(frozen=True, slots=True)
class ServerFacts:
    """The facts that a server reports; `slots` are concurrent calls, None if not reported."""

    models: tuple[ServedModel, ...] = ()
    slots: int | None = None


class _Meta(BaseModel):
    n_ctx: Tokens | None = None
    n_params: Annotated[int, Field(gt=0)] | None = None


class _Listed(BaseModel):
    """A model in a server's list; each kind of server has its own field for the context."""

    id: Name
    max_model_len: Tokens | None = None  # vLLM, SGLang
    context_length: Tokens | None = None  # OpenRouter, LM Studio
    context_window: Tokens | None = None  # Groq
    meta: _Meta | None = None  # llama.cpp

    @property
    def context(self) -> int | None:
        of_a_slot = self.meta.n_ctx if self.meta else None
        return of_a_slot or self.max_model_len or self.context_length or self.context_window


class _List(BaseModel):
    data: list[object] = Field(default_factory=list)


class _Props(BaseModel):
    total_slots: Annotated[int, Field(gt=0, le=10_000)] | None = None


_listed = TypeAdapter(_Listed)
_slots = TypeAdapter(Annotated[list[object], Field(min_length=1, max_length=10_000)])


@cached(TTLCache(maxsize=16, ttl=ASKED_AGAIN_SECONDS), lock=threading.Lock())
def server_facts(url: str, key: SecretStr) -> ServerFacts:
    """Return the facts that the server at `url` reports, cached for ASKED_AGAIN_SECONDS."""
    base = url.rstrip("/").removesuffix("/v1")
    secret = key.get_secret_value().strip()
    is_key = secret and secret.isascii() and secret.isprintable()
    headers = {"Authorization": f"Bearer {secret}"} if is_key else {}
    try:
        with httpx.Client(base_url=base, headers=headers, timeout=LONGEST_WAIT) as client:
            listed = _asked(client, "/v1/models", TypeAdapter(_List))
            if listed is None:
                return ServerFacts()
            return ServerFacts(tuple(_models(listed)), _count_slots(client))
    except (httpx.HTTPError, httpx.InvalidURL, ValueError):
        return ServerFacts()


def _asked(client: httpx.Client, path: str, form: TypeAdapter[Reply]) -> Reply | None:
    """Fetch a path and parse it as `form`, None if it does not fit; raises httpx.HTTPError."""
    with client.stream("GET", path) as response:
        if response.status_code != 200:
            return None
        body = b""
        for part in response.iter_bytes():
            body += part
            if len(body) > LARGEST_REPLY:
                return None
    try:
        return form.validate_json(body)
    except ValidationError:
        return None


def _models(listed: _List) -> Iterator[ServedModel]:
    if len(listed.data) > MOST_LISTED:
        logger.warning("The model server lists %d models; the first %d count.", len(listed.data), MOST_LISTED)
    for entry in listed.data[:MOST_LISTED]:
        try:
            model = _listed.validate_python(entry)
        except ValidationError:
            continue
        size = model.meta.n_params if model.meta else None
        # llama.cpp, and vLLM or SGLang, recognised by fields that only they report.
        is_structured = model.meta is not None or model.max_model_len is not None
        yield ServedModel(model.id, model.context, size / 1e9 if size else None, is_structured)


def _count_slots(client: httpx.Client) -> int | None:
    """Return the number of a server's concurrent calls, None if not reported."""
    props = _asked(client, "/props", TypeAdapter(_Props))
    if props and props.total_slots:
        return props.total_slots
    slots = _asked(client, "/slots", _slots)
    return len(slots) if slots else None
