"""The seam for what writes answers."""

from collections.abc import Generator as Iteration
from typing import Protocol

from assistant.ranking.evidence import RankedEvidence
from assistant.records import CallLog, Draft, Rewrite, Turn

# The name of what needs no model, whether it answers or compares.
EXTRACTIVE = "extractive"
# A context in which every prompt and every reply fits: where no model is asked.
ANY_LENGTH = 10**9
# Searches for parts of one question that the first search left open.
MOST_SECOND_SEARCHES = 2


def uses_model(name: str) -> bool:
    """Return True if a generator of that name asks a model, as a trail or a request names it."""
    return name != EXTRACTIVE


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
    def writes_freely(self) -> bool:
        """Whether it may write what no paper says: its citations are found, and its claims checked."""
        ...

    @property
    def asks_model(self) -> bool:
        """Whether a model is asked anew each time, which takes a while, and whose drafts differ."""
        ...

    @property
    def is_small(self) -> bool:
        """Whether it is a model so small that its answers are checked carefully, unless asked otherwise."""
        ...

    @property
    def is_slow(self) -> bool:
        """Whether its first words may take longer than a reader likes to wait, as far as is known."""
        ...

    @property
    def searches_again(self) -> bool:
        """Whether a part of a question that is left open is searched for again, unless asked otherwise."""
        ...

    def for_sampling(self) -> "Generator":
        """Return this generator, warm enough for drafts that differ; itself where they never do."""
        ...

    def rewrite_question(self, question: str, history: tuple[Turn, ...], log: CallLog) -> Rewrite:
        """Return the search query for `question` in the light of `history` (oldest turn first)."""
        ...

    def query_for_part(self, part: str, rewrite: Rewrite, log: CallLog) -> str:
        """Return the query of a second search, for the open `part` of the question `rewrite`."""
        ...

    def write_draft(
        self, found: RankedEvidence, history: tuple[Turn, ...], log: CallLog
    ) -> Iteration[str, None, Draft]:
        """Yield the draft of an answer to the question that evidence was found for, then return it whole."""
        ...
