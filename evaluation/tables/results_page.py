"""docs/results.md, written from measured tables: every figure with its command, date and machine."""

import json
import os
from collections.abc import Sequence
from pathlib import Path

from corpus.durable import replace_durably
from evaluation.input_files import EvaluationError
from evaluation.tables.records import TableResult
from evaluation.tables.report import markdown_table

PAGE = Path(__file__).parents[2] / "docs" / "results.md"

_HEAD = """# Results

Every table of the three papers, with what Paper Trail reaches beside what they print. This page is written
by `python -m evaluation table --all --update-docs`; do not edit it. “Ours” was measured by the command under
each table; a printed figure is the paper's own, of its data and its models. What is missing is said, with
what to do about it. Quality does not depend on the machine; times do.
"""


def results_page(results: Sequence[TableResult]) -> str:
    """Return the page: a section for each table."""
    sections = [f"## {result.table.heading}\n\n{markdown_table(result)}" for result in results]
    return "\n\n".join([_HEAD.strip(), *sections]) + "\n"


def write_results(results: Sequence[TableResult], data: Path) -> None:
    """Write the page, and the same as JSON beside it for programs; raises EvaluationError.

    Where data sets lay here means nothing elsewhere: the folder is called DATA.
    """
    told = json.dumps([result.to_json() for result in results], indent=1, ensure_ascii=False)
    for path, text in ((PAGE, results_page(results)), (PAGE.with_suffix(".json"), f"{told}\n")):
        try:
            temporary = path.with_name(f".{path.name}.{os.getpid()}")
            temporary.write_text(text.replace(str(data), "DATA"), encoding="utf-8")
            replace_durably(temporary, path)
        except OSError as error:
            raise EvaluationError(f"{path} cannot be written: {error.strerror}.") from error
