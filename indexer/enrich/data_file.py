"""The words, weights and bounds in the data files beside the code, read strictly."""

import tomllib
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, ConfigDict


class Table(BaseModel):
    """A table of a data file: what it has to hold, and nothing else."""

    model_config = ConfigDict(frozen=True, extra="forbid")


File = TypeVar("File", bound=Table)


def listed(text: str) -> list[str]:
    """Return the phrases of a data file's text, which semicolons part."""
    return [" ".join(phrase.split()) for phrase in text.split(";") if phrase.strip()]


def read_data(name: str, schema: type[File]) -> File:
    return schema.model_validate(
        tomllib.loads(Path(__file__).with_name(f"{name}.toml").read_text(encoding="utf-8"))
    )
