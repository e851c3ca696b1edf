"""Figures measured on a corpus as a whole, stored beside it for readers."""

import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated

from pydantic import Field, TypeAdapter, ValidationError

from corpus.durable import replace_durably
from corpus.errors import CorpusError
from corpus.store.manifest import Manifest

LARGEST = 64 * 1024


@dataclass(frozen=True, slots=True)
class Share:
    """The share of `of` cases that were `counted`; `is_good` tells whether more is better."""

    counted: str
    share: Annotated[float, Field(ge=0, le=1)]
    of: Annotated[int, Field(gt=0)]
    is_good: bool = True


@dataclass(frozen=True, slots=True)
class MeasuredCorpus:
    """Shares of one version of a corpus, and when, with what and how they were measured."""

    shares: tuple[Share, ...]
    versions: Mapping[str, int]
    encoder_sha256: str
    date: str
    product: str
    command: str

    def is_of(self, manifest: Manifest) -> bool:
        """Return True if these are figures of this version of the corpus."""
        return (dict(self.versions), self.encoder_sha256) == (
            dict(manifest.versions),
            manifest.encoder_sha256,
        )


_MEASURED = TypeAdapter(MeasuredCorpus)


def read_measured(path: Path) -> MeasuredCorpus | None:
    """Read the measured figures, None where there are none; raises CorpusError for another file."""
    try:
        if path.stat().st_size > LARGEST:
            raise CorpusError(f"{path} is too large to hold what was measured of a corpus.")
        return _MEASURED.validate_json(path.read_bytes())
    except FileNotFoundError:
        return None
    except (OSError, ValidationError) as error:
        raise CorpusError(f"{path} cannot be read. Measure the corpus again, or remove it.") from error


def write_measured(path: Path, measured: MeasuredCorpus) -> None:
    """Put what was measured in the place of what was before; raises CorpusError."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        temporary.write_text(json.dumps(asdict(measured), indent=1, ensure_ascii=False), encoding="utf-8")
        replace_durably(temporary, path)
    except OSError as error:
        raise CorpusError(f"{path} cannot be written: {error.strerror}.") from error
