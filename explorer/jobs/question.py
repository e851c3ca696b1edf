"""Questions as jobs, whose turns are stored when complete."""

import logging
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from assistant.models.protocol import ModelError
from assistant.records import (
    Answered,
    AssistantError,
    Checking,
    Event,
    Quick,
    Retrieved,
    Rewrite,
    Rewritten,
    Step,
    StepTime,
    Turn,
    Written,
)
from assistant.storage.conversations import ConversationStore
from assistant.storage.spending import SpendingError
from corpus.errors import CorpusError
from corpus.records import PaperHits
from explorer.jobs.rate_limit import TooSoonError
from explorer.jobs.runner import Job, JobRunner, JobView, Share, TooManyJobsError
from explorer.observing.events import WorkOver

logger = logging.getLogger(__name__)

CRASHED = "This answer could not be stored. The log of the server says why."


def question_runner(**limits: Any) -> "JobRunner[QuestionJob]":
    """Return the runner of questions."""
    full = (
        "Too many questions are being answered at the moment. Your question is kept; ask again in a minute."
    )
    usual: dict[str, Any] = {"share": Share(running=3, under_way=16)}
    return JobRunner("question", full, **usual | limits)


def may_succeed_again(error: AssistantError | CorpusError) -> bool:
    """Return True if asking the same question again may succeed."""
    # After a SpendingError: with a writer that costs nothing.
    return isinstance(error, ModelError | TooManyJobsError | TooSoonError | SpendingError | CorpusError)


@dataclass(frozen=True, slots=True)
class Kept:
    """The result of storing a turn: the turns that are still not stored, and the reason."""

    unkept: tuple[Turn, ...] = ()
    problem: str = ""


Keep = Callable[[Turn], Kept]


@dataclass(frozen=True, slots=True)
class TurnKeeper:
    """Stores the turns of one conversation, first those that could not be stored before (`unkept`).

    The new turn takes the place of the one that it `replaces`. `by` are the owner ids of who asks.
    """

    store: ConversationStore
    conversation_id: str
    unkept: tuple[Turn, ...] = ()
    replaces: Turn | None = None
    by: tuple[str, ...] = ()

    def keep(self, turn: Turn) -> Kept:
        """Store a turn; on failure return the turns that are not stored, with the reason."""
        unstored = (*self.unkept, turn)
        for number, waiting in enumerate(unstored):
            try:
                if waiting is turn and self.replaces:
                    self.store.change_turn(self.conversation_id, self.replaces, turn, self.by)
                else:
                    self.store.add_turn(self.conversation_id, waiting, self.by)
            except AssistantError as error:
                return Kept(unstored[number:], str(error))
        return Kept()


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionView(JobView):
    """The state of a question at one moment; `text` is the unchecked draft so far.

    `done` are the finished steps with their times, `step` is the current one; `replaces` is the turn that is
    to be replaced. `quick` is shown until a slow model has answered. `kept` is the result of storing the
    turn, `search_query` the visitor's own. `first_words` is the time to the first words, in seconds.
    """

    question: str
    search_query: str = ""
    replaces: Turn | None = None
    rewrite: Rewrite | None = None
    papers: tuple[PaperHits, ...] | None = None
    text: str = ""
    turn: Turn | None = None
    can_retry: bool = True
    kept: Kept = field(default_factory=Kept)
    done: tuple[StepTime, ...] = ()
    step: Step = "rewrite"
    first_words: float | None = None
    quick: Turn | None = None

    @property
    def is_complete(self) -> bool:
        return self.turn is not None

    @property
    def step_seconds(self) -> float:
        return self.seconds - self.waited - sum(step.seconds for step in self.done)


class QuestionJob(Job[QuestionView, Event]):
    """One question as a job; `keep` stores its turn before it is shown."""

    kind = "question"
    crash_message = (
        "Paper Trail itself failed on this question. It is kept; try again, and if it happens again, "
        "look for {reference} in the log of the server."
    )

    def __init__(
        self,
        question: str,
        search_query: str = "",
        *,
        keep: Keep = lambda _turn: Kept(),
        replaces: Turn | None = None,
        **job: Any,
    ) -> None:
        self._keep = keep
        super().__init__(QuestionView(question=question, search_query=search_query, replaces=replaces), **job)

    def take(self, view: QuestionView, event: Event) -> QuestionView:
        match event:
            case Rewritten(rewrite):
                return _at_step(replace(view, rewrite=rewrite), "retrieve")
            case Retrieved(papers, second_searches):
                retrieved = replace(view, papers=papers)
                return retrieved if second_searches else _at_step(retrieved, "write")
            case Quick(turn):
                return replace(view, quick=turn)
            case Written(text):
                first = view.seconds if text and view.first_words is None else view.first_words
                return replace(view, text=view.text + text, first_words=first)
            case Checking():
                return _at_step(view, "check")
            case Answered(turn):
                return replace(view, turn=turn, kept=self._stored(turn))

    def over_event(self, view: QuestionView) -> WorkOver:
        over = replace(super().over_event(view), first_words=view.first_words)
        refusal = view.turn.answer.refusal if view.turn else None
        return replace(over, outcome="refused", reason=refusal.reason) if refusal else over

    def fail(self, view: QuestionView, error: AssistantError | CorpusError) -> QuestionView:
        return replace(view, error=str(error), can_retry=may_succeed_again(error))

    def _stored(self, turn: Turn) -> Kept:
        """Store a turn; it is shown even if storing fails with an unexpected error."""
        try:
            return self._keep(turn)
        except Exception:  # an answer that was paid for must not be lost
            logger.exception("an answer could not be stored")
            return Kept((turn,), CRASHED)


def _at_step(view: QuestionView, step: Step) -> QuestionView:
    return replace(view, done=(*view.done, StepTime(view.step, view.step_seconds)), step=step)
