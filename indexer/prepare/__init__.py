"""Listed papers and their files to what is indexed of them; loads no more than reading takes."""

from indexer.prepare.passages import USUAL_SIZE, make_passages
from indexer.prepare.preparer import PreparedPaper, Preparer, Task, prepare, unread_scan

__all__ = [
    "USUAL_SIZE",
    "PreparedPaper",
    "Preparer",
    "Task",
    "make_passages",
    "prepare",
    "unread_scan",
]
