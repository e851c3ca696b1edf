"""Listed papers and their files to what is indexed of them; loads no more than reading takes."""

from indexer.prepare.passages import make_passages
from indexer.prepare.soundness import MostText, are_sane, is_sound
from indexer.prepare.preparer import (
    LocalWorkers,
    PreparedPaper,
    Preparer,
    Task,
    Workers,
    describe_paper,
    prepare,
    unread_scan,
)

__all__ = [
    "LocalWorkers", "MostText", "PreparedPaper", "Preparer", "Task", "Workers", "are_sane", "describe_paper",
    "is_sound", "make_passages", "prepare", "unread_scan"
]  # fmt: skip
