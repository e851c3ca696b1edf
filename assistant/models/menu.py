"""Which models can be chosen: the bundled list, with the user's own file over it."""

import tomllib
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from assistant.models.protocol import ChatModel
from assistant.records import AssistantError
from corpus.settings import Settings

BUNDLED = Path(__file__).with_name("models.toml")
USER_MODEL_CONTEXT = 8192


class ModelEntry(BaseModel):
    """A model on the menu; prices are US dollars per million tokens, None where not known."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    id: str = Field(min_length=1)
    label: str = Field(min_length=1)
    provider: Literal["together", "openai-compatible"]
    context: int = Field(gt=0)
    max_tokens: int = Field(default=700, gt=0)
    price_in: float | None = Field(default=None, ge=0)
    price_out: float | None = Field(default=None, ge=0)
    retired: bool = False
    note: str = ""


def load_models(user_file: Path | None = None) -> tuple[ModelEntry, ...]:
    """Return all models, the retired ones too; the user's come first, and override fields of bundled ones."""
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
    }
    models = load_models(settings.models_file)
    return tuple(model for model in models if reachable[model.provider] and not model.retired)


def open_model(entry: ModelEntry, settings: Settings) -> ChatModel:
    """Return the model of a menu entry, ready to be asked."""
    # Here, because the SDK takes longer to import than the rest of the assistant together.
    from assistant.models.together import TogetherModel  # noqa: PLC0415

    hosted = entry.provider == "together"
    key = settings.together_api_key if hosted else settings.model_api_key
    return TogetherModel(
        entry.id,
        entry.label,
        api_key=key.get_secret_value(),
        base_url="" if hosted else settings.model_url,
        timeout=settings.model_timeout,
    )


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
