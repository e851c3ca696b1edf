"""Questions that are offered: to begin with, tried beforehand; to go on with, taken from what was cited."""

from assistant.suggestions.follow_up import follow_up_questions, own_name, subjects
from assistant.suggestions.offered import OfferedQuestion, offered_questions, try_next_question

__all__ = [
    "OfferedQuestion", "follow_up_questions", "offered_questions", "own_name", "subjects", "try_next_question"
]  # fmt: skip
