"""Questions as jobs: started with a keeper that stores the turn, settled when done, and stopped."""

import logging
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace

from assistant.records import AssistantError, Event, Turn
from assistant.storage.conversations import ConversationStore
from assistant.storage.owned import new_id
from explorer.app.resources import Library, jobs, questions_limit
from explorer.app.session import Visitor, current_caller, current_owner, current_owners
from explorer.app.visitor.conversation import Failure, Waiting, holds, without
from explorer.app.visitor.session import VisitorSession
from explorer.ask.choices import Choices
from explorer.jobs.question import Keep, Kept, QuestionJob, QuestionView, TurnKeeper, may_succeed_again
from explorer.jobs.runner import StoppingError
from explorer.presenters.import_validation import drawable
from explorer.uploads.kept import read_kept

STOPPED = "Stopped. Nothing of this question was kept in the conversation."
LOST = "The question was lost: the server no longer knows it. Ask it again."
LEFT = (
    "No answer has come of this question: the server was stopped meanwhile, or another of its processes is "
    "still at it. Ask it again, or look again in a minute."
)

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class QuestionNote:
    """The record of a running question in the store, from which its loss is reported after a crash.

    Does nothing for a conversation that is not stored; a failure of the store is only logged.
    """

    library: Library
    conversation_id: str
    identifier: str = field(default_factory=new_id)

    def write(self, question: str) -> None:
        server = jobs().server
        self._try(lambda store: store.begin_question(self.identifier, self.conversation_id, question, server))

    def forget(self) -> None:
        self._try(lambda store: store.end_question(self.identifier))

    def _try(self, do: Callable[[ConversationStore], None]) -> None:
        if not self.conversation_id:
            return
        try:
            do(self.library.conversations())
        except AssistantError as error:
            logger.warning("a question on its way is not noted: %s", error)


def start(library: Library, visitor: Visitor, choices: Choices, waiting: Waiting) -> None:
    """Start the job of a question; on failure keep the question with the reason."""
    visitor.update(VisitorSession.send)
    try:
        if visitor.now.library_id and library.kept is None:
            # Raises the reason why this library cannot be asked.
            read_kept(library, visitor, visitor.now.library_id)
        scope = choices.options.scope if waiting.scope is None else waiting.scope
        options = replace(choices.options, scope=scope, search_query=waiting.query)
        owner = current_owner(visitor)
        account = library.account(choices.writer, owner, "question")
        price = library.question_price(choices.writer, choices.parameters, options)
        account.check(price)
        assistant = library.assistant(choices.writer, choices.parameters, owner, account.on_cost)
        _take_turns_from_elsewhere(library, visitor)
        replaces = replaced_by(waiting, visitor.now.turns)
        history = visitor.now.turns[:-1] if replaces else visitor.now.turns
        with questions_limit().counting(current_caller(visitor)):
            job = _begin(
                library,
                visitor,
                waiting,
                replaces,
                lambda: account.paying(price, lambda: assistant.ask(waiting.question, history, options)),
            )
        visitor.update(VisitorSession.begin, job.identifier, replaces)
    except AssistantError as error:
        failure = Failure(
            waiting.question,
            str(error),
            can_retry=may_succeed_again(error),
            search_query=waiting.query,
            replaces=waiting.replaces,
        )
        visitor.update(VisitorSession.refuse, failure)


def _begin(
    library: Library,
    visitor: Visitor,
    waiting: Waiting,
    replaces: Turn | None,
    events: Callable[[], Iterator[Event]],
) -> QuestionJob:
    """Start a job, with a note in the store until it ends; raises AssistantError."""
    # First: for the first question, `keep_of` creates the stored conversation and sets its id.
    keep = keep_of(library, visitor, waiting.question, replaces)
    note = QuestionNote(library, visitor.now.conversation_id if visitor.now.is_kept else "")
    job = QuestionJob(
        waiting.question,
        waiting.query,
        keep=keep,
        replaces=replaces,
        subject=visitor.now.conversation_id,
        starter=current_owner(visitor),
        identifier=note.identifier,
        on_over=note.forget,
    )
    note.write(waiting.question)
    try:
        jobs().start(job, events)
    except StoppingError:
        # Another process soon serves the page: it finds the note and offers to ask again.
        raise
    except AssistantError:
        note.forget()
        raise
    return job


def _take_turns_from_elsewhere(library: Library, visitor: Visitor) -> None:
    """Add the stored turns that another tab or browser has added to the conversation."""
    try:
        stored = library.conversations().read(visitor.now.conversation_id) if visitor.now.is_kept else None
    except AssistantError:
        return
    if stored:
        visitor.update(VisitorSession.add_turns, drawable(stored.conversation)[0].turns)


def keep_of(library: Library, visitor: Visitor, question: str, replaces: Turn | None = None) -> Keep:
    """Return the function that stores the next turn, in place of `replaces` if given.

    Creates the stored conversation for its first turn. Questions about uploads are not stored.
    """
    if visitor.now.is_private:
        return lambda _turn: Kept()
    try:
        store = library.conversations()
        if not visitor.now.is_kept:
            title = visitor.now.title or visitor.now.named_after(question)
            begun = store.start(current_owner(visitor), title, visitor.now.library_id)
            visitor.update(VisitorSession.begin_storing, begun.id, begun.title)
    except AssistantError as error:
        unkept, problem = without(visitor.now.unkept, replaces), str(error)
        return lambda turn: Kept((*unkept, turn), problem)
    stored = None if replaces and holds(visitor.now.unkept, replaces) else replaces
    unkept = without(visitor.now.unkept, replaces)
    return TurnKeeper(store, visitor.now.conversation_id, unkept, stored, by=current_owners(visitor)).keep


def replaced_by(waiting: Waiting, turns: tuple[Turn, ...]) -> Turn | None:
    """Return the turn that a question replaces: the last one, unless another has been added since."""
    if waiting.replaces and turns and turns[-1].is_same_as(waiting.replaces):
        return turns[-1]
    return None


def settle(visitor: Visitor) -> bool:
    """Move the turn or failure of a finished job into the session; return True if the job was over."""
    if not visitor.now.job_id:
        return False
    job = jobs().get(visitor.now.job_id)
    if job is None:
        visitor.update(VisitorSession.fail, Failure("", LOST))
        return True
    view = job.view()
    if not view.is_over:
        return False
    if view.turn:
        visitor.update(VisitorSession.take, view.turn)
        visitor.update(VisitorSession.store, view.kept.unkept, view.kept.problem)
    else:
        visitor.update(VisitorSession.fail, failure_of(view))
    return True


def failure_of(view: QuestionView) -> Failure:
    """Return the failure of a question that was stopped or failed."""
    message = view.error if view.state == "failed" else STOPPED
    return Failure(
        view.question, message, view.text, can_retry=view.can_retry, search_query=view.search_query
    )


def stop(visitor: Visitor) -> None:
    """Stop the running question, unless it has just been answered; its worker thread ends by itself."""
    if settle(visitor):
        return
    if job := jobs().get(visitor.now.job_id):
        job.stop()
        view = job.view()
        if view.turn:
            settle(visitor)
        else:
            visitor.update(VisitorSession.fail, failure_of(view))
