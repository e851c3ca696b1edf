"""The rows that the papers print, as data."""

import tomllib
from functools import cache
from pathlib import Path

from pydantic import BaseModel, ConfigDict, StrictFloat, StrictInt

from evaluation.tables.records import Row

_FILE = Path(__file__).with_name("printed.toml")


class _PrintedRow(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    system: str
    figures: dict[str, StrictFloat | StrictInt]
    note: str = ""


class _Printed(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    rows: tuple[_PrintedRow, ...] = ()


def printed_rows(table: str) -> tuple[Row, ...]:
    """Return what the paper prints in a table, as far as it is known here."""
    printed = _read().get(table)
    return tuple(Row(row.system, row.figures, note=row.note) for row in printed.rows) if printed else ()


@cache
def _read() -> dict[str, _Printed]:
    tables = tomllib.loads(_FILE.read_text(encoding="utf-8"))
    return {name: _Printed.model_validate(table) for name, table in tables.items()}
