"""Stores of conversations, comparisons, libraries, feedback, notes and spending."""

from assistant.storage.comparisons import ComparisonStore, ComparisonSummary, StoredComparison, TakenUpError
from assistant.storage.conversations import ConversationStore, ConversationSummary, StoredConversation
from assistant.storage.feedback import (
    LONGEST_NOTE,
    mark_of,
    with_verdict,
    with_wrong_citation,
    without_wrong_citation,
)
from assistant.storage.libraries import (
    KeptLibrary,
    LibraryError,
    LibraryStore,
    LibrarySummary,
    OverLibrary,
    RenamedError,
    StoredLibrary,
)
from assistant.storage.owned import OwnedStore, Quota, new_id, tidy_title
from assistant.storage.rates import RateStore, take_from
from assistant.storage.reading import KINDS as READING_KINDS
from assistant.storage.reading import (
    ChangedElsewhereError,
    Followed,
    Kept,
    ListedPaper,
    PaperSet,
    ReadingError,
    ReadingStore,
    ReadingSummary,
    keep_notes,
    with_notes,
)
from assistant.storage.spending import (
    Balance,
    SpendingError,
    SpendingLimitError,
    SpendingLimits,
    SpendingStore,
    describe_limits,
)

__all__ = [
    "LONGEST_NOTE", "READING_KINDS", "Balance", "ChangedElsewhereError", "ComparisonStore",
    "ComparisonSummary", "ConversationStore", "ConversationSummary", "Followed", "Kept", "KeptLibrary",
    "LibraryError", "LibraryStore", "LibrarySummary", "ListedPaper", "OverLibrary", "OwnedStore", "PaperSet",
    "Quota", "RateStore", "ReadingError", "ReadingStore", "ReadingSummary", "RenamedError", "SpendingError",
    "SpendingLimitError", "SpendingLimits", "SpendingStore", "StoredComparison", "StoredConversation",
    "StoredLibrary", "TakenUpError", "describe_limits", "keep_notes", "mark_of", "new_id", "take_from",
    "tidy_title", "with_notes", "with_verdict", "with_wrong_citation", "without_wrong_citation"
]  # fmt: skip
