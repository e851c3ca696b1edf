"""The seam for what writes answers."""

from collections.abc import Generator as Iteration
from typing import Protocol

from assistant.records import CallLog, Draft, Evidence, Rewrite, Turn

# The name of what needs no model, whether it answers or compares.
EXTRACTIVE = "extractive"
# A context in which every prompt and every reply fits: where no model is asked.
ANY_LENGTH = 10**9
# Searches for parts of one question that the first search left open.
MOST_SECOND_SEARCHES = 2


class Generator(Protocol):
    """A writer, which rewrites questions and drafts answers: a model with prompts, or the extractive one."""

    @property
    def name(self) -> str:
        """The name it is chosen by ("extractive", or a model's id)."""
        ...

    @property
    def label(self) -> str:
        """The name readers see."""
        ...

    @property
    def searches_again(self) -> bool:
        """Whether a part of a question that is left open is searched for again, unless asked otherwise."""
        ...

    def rewrite_question(self, question: str, history: tuple[Turn, ...], log: CallLog) -> Rewrite:
        """Return the search query for `question` in the light of `history` (oldest turn first)."""
        ...

    def query_for_part(self, part: str, rewrite: Rewrite, log: CallLog) -> str:
        """Return the query of a second search, for the open `part` of the question `rewrite`."""
        ...

    def write_draft(
        self, rewrite: Rewrite, history: tuple[Turn, ...], evidence: Evidence, log: CallLog
    ) -> Iteration[str, None, Draft]:
        """Yield the draft of an answer to `rewrite.question` piece by piece, then return it whole."""
        ...
