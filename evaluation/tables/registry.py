"""The tables there are, in the order of the papers."""

from collections.abc import Mapping

from evaluation.input_files import EvaluationError
from evaluation.tables.chatcite import summaries as chatcite
from evaluation.tables.gengo import encoders, instructions, summaries
from evaluation.tables.records import SeedTable
from evaluation.tables.systems import (
    gengo_system,
    truthreader_answers,
    truthreader_histories,
    truthreader_robustness,
)

_TABLES = (
    encoders.TABLE,
    encoders.OTHERS,
    summaries.TABLE,
    instructions.TABLE,
    gengo_system.TABLE,
    truthreader_answers.TABLE,
    truthreader_histories.TABLE,
    truthreader_robustness.TABLE,
    chatcite.RESULTS,
    chatcite.ABLATIONS,
)

TABLES: Mapping[str, SeedTable] = {table.name: table for table in _TABLES}


def table_named(name: str) -> SeedTable:
    """Return a table; raises EvaluationError that names those there are."""
    if name not in TABLES:
        raise EvaluationError(f"There is no table {name!r}. There are: {', '.join(TABLES)}.")
    return TABLES[name]
