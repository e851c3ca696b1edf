"""The menu of models: the bundled list, the user's own file over it, and a server's list."""

import re
import threading
import tomllib
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field, SecretStr, ValidationError

from assistant.models.gguf.offers import offer_named, offers, weights_of
from assistant.models.limits import LONGEST_QUEUE, CallLimits, LimitedModel, shared_limits
from assistant.models.protocol import ChatModel, ModelError
from assistant.records import AssistantError
from corpus.settings import Settings

if TYPE_CHECKING:
    from assistant.models.server import ServedModel, ServerFacts

BUNDLED = Path(__file__).with_name("models.toml")
USER_MODEL_CONTEXT = 8192
# Seconds to the first token: a server of one's own may read a prompt for minutes.
HOSTED_TIMEOUT, OWN_TIMEOUT = 60.0, 300.0

# Billions of parameters below which a model gets the short prompt and its answers the careful check.
SMALL_BELOW = 8.0
ProviderName = Literal["together", "openai-compatible", "local"]
_SIZE = re.compile(r"(?<![a-z0-9.])(\d{1,4}(?:\.\d{1,3})?)(b|m)(?![a-z0-9])", re.IGNORECASE)

_loading = threading.Lock()


class ModelEntry(BaseModel):
    """A model on the menu; prices are US dollars per million tokens, None where not known.

    `context` is in tokens. `structured`: what serves it can hold it to a JSON schema. It `thinks`, within
    `max_tokens`, before it answers. `parameters` are in billions, None where not known. `replaced_by` is what
    to choose instead of a model that has left the hosted menu, by its id. `licence` is that of its weights.
    `rerank` and `revise` are calls beside the answer: which papers bear on the question, and what of the
    draft they do not carry.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    id: str = Field(min_length=1)
    label: str = Field(min_length=1)
    provider: ProviderName
    context: int = Field(default=USER_MODEL_CONTEXT, gt=0)
    max_tokens: int = Field(default=700, gt=0)
    price_in: float | None = Field(default=None, ge=0)
    price_out: float | None = Field(default=None, ge=0)
    structured: bool = False
    parameters: float | None = Field(default=None, gt=0)
    thinks: bool = False
    rerank: bool = False
    revise: bool = False
    retired: bool = False
    replaced_by: str = ""
    licence: str = ""
    note: str = ""

    @property
    def served_by(self) -> "Provider":
        return PROVIDERS[self.provider]

    @property
    def is_small(self) -> bool:
        """Whether the model is known to have less than eight billion parameters, from its name if need be."""
        size = self.parameters or size_named(self.id)
        return size is not None and size < SMALL_BELOW

    def price(self, prompt_tokens: int | None, completion_tokens: int | None) -> float | None:
        """Return the price of a call in US dollars, None where the tokens or their prices are not known."""
        if None in (prompt_tokens, completion_tokens, self.price_in, self.price_out):
            return None
        paid = (prompt_tokens or 0) * (self.price_in or 0.0) + (completion_tokens or 0) * (
            self.price_out or 0.0
        )
        return paid / 1e6


def size_named(name: str) -> float | None:
    """Return the billions of parameters that a model's name tells, None where it tells none."""
    # Of "8x7B" the size is not known: experts share parameters.
    found = [float(one[1]) / (1000 if one[2] in "mM" else 1) for one in _SIZE.finditer(name)]
    return max(found, default=None)


@dataclass(frozen=True, slots=True)
class _Menu:
    """All models in their order, and the ids of those that the user's file names."""

    entries: tuple[ModelEntry, ...]
    named: frozenset[str]


def load_models(user_file: Path | None = None) -> tuple[ModelEntry, ...]:
    """Return all models, the retired ones too; the user's come first, and override fields of bundled ones."""
    return _menu(user_file).entries


def _menu(user_file: Path | None) -> _Menu:
    return _load_models(user_file, _stamp(user_file) if user_file else None)


def _stamp(file: Path) -> tuple[int, int] | None:
    """Return a file's modification time and size, None where it is missing."""
    try:
        found = file.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size


# Every screen with a menu of writers asks for them each time it is drawn.
@lru_cache(maxsize=8)
def _load_models(user_file: Path | None, _stamp: tuple[int, int] | None) -> _Menu:
    bundled = _read_tables(BUNDLED)
    own = _read_tables(user_file) if user_file else {}
    merged = {name: _defaults(name) | bundled.get(name, {}) | table for name, table in own.items()}
    # The user's twice: first for their place, last for their values.
    tables = merged | bundled | merged
    entries = (_entry(user_file if user_file and name in own else BUNDLED, tables[name]) for name in tables)
    return _Menu(tuple(entries), frozenset(own))


def available_models(settings: Settings) -> tuple[ModelEntry, ...]:
    """Return the models that these settings can reach, the default first; none without a key or a server.

    Of a server of one's own they are those that it lists and those that the user's file names; of one that
    lists none, all that such a server may serve.
    """
    menu = _menu(settings.models_file)
    chosen = [model for model in menu.entries if model.served_by.is_set(settings) and not model.retired]
    if (told := _facts_of_server(settings)) and told.models:
        chosen = list(_as_listed(chosen, told.models, menu.named))
    known = {model.id for model in chosen}
    own = [settings.local_model] if settings.local_model and settings.local_model not in known else []
    fetched = [offer.name for offer in offers() if (settings.models_folder / offer.file).exists()]
    others = [name for name in fetched if name not in known and name not in own]
    return (*map(_local_entry, own), *chosen, *map(_local_entry, others))


def _facts_of_server(settings: Settings) -> "ServerFacts | None":
    """Return the facts that one's own server reports, None where there is no such server."""
    if not settings.model_url:
        return None
    # Here, because the client takes a while to import, and most have no server to ask.
    from assistant.models.server import server_facts  # noqa: PLC0415

    return server_facts(settings.model_url, settings.model_api_key)


def _as_listed(
    entries: Sequence[ModelEntry], listed: Sequence["ServedModel"], named: Collection[str]
) -> Iterator[ModelEntry]:
    """Yield the entries without those of the server that neither it lists nor the user's file names.

    What it lists and no entry knows comes last, what a model takes in is as the server runs it.
    """
    served = {model.id: model for model in listed}
    for entry in entries:
        if not entry.served_by.lists_models:
            yield entry
        elif entry.id in served:
            yield _as_run(entry, served[entry.id])
        elif entry.id in named:
            yield entry
    known = {entry.id for entry in entries}
    yield from (
        _as_run(ModelEntry(**_defaults(name), id=name), model)
        for name, model in served.items()
        if name not in known
    )


def _as_run(entry: ModelEntry, model: "ServedModel") -> ModelEntry:
    """Return an entry with what the server tells of the model as it runs it."""
    told: dict[str, object] = {}
    if entry.parameters is None and model.parameters is not None:
        told["parameters"] = model.parameters
    if model.structured and "structured" not in entry.model_fields_set:
        told["structured"] = True
    if model.context is not None:
        wanted = entry.context if "context" in entry.model_fields_set else model.context
        told["context"] = min(wanted, model.context)
    return entry.model_copy(update=told)


def is_mute(settings: Settings) -> bool:
    """Return True if one's own server does not say what it serves: it is gone, or lists nothing."""
    told = _facts_of_server(settings)
    return told is not None and not told.models


def replacement(name: str, settings: Settings) -> str:
    """Return the id of what replaces a model that has left the hosted menu, "" for any other."""
    return next((one.replaced_by for one in load_models(settings.models_file) if one.id == name), "")


def receiver(entry: ModelEntry, settings: Settings) -> str:
    """Return who is sent the questions and passages, of a server's address only its host; "" for nobody."""
    return entry.served_by.receiver(settings)


def _host_of_server(settings: Settings) -> str:
    try:
        host = urlsplit(settings.model_url).hostname
    except ValueError:
        host = None
    return f"the server {host or 'that is set here'}"


def open_model(entry: ModelEntry, settings: Settings, session: str = "") -> ChatModel:
    """Return the model of a menu entry; `session` is who asks, for the limits on calls.

    It is opened when first asked, and once for all who ask; where it cannot be, asking raises ModelError.
    """
    opened = partial(entry.served_by.open, entry, settings)
    return LimitedModel(entry.id, entry.label, opened, call_limits(entry, settings), session)


def first_token_timeout(entry: ModelEntry, settings: Settings) -> float:
    """Return the time a model has to begin its reply, in seconds."""
    return settings.model_timeout or entry.served_by.first_token_seconds


def call_limits(entry: ModelEntry, settings: Settings) -> CallLimits:
    """Return the limits on calls to what serves a model: of one's own server they are its slots."""
    at_once = entry.served_by.slots(settings)
    return shared_limits(
        (settings.model_url if entry.served_by.lists_models else "") or entry.provider,
        min(at_once or settings.model_calls, settings.model_calls),
        settings.model_calls_per_session,
        # A call may be silent twice as long: it is tried once more.
        max(LONGEST_QUEUE, 2 * first_token_timeout(entry, settings)),
        is_measured=at_once is None,
    )


def _slots_of_server(settings: Settings) -> int | None:
    told = _facts_of_server(settings)
    return told.slots if told else None


def _open_served(entry: ModelEntry, settings: Settings, key: SecretStr, url: str) -> ChatModel:
    return _connect(entry, key, url, first_token_timeout(entry, settings), settings.model_silence)


# Kept open, so that a question does not pay for a new connection.
@lru_cache(maxsize=16)
def _connect(entry: ModelEntry, key: SecretStr, url: str, first: float, between: float) -> ChatModel:
    # Here, because the SDK takes longer to import than the rest of the assistant together.
    from assistant.models.together import Patience, TogetherModel  # noqa: PLC0415

    return TogetherModel(
        entry.id,
        entry.label,
        api_key=key.get_secret_value(),
        base_url=url,
        patience=Patience(first, between),
        structured=entry.structured,
    )


def _open_local(entry: ModelEntry, settings: Settings) -> ChatModel:
    weights = weights_of(entry.id, settings)
    # Two who ask at once must not both load it.
    with _loading:
        return _load_weights(entry, weights) if weights else _load_local(entry)


# One, because its weights fill the memory.
@lru_cache(maxsize=1)
def _load_weights(entry: ModelEntry, weights: Path) -> ChatModel:
    # Here, because the SDK takes longer to import than the rest of the assistant together.
    from assistant.models.gguf.process import LlamaModel  # noqa: PLC0415

    offer = offer_named(entry.id)
    if offer and not weights.exists():
        raise ModelError(
            f"The weights of {offer.label} are not here yet: paper-trail models get {offer.name} fetches "
            f"{offer.gigabytes:g} GB."
        )
    return LlamaModel(weights, entry.label, entry.context)


@lru_cache(maxsize=1)
def _load_local(entry: ModelEntry) -> ChatModel:
    # Here, because transformers and torch take seconds to import.
    from assistant.models.local import LocalModel  # noqa: PLC0415

    return LocalModel(entry.id, entry.label)


@dataclass(frozen=True, slots=True)
class Provider:
    """A way to reach models: the setting that adds them to the menu, who is sent what, how they are opened.

    `slots` are the calls it takes at once, None where it does not say. What `is_hosted` is billed by the
    token; what `runs_here` costs nothing. Where it `lists_models`, only those that it lists are offered.
    """

    setting: str
    adds: str
    is_set: Callable[[Settings], bool]
    receiver: Callable[[Settings], str]
    slots: Callable[[Settings], int | None]
    open: Callable[[ModelEntry, Settings], ChatModel]
    first_token_seconds: float = OWN_TIMEOUT
    is_hosted: bool = False
    runs_here: bool = False
    lists_models: bool = False


PROVIDERS: dict[ProviderName, Provider] = {
    "together": Provider(
        setting="TOGETHER_API_KEY",
        adds="hosted models",
        is_set=lambda settings: bool(settings.together_api_key.get_secret_value()),
        receiver=lambda _: "Together AI",
        slots=lambda settings: settings.model_calls,
        open=lambda entry, settings: _open_served(entry, settings, settings.together_api_key, ""),
        first_token_seconds=HOSTED_TIMEOUT,
        is_hosted=True,
    ),
    "openai-compatible": Provider(
        setting="PAPER_TRAIL_MODEL_URL",
        adds="a server of your own",
        is_set=lambda settings: bool(settings.model_url),
        receiver=_host_of_server,
        slots=_slots_of_server,
        open=lambda entry, settings: _open_served(
            entry, settings, settings.model_api_key, settings.model_url
        ),
        lists_models=True,
    ),
    "local": Provider(
        setting="PAPER_TRAIL_LOCAL_MODEL",
        adds="a model on this machine",
        # The entries of a user's file need no setting.
        is_set=lambda _: True,
        receiver=lambda _: "",
        slots=lambda _: 1,
        open=_open_local,
        runs_here=True,
    ),
}


def describe_setup() -> str:
    """Return the settings that add models, each with what it adds: "A for hosted models, or B for ..."."""
    *before, last = (f"{provider.setting} for {provider.adds}" for provider in PROVIDERS.values())
    return f"{', '.join(before)}, or {last}"


class _ModelConfig(BaseModel):
    """The fields read from the file that describes a model in its folder."""

    max_position_embeddings: int | None = Field(default=None, gt=0)


def _local_entry(name: str) -> ModelEntry:
    """Return the entry of a model folder, or of a model named on the hub, that stands in the settings."""
    if offer := offer_named(name):
        label, size = f"{offer.label} (this machine)", offer.parameters
        return ModelEntry(
            id=name,
            label=label,
            provider="local",
            parameters=size,
            structured=True,
            licence=offer.licence,
        )
    label = f"{Path(name).name or name} (this machine)"
    return ModelEntry(id=name, label=label, provider="local", context=_context_of(name), structured=True)


def _context_of(name: str) -> int:
    try:
        config = _ModelConfig.model_validate_json((Path(name) / "config.json").read_bytes())
    except (OSError, ValueError):
        return USER_MODEL_CONTEXT
    return config.max_position_embeddings or USER_MODEL_CONTEXT


def _defaults(name: str) -> dict[str, Any]:
    # A server may know its model by the path of its weights.
    label = Path(name).name if name.startswith("/") else name
    return {"label": label or name, "provider": "openai-compatible"}


def _read_tables(path: Path) -> dict[str, dict[str, Any]]:
    """Return the file's models by id, unchecked but for their ids."""
    try:
        tables = tomllib.loads(path.read_text(encoding="utf-8")).get("models", [])
    except (OSError, ValueError) as error:
        raise _broken(path, str(error)) from None
    if not isinstance(tables, list) or not all(isinstance(table, dict) for table in tables):
        raise _broken(path, "'models' is no list of tables; write each as [[models]]")
    found: dict[str, dict[str, Any]] = {}
    for number, table in enumerate(tables, start=1):
        name = table.get("id")
        if not isinstance(name, str) or name in found:
            raise _broken(path, f"model {number}, field 'id': missing, no text, or given twice")
        found[name] = table
    return found


def _entry(path: Path, table: dict[str, Any]) -> ModelEntry:
    try:
        return ModelEntry.model_validate(table)
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(str(part) for part in first["loc"])
        raise _broken(path, f"model {table['id']!r}, field {field!r}: {first['msg']}") from None


def _broken(path: Path, problem: str) -> AssistantError:
    return AssistantError(
        f"The models file {path} cannot be used: {problem}. Correct it, or unset PAPER_TRAIL_MODELS_FILE."
    )
