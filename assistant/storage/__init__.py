"""What is kept: conversations, comparisons and what readers say of answers."""

from assistant.storage.comparisons import ComparisonStore, ComparisonSummary, StoredComparison, TakenUpError
from assistant.storage.conversations import ConversationStore, ConversationSummary, StoredConversation
from assistant.storage.database import Database, Quota, tidy_title
from assistant.storage.feedback import (
    LONGEST_NOTE,
    mark_of,
    with_verdict,
    with_wrong_citation,
    without_wrong_citation,
)

__all__ = [
    "LONGEST_NOTE", "ComparisonStore", "ComparisonSummary", "ConversationStore", "ConversationSummary",
    "Database", "Quota", "StoredComparison", "StoredConversation", "TakenUpError", "mark_of",
    "tidy_title", "with_verdict", "with_wrong_citation", "without_wrong_citation"
]  # fmt: skip
