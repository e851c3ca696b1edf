"""LitSearch as its authors publish it: Parquet files of queries and of papers (arXiv 2407.18940).

A paper is searched by title and abstract, as in their and in GenGO Ultra's tables; full texts are not read.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, TypeVar

import pyarrow
import pyarrow.parquet
from pydantic import BaseModel, ConfigDict, ValidationError

from evaluation.input_files import EvaluationError
from evaluation.retrieval.judged_sets import Document, JudgedCollection

QUERIES, PAPERS = "query/*.parquet", "corpus_clean/*.parquet"
_ROWS_AT_A_TIME = 2048


class _Row(BaseModel):
    model_config = ConfigDict(frozen=True, strict=True)


class _Query(_Row):
    query: str
    corpusids: list[int]


class _Paper(_Row):
    corpusid: int
    title: str | None
    abstract: str | None


_Form = TypeVar("_Form", bound=_Row)


def is_litsearch(folder: Path) -> bool:
    """Return True if a folder is laid out as LitSearch is, not as BEIR is."""
    return (folder / "corpus_clean").is_dir()


def read_litsearch(folder: Path) -> JudgedCollection:
    """Read LitSearch; queries, which have no ids there, are numbered from 0.

    Raises EvaluationError that names the file at fault.
    """
    queries = [one for one in _rows(_files(folder, QUERIES), _Query) if one.corpusids]
    papers = _rows(_files(folder, PAPERS), _Paper)
    documents = tuple(
        Document(_id=str(one.corpusid), title=one.title or "", text=one.abstract or "") for one in papers
    )
    if not queries or not documents:
        raise EvaluationError(f"{folder} has no query with relevant documents, or no documents.")
    return JudgedCollection(
        folder.name,
        {str(number): one.query for number, one in enumerate(queries)},
        {str(number): dict.fromkeys(map(str, one.corpusids), 1) for number, one in enumerate(queries)},
        documents,
    )


def _files(folder: Path, pattern: str) -> list[Path]:
    found = sorted(folder.glob(pattern))
    if not found:
        raise EvaluationError(f"{folder} has no file {pattern}.")
    return found


def _rows(files: Sequence[Path], form: type[_Form]) -> Iterator[_Form]:
    for path in files:
        try:
            yield from map(form.model_validate, _read(path, list(form.model_fields)))
        except ValidationError as error:
            first = error.errors(include_input=False)[0]
            place = ".".join(map(str, first["loc"]))
            raise EvaluationError(f"{path}: {place}: {first['msg']}.") from None
        except (pyarrow.ArrowException, OSError) as error:
            raise EvaluationError(f"{path} cannot be read as Parquet: {error}") from error


def _read(path: Path, columns: list[str]) -> Iterator[dict[str, Any]]:
    """Yield rows with these columns alone: the full texts beside them are a gigabyte."""
    with pyarrow.parquet.ParquetFile(path) as file:
        for batch in file.iter_batches(_ROWS_AT_A_TIME, columns=columns):
            yield from batch.to_pylist()
