"""What a table of the seeds is made of: its columns, and rows printed, planned and measured."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from corpus.settings import Settings
from evaluation.input_files import EvaluationError

Say = Callable[[str], None]
Seed = Literal["GenGO Ultra", "TruthReader", "ChatCite"]


class MissingError(EvaluationError):
    """A row cannot be had here: `what` is not there, and the message says what to do about it."""

    def __init__(self, what: str, advice: str) -> None:
        super().__init__(f"{what}: {advice}")
        self.what = what
        self.advice = advice


@dataclass(frozen=True, slots=True)
class Column:
    """A figure of every row: its name, and with how many decimals it is printed."""

    name: str
    decimals: int = 1


@dataclass(frozen=True, slots=True)
class Row:
    """A system's figures by the names of columns; what is not there was not measured, or not printed.

    `deviations` are standard deviations of some of them. `note` says what differs from the other rows. What
    is not `is_whole`, because something failed on the way, is not kept: the next run tries again.
    """

    system: str
    figures: Mapping[str, float]
    deviations: Mapping[str, float] = field(default_factory=dict)
    note: str = ""
    is_whole: bool = True


@dataclass(frozen=True, slots=True)
class RowPlan:
    """A row that can be measured.

    `inputs` is all that its figures depend on besides our code: names, numbers, and files, which are told
    apart by their content.
    """

    system: str
    inputs: Mapping[str, object]
    measure: Callable[[], Row]


@dataclass(frozen=True, slots=True)
class Missing:
    """What could not be had, and what to do about it."""

    what: str
    advice: str


@dataclass(frozen=True, slots=True)
class Asked:
    """What tables are to be measured on and with.

    `data` is the folder of the data sets, `out` the one where what is measured is kept; `limit` takes the
    first so many items of each set.
    """

    data: Path
    out: Path
    settings: Settings
    models: tuple[str, ...] = ()
    judge: str = ""
    encoders: tuple[str, ...] = ()
    homes: Mapping[str, Path] = field(default_factory=dict)
    limit: int | None = None


Planned = Iterator[RowPlan | Missing]


@dataclass(frozen=True, slots=True)
class SeedTable:
    """A table of one of the three papers.

    `sets` are the data sets it is about, by their names in sources.toml. `plan` yields the rows that can be
    measured here and what is missing for others; it measures nothing itself. `remarks` say how ours differs.
    `code` is what of ours its figures depend on: files and folders, by their paths from the root.
    `asks_corpora` where it asks corpora that were built.
    """

    name: str
    seed: Seed
    number: str
    title: str
    columns: tuple[Column, ...]
    sets: tuple[str, ...]
    plan: Callable[[Asked, Say], Planned]
    remarks: tuple[str, ...] = ()
    code: tuple[str, ...] = ("assistant", "corpus", "evaluation", "indexer")
    asks_corpora: bool = False

    @property
    def heading(self) -> str:
        return f"{self.seed}, {self.number}: {self.title}"


@dataclass(frozen=True, slots=True)
class Measured:
    """A row as it was measured: when, how long it took, and whether it was kept from an earlier run."""

    row: Row
    date: str
    seconds: float
    machine: str
    is_kept: bool = False


@dataclass(frozen=True, slots=True)
class TableResult:
    """A table measured: printed rows beside ours, and what is missing."""

    table: SeedTable
    command: str
    printed: tuple[Row, ...]
    rows: tuple[Measured, ...]
    missing: tuple[Missing, ...]
    stand_ins: tuple[str, ...]

    def to_json(self) -> dict[str, Any]:
        return {
            "table": self.table.name,
            "heading": self.table.heading,
            "command": self.command,
            "columns": [column.name for column in self.table.columns],
            "printed": [_row_json(row) for row in self.printed],
            "measured": [
                {**_row_json(one.row), "date": one.date, "seconds": one.seconds, "machine": one.machine}
                for one in self.rows
            ],
            "missing": [{"what": one.what, "advice": one.advice} for one in self.missing],
            "stand_ins": list(self.stand_ins),
        }


def _row_json(row: Row) -> dict[str, Any]:
    return {
        "system": row.system,
        "figures": dict(row.figures),
        **({"deviations": dict(row.deviations)} if row.deviations else {}),
        **({"note": row.note} if row.note else {}),
    }
