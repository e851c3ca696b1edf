"""Run files, read strictly: another system wrote them, and what is wrong in one would be a wrong figure."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from evaluation.input_files import EvaluationError, read_text
from evaluation.peers.exchange import HEADER
from evaluation.retrieval import JudgedCollection

Figures = TypeVar("Figures", bound=BaseModel)


class RunFigures(BaseModel):
    """What a system says of its own run: how long index and median query took, by what versions."""

    model_config = ConfigDict(frozen=True)

    build_seconds: float = Field(ge=0, allow_inf_nan=False)
    build_processor_seconds: float = Field(ge=0, allow_inf_nan=False)
    ms_per_query: float = Field(gt=0, allow_inf_nan=False)
    processor_ms_per_query: float = Field(gt=0, allow_inf_nan=False)
    versions: dict[str, str]


class KeptFigures(RunFigures):
    """The same with when it was measured, on how many cores and under which settings."""

    measured: datetime
    cores: int
    settings: dict[str, Any]


def read_figures(path: Path, form: type[Figures]) -> Figures:
    try:
        return form.model_validate_json(read_text(path))
    except ValidationError as error:
        first = error.errors(include_input=False)[0]
        place = ".".join(str(part) for part in first["loc"]) or "the file"
        raise EvaluationError(
            f"{path.name} is not what a run says of itself: {place}: {first['msg']}."
        ) from None


def read_rankings(path: Path, judged: JudgedCollection) -> Mapping[str, Sequence[str]]:
    """Return the documents of each query, best first; raises EvaluationError that names the line at fault.

    A query that found nothing has no line; a file without any is no run.
    """
    # Not splitlines: an id may have what only Unicode takes for the end of a line.
    header, *lines = read_text(path).removesuffix("\n").split("\n")
    if tuple(header.split("\t")) != HEADER:
        raise EvaluationError(
            f"{path.name}, line 1: the header must be {', '.join(HEADER)}, with tabs between."
        )
    known = {document.id for document in judged.documents}
    rankings: dict[str, list[str]] = {}
    for number, line in enumerate(lines, start=2):
        try:
            query, document, rank, score = line.split("\t")
            _ = float(score)
            place = int(rank)
        except ValueError:
            raise _fault(path, number, "it must be a query, a document, a rank and a score") from None
        ranking = rankings.setdefault(query, [])
        if query not in judged.queries or document not in known:
            raise _fault(path, number, "its query or its document was never given")
        if place != len(ranking) + 1 or document in ranking:
            raise _fault(path, number, "ranks count from 1, and a query has a document once")
        ranking.append(document)
    if not rankings:
        raise EvaluationError(f"{path.name} ranks nothing.")
    return rankings


def _fault(path: Path, number: int, complaint: str) -> EvaluationError:
    return EvaluationError(f"{path.name}, line {number}: {complaint}.")
