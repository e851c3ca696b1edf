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
# Seconds to the first token: a local server may read a prompt for minutes.
HOSTED_TIMEOUT, OWN_TIMEOUT = 60.0, 300.0

# Billions of parameters below which a model gets the short prompt and its answers the careful check.
SMALL_BELOW = 8.0
ProviderName = Literal["together", "openai-compatible", "local"]
_SIZE = re.compile(r"(?<![a-z0-9.])(\d{1,4}(?:\.\d{1,3})?)(b|m)(?![a-z0-9])", re.IGNORECASE)

_loading = threading.Lock()


class ModelEntry(BaseModel):
    """A model on the menu; prices are US dollars per million tokens, None if not known.

    `context` is in tokens. `structured`: its server can enforce a JSON schema. `thinks`: it thinks before it
    answers, within `max_tokens`. `parameters` are in billions, None if not known. `replaced_by` is the id of
    the successor of a `retired` model. `licence` is that of its weights. `rerank` and `revise` enable calls
    beside the answer: to rerank the papers, and to revise the draft.
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
        """Whether the model has less than SMALL_BELOW billion parameters, as set or read from its name."""
        size = self.parameters or size_named(self.id)
        return size is not None and size < SMALL_BELOW

    def price(self, prompt_tokens: int | None, completion_tokens: int | None) -> float | None:
        """Return the price of a call in US dollars, None if the tokens or their prices are not known."""
        if None in (prompt_tokens, completion_tokens, self.price_in, self.price_out):
            return None
        paid = (prompt_tokens or 0) * (self.price_in or 0.0) + (completion_tokens or 0) * (
            self.price_out or 0.0
        )
        return paid / 1e6


def size_named(name: str) -> float | None:
    """Return the billions of parameters in a model's name, None if it has none."""
    # "8x7B" does not give the size: experts share parameters.
    sizes = [float(match[1]) / (1000 if match[2] in "mM" else 1) for match in _SIZE.finditer(name)]
    return max(sizes, default=None)


@dataclass(frozen=True, slots=True)
class _Menu:
    """All models in order, and the ids of those in the user's file."""

    entries: tuple[ModelEntry, ...]
    named: frozenset[str]


def load_models(user_file: Path | None = None) -> tuple[ModelEntry, ...]:
    """Return all models, the retired ones too; the user's come first, and override fields of bundled ones."""
    return _menu(user_file).entries


def _menu(user_file: Path | None) -> _Menu:
    return _load_models(user_file, _stamp(user_file) if user_file else None)


def _stamp(file: Path) -> tuple[int, int] | None:
    """Return a file's modification time and size, None if it is missing."""
    try:
        status = file.stat()
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size


@lru_cache(maxsize=8)  # screens ask at each draw
def _load_models(user_file: Path | None, _stamp: tuple[int, int] | None) -> _Menu:
    bundled = _read_tables(BUNDLED)
    of_user = _read_tables(user_file) if user_file else {}
    merged = {name: _defaults(name) | bundled.get(name, {}) | table for name, table in of_user.items()}
    # The user's models come first, and their values override bundled ones.
    tables = merged | bundled | merged
    entries = (
        _entry(user_file if user_file and name in of_user else BUNDLED, tables[name]) for name in tables
    )
    return _Menu(tuple(entries), frozenset(of_user))


def available_models(settings: Settings) -> tuple[ModelEntry, ...]:
    """Return the models that these settings can reach, the default first; none without a key or a server.

    Of the user's own server, these are the models that it or the user's file lists; if it lists none, all
    that such a server may have.
    """
    menu = _menu(settings.models_file)
    chosen = [model for model in menu.entries if model.served_by.is_set(settings) and not model.retired]
    if (facts := _facts_of_server(settings)) and facts.models:
        chosen = list(_as_listed(chosen, facts.models, menu.named))
    known = {model.id for model in chosen}
    default = [settings.local_model] if settings.local_model and settings.local_model not in known else []
    fetched = [offer.name for offer in offers() if (settings.models_folder / offer.file).exists()]
    others = [name for name in fetched if name not in known and name not in default]
    return (*map(_local_entry, default), *chosen, *map(_local_entry, others))


def _facts_of_server(settings: Settings) -> "ServerFacts | None":
    """Return the facts that the user's own server reports, None without such a server."""
    if not settings.model_url:
        return None
    # Imported here, because it takes a while and most users have no such server.
    from assistant.models.server import server_facts  # noqa: PLC0415

    return server_facts(settings.model_url, settings.model_api_key)


def _as_listed(
    entries: Sequence[ModelEntry], listed: Sequence["ServedModel"], named: Collection[str]
) -> Iterator[ModelEntry]:
    """Yield the entries, without those of the server that neither it nor the user's file lists.

    Listed models without an entry come last. Contexts are those of the running server.
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
    """Return an entry with the facts that the server reports of the model."""
    update: dict[str, object] = {}
    if entry.parameters is None and model.parameters is not None:
        update["parameters"] = model.parameters
    if model.structured and "structured" not in entry.model_fields_set:
        update["structured"] = True
    if model.context is not None:
        context = entry.context if "context" in entry.model_fields_set else model.context
        update["context"] = min(context, model.context)
    return entry.model_copy(update=update)


def is_mute(settings: Settings) -> bool:
    """Return True if the user's own server lists no models, or does not answer."""
    facts = _facts_of_server(settings)
    return facts is not None and not facts.models


def replacement(name: str, settings: Settings) -> str:
    """Return the id of the successor of a retired model, "" for any other."""
    return next((entry.replaced_by for entry in load_models(settings.models_file) if entry.id == name), "")


def receiver(entry: ModelEntry, settings: Settings) -> str:
    """Return who receives the questions and passages, a server by its host; "" for nobody."""
    return entry.served_by.receiver(settings)


def _host_of_server(settings: Settings) -> str:
    try:
        host = urlsplit(settings.model_url).hostname
    except ValueError:
        host = None
    return f"the server {host or 'that is set here'}"


def open_model(entry: ModelEntry, settings: Settings, session: str = "") -> ChatModel:
    """Return the model of a menu entry; `session` identifies the user for the limits on calls.

    It is opened at its first call and shared; if it cannot be opened, calls raise ModelError.
    """
    opened = partial(entry.served_by.open, entry, settings)
    return LimitedModel(entry.id, entry.label, opened, call_limits(entry, settings), session)


def first_token_timeout(entry: ModelEntry, settings: Settings) -> float:
    """Return the seconds within which a model must begin its reply."""
    return settings.model_timeout or entry.served_by.first_token_seconds


def call_limits(entry: ModelEntry, settings: Settings) -> CallLimits:
    """Return the limits on calls to a model's provider; for the user's own server, its slots."""
    at_once = entry.served_by.slots(settings)
    return shared_limits(
        (settings.model_url if entry.served_by.lists_models else "") or entry.provider,
        min(at_once or settings.model_calls, settings.model_calls),
        settings.model_calls_per_session,
        # Twice, since a silent call is tried once more.
        max(LONGEST_QUEUE, 2 * first_token_timeout(entry, settings)),
        is_measured=at_once is None,
    )


def _slots_of_server(settings: Settings) -> int | None:
    facts = _facts_of_server(settings)
    return facts.slots if facts else None


def _open_served(entry: ModelEntry, settings: Settings, key: SecretStr, url: str) -> ChatModel:
    return _connect(entry, key, url, first_token_timeout(entry, settings), settings.model_silence)


@lru_cache(maxsize=16)  # keeps connections open between questions
def _connect(entry: ModelEntry, key: SecretStr, url: str, first: float, between: float) -> ChatModel:
    # Imported here, because the SDK takes longer than the rest of the assistant.
    from assistant.models.together import Patience, TogetherModel  # noqa: PLC0415

    return TogetherModel(
        entry.id,
        entry.label,
        api_key=key.get_secret_value(),
        base_url=url,
        patience=Patience(first, between),
        structured=entry.structured,
        hosted_key=entry.served_by.setting if entry.served_by.is_hosted else "",
    )


def _open_local(entry: ModelEntry, settings: Settings) -> ChatModel:
    weights = weights_of(entry.id, settings)
    # Concurrent calls must not both load it.
    with _loading:
        return _load_weights(entry, weights) if weights else _load_local(entry)


@lru_cache(maxsize=1)  # its weights fill the memory
def _load_weights(entry: ModelEntry, weights: Path) -> ChatModel:
    # Imported here, because the SDK takes longer than the rest of the assistant.
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
    # Imported here, because transformers and torch take seconds.
    from assistant.models.local import LocalModel  # noqa: PLC0415

    return LocalModel(entry.id, entry.label)


@dataclass(frozen=True, slots=True)
class Provider:
    """A way to reach models: the setting that enables it, the receiver of data, and how to open models.

    `slots` returns its concurrent calls, None if not known. `is_hosted`: it is billed by the token;
    `runs_here`: it costs nothing; `lists_models`: only models that it lists are offered.
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
    """Return the settings that add models: "A for hosted models, or B for ..."."""
    *before, last = (f"{provider.setting} for {provider.adds}" for provider in PROVIDERS.values())
    return f"{', '.join(before)}, or {last}"


class _ModelConfig(BaseModel):
    """The fields read from a model folder's config.json."""

    max_position_embeddings: int | None = Field(default=None, gt=0)


def _local_entry(name: str) -> ModelEntry:
    """Return the entry of a model folder, or of a name on the hub."""
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
    """Return the file's models by id; only the ids are checked."""
    try:
        tables = tomllib.loads(path.read_text(encoding="utf-8")).get("models", [])
    except (OSError, ValueError) as error:
        raise _broken(path, str(error)) from None
    if not isinstance(tables, list) or not all(isinstance(table, dict) for table in tables):
        raise _broken(path, "'models' is no list of tables; write each as [[models]]")
    models: dict[str, dict[str, Any]] = {}
    for number, table in enumerate(tables, start=1):
        name = table.get("id")
        if not isinstance(name, str) or name in models:
            raise _broken(path, f"model {number}, field 'id': missing, no text, or given twice")
        models[name] = table
    return models


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
