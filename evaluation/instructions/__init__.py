"""Instructions on scientific papers as SciRIFF gives them: what is asked, of whom, and what is counted."""

from evaluation.instructions.claims import read_claims
from evaluation.instructions.figures import means, reply_figures, task_figures
from evaluation.instructions.items import Item, counts_of, parse_instance_id, read_items
from evaluation.instructions.rating import Ratings, rate_replies
from evaluation.instructions.running import Asker, Reply, Way, ask_all
from evaluation.instructions.tasks import TASKS, Task

__all__ = [
    "TASKS", "Asker", "Item", "Ratings", "Reply", "Task", "Way", "ask_all", "counts_of", "means",
    "parse_instance_id", "rate_replies", "read_claims", "read_items", "reply_figures", "task_figures"
]  # fmt: skip
