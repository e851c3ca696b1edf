"""The languages that an encoder reads: by its name where known, else from its model card."""

import re
import tomllib
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

import yaml
from pydantic import BaseModel, ConfigDict

from corpus.language.identified import UNTOLD
from corpus.language.names import language_code
from corpus.language.stemming import ENGLISH

Languages = frozenset[str]
_ANY = "multilingual"
_FRONT = re.compile(r"\A\s*---[ \t]*\r?\n(.{0,20000}?)\r?\n---", re.DOTALL)


class _Known(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    names: tuple[str, ...]
    languages: str


@cache
def encoder_languages(name: str) -> Languages:
    """Return the codes of the languages that an encoder reads, with UNTOLD if it is multilingual.

    `name` is a hub id or a folder's path. An unknown encoder reads English.
    """
    last = Path(name).name.lower()
    known = next((codes for start, codes in _known().items() if last.startswith(start)), None)
    return _codes(known or _card_languages(name)) or frozenset({ENGLISH})


def reads_language(name: str, code: str) -> bool:
    """Return True if the encoder reads a language; a multilingual one without a list reads all."""
    languages = encoder_languages(name)
    return code in languages or (UNTOLD in languages and languages <= {UNTOLD, ENGLISH})


def _codes(tags: Sequence[str]) -> Languages:
    codes = (UNTOLD if tag.lower() == _ANY else language_code(tag) for tag in tags)
    return frozenset(filter(None, codes))


def _card_languages(name: str) -> tuple[str, ...]:
    """Return the languages that a model's local card lists, as written there; () without a card."""
    from huggingface_hub import try_to_load_from_cache  # noqa: PLC0415 - never needed for the bundled encoder

    card = Path(name) / "README.md"
    if not Path(name).is_dir() and name.count("/") == 1:
        cached = try_to_load_from_cache(name, card.name)  # None or a marker if it was never fetched
        card = Path(cached) if isinstance(cached, str) else card
    try:
        front = _FRONT.match(card.read_text(encoding="utf-8"))
        data = yaml.safe_load(front[1]) if front else None
    except (OSError, ValueError, yaml.YAMLError):
        return ()
    listed = data.get("language") if isinstance(data, dict) else None
    tags = listed if isinstance(listed, list) else [listed]
    # YAML parses an unquoted "no" (Norwegian) as False.
    return tuple("no" if tag is False else str(tag) for tag in tags if tag is not None)


@cache
def _known() -> Mapping[str, tuple[str, ...]]:
    file = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
    known = [_Known.model_validate(table) for table in file["encoders"]]
    return {name: tuple(entry.languages.split()) for entry in known for name in entry.names}
