"""The tables of the three papers: each measured by a command, with what is printed beside ours."""

from evaluation.tables.fetching import fetch
from evaluation.tables.records import Asked, SeedTable, TableResult
from evaluation.tables.registry import TABLES, table_named
from evaluation.tables.report import listed, markdown_table, shown_table
from evaluation.tables.results_page import rewrite_results, write_results
from evaluation.tables.runs import measure_table
from evaluation.tables.sources import not_here

__all__ = [
    "TABLES", "Asked", "SeedTable", "TableResult", "fetch", "listed", "markdown_table", "measure_table",
    "not_here", "rewrite_results", "shown_table", "table_named", "write_results"
]  # fmt: skip
