"""Listed papers and their files to what is indexed of them; loads no more than reading takes."""

from indexer.prepare.passages import USUAL_SIZE, make_passages
from indexer.prepare.preparer import (
    LocalWorkers,
    PreparedPaper,
    Preparer,
    Task,
    Workers,
    prepare,
    unread_scan,
)

__all__ = [
    "USUAL_SIZE", "LocalWorkers", "PreparedPaper", "Preparer", "Task", "Workers", "make_passages", "prepare",
    "unread_scan"
]  # fmt: skip
