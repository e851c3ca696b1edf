"""Questions on their way to an answer, and their turns put into the store as they are completed."""

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
    """Return True if the same question may be answered at another try; one refused at the door may not."""
    # With another writer it costs nothing.
    passing = ModelError | TooManyJobsError | TooSoonError | SpendingError | CorpusError
    return isinstance(error, passing)


@dataclass(frozen=True, slots=True)
class Kept:
    """The result of storing a turn: the turns that are in no store still, and why."""

    unkept: tuple[Turn, ...] = ()
    problem: str = ""


Keep = Callable[[Turn], Kept]


@dataclass(frozen=True, slots=True)
class TurnKeeper:
    """Puts the turns of one conversation into the store; those it could not put there before come first.

    A turn that `replaces` another takes its place there, once it is complete and not before. `by` are all
    names of who asks.
    """

    store: ConversationStore
    conversation_id: str
    unkept: tuple[Turn, ...] = ()
    replaces: Turn | None = None
    by: tuple[str, ...] = ()

    def keep(self, turn: Turn) -> Kept:
        """Store a turn; when that fails the turn is not lost, but handed back with the reason."""
        waiting = (*self.unkept, turn)
        for number, one in enumerate(waiting):
            try:
                self._put(one, replaces=self.replaces if one is turn else None)
            except AssistantError as error:
                return Kept(waiting[number:], str(error))
        return Kept()

    def _put(self, turn: Turn, replaces: Turn | None) -> None:
        if replaces is None:
            self.store.add_turn(self.conversation_id, turn, self.by)
        else:
            self.store.change_turn(self.conversation_id, replaces, turn, self.by)


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionView(JobView):
    """A question as it stands at one moment; `text` is the draft so far, unchecked.

    `done` are the steps behind it with what each took, `step` is the one it is at; `replaces` is the turn
    whose place its own is to take. `quick` is shown until a slow model has answered. `kept` says what of the
    conversation could not be stored when its turn was complete, `search_query` is the visitor's own.
    `first_words` is the time to the first words, in seconds.
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
        return self.seconds - self.waited - sum(one.seconds for one in self.done)


class QuestionJob(Job[QuestionView, Event]):
    """One question on its way to an answer; `keep` stores its turn before anyone is told of it."""

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
                found = replace(view, papers=papers)
                return found if second_searches else _at_step(found, "write")
            case Quick(turn):
                return replace(view, quick=turn)
            case Written(text):
                first = view.seconds if text and view.first_words is None else view.first_words
                return replace(view, text=view.text + text, first_words=first)
            case Checking():
                return _at_step(view, "check")
            case Answered(turn):
                return replace(view, turn=turn, kept=self._stored(turn))

    def ended_how(self, view: QuestionView) -> WorkOver:
        over = replace(super().ended_how(view), first_words=view.first_words)
        refusal = view.turn.answer.refusal if view.turn else None
        return replace(over, outcome="refused", reason=refusal.reason) if refusal else over

    def fail(self, view: QuestionView, error: AssistantError | CorpusError) -> QuestionView:
        return replace(view, error=str(error), can_retry=may_succeed_again(error))

    def _stored(self, turn: Turn) -> Kept:
        """Store a turn; it is shown even if that fails in a way that nobody foresaw."""
        try:
            return self._keep(turn)
        except Exception:  # an answer that was paid for must not be lost
            logger.exception("an answer could not be stored")
            return Kept((turn,), CRASHED)


def _at_step(view: QuestionView, step: Step) -> QuestionView:
    return replace(view, done=(*view.done, StepTime(view.step, view.step_seconds)), step=step)
