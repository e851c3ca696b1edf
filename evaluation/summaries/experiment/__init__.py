"""ChatCite's experiment (arXiv 2403.02574, section 4), on sections of CORWA whose references we hold."""

from evaluation.summaries.experiment.table import (
    RowFigures,
    TableAsked,
    TableReport,
    experiment_tables,
    table_report,
)

__all__ = ["RowFigures", "TableAsked", "TableReport", "experiment_tables", "table_report"]
