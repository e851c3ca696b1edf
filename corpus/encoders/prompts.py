"""Prompts that an encoder was trained with, for those whose configuration lacks them."""

import tomllib
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from pydantic import BaseModel, ConfigDict

QUERY, DOCUMENT = "query", "document"
# sentence-transformers reads these too, but never where "document" is there, and it always is.
_OTHER_NAMES = ("passage", "corpus")


class _Known(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    encoders: tuple[str, ...]
    query: str
    document: str


def prompts_to_add(name: str, own: Mapping[str, str | None]) -> dict[str, str]:
    """Return the prompts that an encoder of this name lacks; what its configuration says is kept.

    `name` is a hub id or a folder's path.
    """
    said = {key: prompt for key, prompt in own.items() if prompt}
    document = next((said[key] for key in (DOCUMENT, *_OTHER_NAMES) if key in said), "")
    if QUERY in said or document:
        return {} if document == said.get(DOCUMENT, "") else {DOCUMENT: document}
    return _known_prompts().get(Path(name).name.lower(), {})


@cache
def _known_prompts() -> Mapping[str, dict[str, str]]:
    file = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
    known = [_Known.model_validate(table) for table in file["prompts"]]
    return {encoder: {QUERY: one.query, DOCUMENT: one.document} for one in known for encoder in one.encoders}
