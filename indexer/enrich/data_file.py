"""The words, weights and thresholds in the TOML files beside the code, validated strictly."""

import tomllib
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, ConfigDict


class Table(BaseModel):
    """A table of a data file; unknown keys are errors."""

    model_config = ConfigDict(frozen=True, extra="forbid")


File = TypeVar("File", bound=Table)


def listed(text: str) -> list[str]:
    """Split a text of a data file into phrases at semicolons."""
    return [" ".join(phrase.split()) for phrase in text.split(";") if phrase.strip()]


def read_data(name: str, schema: type[File]) -> File:
    return schema.model_validate(
        tomllib.loads(Path(__file__).with_name(f"{name}.toml").read_text(encoding="utf-8"))
    )
