"""Which models can be chosen: the bundled list, with the user's own file over it."""

import threading
import tomllib
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field, SecretStr, ValidationError

from assistant.models.limits import LimitedModel, shared_limits
from assistant.models.protocol import ChatModel
from assistant.records import AssistantError
from corpus.settings import Settings

BUNDLED = Path(__file__).with_name("models.toml")
USER_MODEL_CONTEXT = 8192

_loading = threading.Lock()


class ModelEntry(BaseModel):
    """A model on the menu; prices are US dollars per million tokens, None where not known.

    `structured`: what serves it can hold it to a JSON schema.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    id: str = Field(min_length=1)
    label: str = Field(min_length=1)
    provider: Literal["together", "openai-compatible", "local"]
    context: int = Field(gt=0)
    max_tokens: int = Field(default=700, gt=0)
    price_in: float | None = Field(default=None, ge=0)
    price_out: float | None = Field(default=None, ge=0)
    structured: bool = False
    retired: bool = False
    note: str = ""

    def price(self, prompt_tokens: int | None, completion_tokens: int | None) -> float | None:
        """Return what a call costs in US dollars, None where the tokens or their prices are not known."""
        if None in (prompt_tokens, completion_tokens, self.price_in, self.price_out):
            return None
        paid = (prompt_tokens or 0) * (self.price_in or 0.0) + (completion_tokens or 0) * (
            self.price_out or 0.0
        )
        return paid / 1e6


def load_models(user_file: Path | None = None) -> tuple[ModelEntry, ...]:
    """Return all models, the retired ones too; the user's come first, and override fields of bundled ones."""
    return _load_models(user_file, _stamp(user_file) if user_file else None)


def _stamp(file: Path) -> tuple[int, int] | None:
    """Return what changes when a file does, None where it is not there."""
    try:
        found = file.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size


# Every screen with a menu of writers asks for them each time it is drawn.
@lru_cache(maxsize=8)
def _load_models(user_file: Path | None, _stamp: tuple[int, int] | None) -> tuple[ModelEntry, ...]:
    bundled = _read_tables(BUNDLED)
    own = _read_tables(user_file) if user_file else {}
    merged = {name: _defaults(name) | bundled.get(name, {}) | table for name, table in own.items()}
    # The user's twice: first for their place, last for their values.
    tables = merged | bundled | merged
    return tuple(_entry(user_file if user_file and name in own else BUNDLED, tables[name]) for name in tables)


def available_models(settings: Settings) -> tuple[ModelEntry, ...]:
    """Return the models that these settings can reach, the default first; none without a key or a server."""
    reachable = {
        "together": bool(settings.together_api_key.get_secret_value()),
        "openai-compatible": bool(settings.model_url),
        "local": True,
    }
    models = load_models(settings.models_file)
    chosen = tuple(model for model in models if reachable[model.provider] and not model.retired)
    own = settings.local_model
    return (_local_entry(own), *chosen) if own and own not in {model.id for model in chosen} else chosen


def receiver(entry: ModelEntry, settings: Settings) -> str:
    """Return who is sent the questions and passages, of a server's address only its host; "" for nobody."""
    if entry.provider == "local":
        return ""
    if entry.provider == "together":
        return "Together AI"
    try:
        host = urlsplit(settings.model_url).hostname
    except ValueError:
        host = None
    return f"the server {host or 'that is set here'}"


def open_model(entry: ModelEntry, settings: Settings, session: str = "") -> ChatModel:
    """Return the model of a menu entry; `session` is who asks, for the limits on calls.

    It is opened when first asked, and once for all who ask; where it cannot be, asking raises ModelError.
    """
    hosted = entry.provider == "together"
    key = settings.together_api_key if hosted else settings.model_api_key
    url = "" if hosted else settings.model_url
    opened = (
        partial(_open_local, entry)
        if entry.provider == "local"
        else partial(_open_served, entry, key, url, settings.model_timeout)
    )
    limits = shared_limits(settings.model_calls, settings.model_calls_per_session)
    return LimitedModel(entry.id, entry.label, opened, limits, session)


# Kept open, so that a question does not pay for a new connection.
@lru_cache(maxsize=16)
def _open_served(entry: ModelEntry, key: SecretStr, url: str, timeout: float) -> ChatModel:
    # Here, because the SDK takes longer to import than the rest of the assistant together.
    from assistant.models.together import TogetherModel  # noqa: PLC0415

    return TogetherModel(
        entry.id,
        entry.label,
        api_key=key.get_secret_value(),
        base_url=url,
        timeout=timeout,
        structured=entry.structured,
    )


def _open_local(entry: ModelEntry) -> ChatModel:
    # Two who ask at once must not both load it.
    with _loading:
        return _load_local(entry)


# One, because its weights fill the memory.
@lru_cache(maxsize=1)
def _load_local(entry: ModelEntry) -> ChatModel:
    # Here, because transformers and torch take seconds to import.
    from assistant.models.local import LocalModel  # noqa: PLC0415

    return LocalModel(entry.id, entry.label)


class _ModelConfig(BaseModel):
    """What is read of the file that describes a model in its folder."""

    max_position_embeddings: int | None = Field(default=None, gt=0)


def _local_entry(name: str) -> ModelEntry:
    """Return the entry of a model folder, or of a model named on the hub, that stands in the settings."""
    label = f"{Path(name).name or name} (this machine)"
    return ModelEntry(id=name, label=label, provider="local", context=_context_of(name), structured=True)


def _context_of(name: str) -> int:
    try:
        config = _ModelConfig.model_validate_json((Path(name) / "config.json").read_bytes())
    except (OSError, ValueError):
        return USER_MODEL_CONTEXT
    return config.max_position_embeddings or USER_MODEL_CONTEXT


def _defaults(name: str) -> dict[str, Any]:
    return {"label": name, "provider": "openai-compatible", "context": USER_MODEL_CONTEXT}


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
