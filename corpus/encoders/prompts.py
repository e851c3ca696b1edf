"""Prompts of encoders that were trained with them but do not have them in their configuration."""

import tomllib
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from pydantic import BaseModel, ConfigDict

QUERY, DOCUMENT = "query", "document"
# Alternative names of the document prompt that sentence-transformers ignores, as it always has "document".
_OTHER_NAMES = ("passage", "corpus")


class _Known(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    encoders: tuple[str, ...]
    query: str
    document: str


def prompts_to_add(name: str, own: Mapping[str, str | None]) -> dict[str, str]:
    """Return the prompts to add to those of an encoder's configuration (`own`).

    `name` is a hub id or a folder's path.
    """
    prompts = {key: prompt for key, prompt in own.items() if prompt}
    document = next((prompts[key] for key in (DOCUMENT, *_OTHER_NAMES) if key in prompts), "")
    if QUERY in prompts or document:
        return {} if document == prompts.get(DOCUMENT, "") else {DOCUMENT: document}
    return _known_prompts().get(Path(name).name.lower(), {})


@cache
def _known_prompts() -> Mapping[str, dict[str, str]]:
    file = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
    known = [_Known.model_validate(table) for table in file["prompts"]]
    return {
        encoder: {QUERY: entry.query, DOCUMENT: entry.document}
        for entry in known
        for encoder in entry.encoders
    }
