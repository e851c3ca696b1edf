"""The protocol of writers of answers."""

from collections.abc import Generator as Iteration
from typing import Protocol

from assistant.ranking.evidence import RankedEvidence
from assistant.records import CallLog, Draft, Rewrite, Turn

# The name of the writer and of the comparer that need no model.
EXTRACTIVE = "extractive"
# A context that fits every prompt and reply, where no model is asked.
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

    @property
    def label(self) -> str:
        """The name readers see."""

    @property
    def writes_freely(self) -> bool:
        """Whether it may write claims that no paper supports, so that these are checked and mended."""

    @property
    def asks_model(self) -> bool:
        """Whether it asks a model, which takes a while and whose drafts differ."""

    @property
    def is_small(self) -> bool:
        """Whether it is a small model: then answers are checked carefully by default."""

    @property
    def is_slow(self) -> bool:
        """Whether its first words may take too long for a waiting reader."""

    @property
    def searches_again(self) -> bool:
        """Whether open parts of a question get a second search by default."""

    def for_sampling(self) -> "Generator":
        """Return this generator at a temperature for different drafts; itself if it is deterministic."""

    def rewrite_question(self, question: str, history: tuple[Turn, ...], log: CallLog) -> Rewrite:
        """Return the search query for `question` in the light of `history` (oldest turn first)."""

    def query_for_part(self, part: str, rewrite: Rewrite, log: CallLog) -> str:
        """Return the query of a second search for the open `part` of the question."""

    def write_draft(
        self, found: RankedEvidence, history: tuple[Turn, ...], log: CallLog
    ) -> Iteration[str, None, Draft]:
        """Yield the pieces of a draft of an answer from the evidence, then return the draft."""
