"""Questions of API programs: answered within the limits of their key, stored, streamed by event."""

import asyncio
from collections.abc import AsyncGenerator, Callable
from concurrent.futures import Future
from contextlib import aclosing
from dataclasses import dataclass
from functools import lru_cache

from fastapi import Request
from pydantic import Field
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response

from assistant.records import Answered, AssistantError, Conversation, Event, Turn
from assistant.serving.answers import EVENT_NAMES, AnswerDocument, answer_document, event_document
from assistant.serving.operations import NotFoundError, begin_question, check_writer
from assistant.serving.requests import AskRequest
from assistant.storage.conversations import ConversationStore
from corpus.errors import CorpusError
from corpus.settings import read_settings
from explorer.api.errors import BUSY, Problem, in_store, problem_of, problem_reply, reply
from explorer.api.keys import Program, counting_question
from explorer.api.slots import thread_of
from explorer.api.streams import STILL_HERE, EventQueue, EventStream, as_event
from explorer.app.base_path import base_path
from explorer.app.resources import open_library
from explorer.jobs.question import Kept, QuestionJob, QuestionView
from explorer.jobs.runner import JobRunner, Share

ID_PATTERN = r"^[A-Za-z0-9_-]{1,64}$"
_MOST_WAITING = 16


class AskForm(AskRequest):
    """A question, which may go on with a conversation; unless it is not to be kept it is stored in one."""

    conversation: str = Field(
        default="",
        pattern=r"^(?:[A-Za-z0-9_-]{1,64})?$",
        description="The id of a conversation to go on with.",
    )
    keep: bool = Field(default=True, description="Whether to store the answer, so that its trail can be had.")


@dataclass(frozen=True, slots=True)
class AskedDocument:
    """An answer, the conversation it is stored in (empty for none) with its trail, or why it is not."""

    conversation: str
    trail: str
    problem: str
    answer: AnswerDocument


class TurnStore:
    """Stores one turn in an existing conversation, or in a new one of the program."""

    def __init__(self, store: ConversationStore | None, owner: str, conversation: str) -> None:
        self.conversation = conversation
        self._store, self._owner = store, owner

    def keep(self, turn: Turn) -> Kept:
        if self._store is None:
            return Kept()
        try:
            self.conversation = self.conversation or self._store.start(self._owner, turn.question).id
            self._store.add_turn(self.conversation, turn)
        except AssistantError as error:
            return Kept((turn,), str(error))
        return Kept()


class ProgramQuestion(QuestionJob):
    """A question of a program; its events are passed to `put`, and None when it is over."""

    kind = "program_question"
    crash_message = (
        "Paper Trail itself failed on this question. Ask it again; if it happens again, tell whoever runs "
        "this server to look for {reference} in its log."
    )

    def __init__(
        self, question: str, put: Callable[[Event | None], None], turns: TurnStore, owner: str
    ) -> None:
        self.turns = turns
        self.problem: Problem | None = None
        self._put = put
        super().__init__(question, keep=turns.keep, starter=owner)

    def take(self, view: QuestionView, event: Event) -> QuestionView:
        view = super().take(view, event)
        self._put(event)
        return view

    def fail(self, view: QuestionView, error: AssistantError | CorpusError) -> QuestionView:
        self.problem = self.problem or problem_of(error)
        return super().fail(view, error)

    def release_waiters(self) -> None:
        self._put(None)

    def record_crash(self, future: "Future[None]") -> None:
        if not future.cancelled() and future.exception():
            self.problem = Problem(500, "internal", "")
        super().record_crash(future)
        if self.problem and not self.problem.message:
            self.problem = Problem(500, "internal", self.view().error)
        self._put(None)

    def asked(self, turn: Turn) -> AskedDocument:
        """Return the document that ends the stream: the answer and where it is stored."""
        problem = self.view().kept.problem
        conversation = "" if problem else self.turns.conversation
        trail = f"{base_path()}/api/v1/conversations/{conversation}/trail" if conversation else ""
        return AskedDocument(conversation, trail, problem, answer_document(turn))


@lru_cache(maxsize=1)
def _jobs(at_once: int, keys: int) -> JobRunner[ProgramQuestion]:
    """Return the runner of API questions, apart from that of visitors so that neither waits for the other.

    Each of `keys` API keys has an equal share of it.
    """
    running = max(1, at_once // keys)
    share = Share(running, running + max(1, _MOST_WAITING // keys))
    return JobRunner("program", BUSY, workers=at_once, most_waiting=at_once + _MOST_WAITING, share=share)


async def ask(request: Request, form: AskForm, program: Program) -> Response:
    """Return the complete answer to a question."""
    job, queue = await _start(form, program)
    async with aclosing(_events(request, job, queue)) as events:
        async for event in events:
            if isinstance(event, Answered):
                return reply(await run_in_threadpool(job.asked, event.turn))
    return problem_reply(job.problem or _stopped_problem())


async def ask_events(request: Request, form: AskForm, program: Program) -> Response:
    """Stream the events of a question."""
    job, queue = await _start(form, program)
    return EventStream(_lines(request, job, queue))


async def _start(form: AskForm, program: Program) -> tuple[ProgramQuestion, EventQueue]:
    """Start the job of a question and return it with its events; raises AssistantError and CorpusError."""
    queue = EventQueue()
    with thread_of(program):
        return await run_in_threadpool(_begin, form, program, queue), queue


def _begin(form: AskForm, program: Program, queue: EventQueue) -> ProgramQuestion:
    library, options = open_library(), form.options()
    check_writer(library.writers(), form.writer)
    store = in_store(library.conversations) if form.keep or form.conversation else None
    history = _history(store, form.conversation, program)
    account = library.account(form.writer, program.owner, "question")
    price = library.question_price(form.writer, None, options)
    assistant = library.assistant(form.writer, None, program.owner, account.on_cost)
    events = begin_question(assistant, form, history)
    account.check(price)
    turns = TurnStore(store if form.keep else None, program.owner, form.conversation)
    job = ProgramQuestion(form.question, queue.put, turns, program.owner)
    settings = read_settings()
    runner = _jobs(settings.api_questions_at_once, len(settings.api_keys))
    with counting_question(program):
        runner.start(job, lambda: account.paying(price, lambda: events))
    return job


def _history(store: ConversationStore | None, conversation: str, program: Program) -> tuple[Turn, ...]:
    if store is None or not conversation:
        return ()
    return own_conversation(store, conversation, program).turns


def own_conversation(store: ConversationStore, identifier: str, program: Program) -> Conversation:
    """Return a program's own conversation; raises NotFoundError."""
    owner = in_store(lambda: store.owner_of(identifier))
    conversation = in_store(lambda: store.get(identifier)) if program.owns(owner) else None
    if conversation is None:
        raise NotFoundError("Your key has no such conversation. An answer that is kept says which it is in.")
    return conversation


async def _events(
    request: Request, job: ProgramQuestion, queue: EventQueue
) -> AsyncGenerator[Event | None, None]:
    """Yield the events of a question, None after each wait without one; stop it if the client disconnects."""
    leaving = asyncio.create_task(_end_on_disconnect(request, queue))
    try:
        while True:
            try:
                event = await queue.next()
            except TimeoutError:
                yield None
                continue
            if event is None:
                return
            yield event
    finally:
        leaving.cancel()
        # In a thread: the job's lock is held while an answer is stored.
        asyncio.get_running_loop().run_in_executor(None, job.stop)


async def _end_on_disconnect(request: Request, queue: EventQueue) -> None:
    """End the queue when the client disconnects; after the body nothing else is received."""
    while (await request.receive())["type"] != "http.disconnect":
        pass
    queue.put(None)


async def _lines(request: Request, job: ProgramQuestion, queue: EventQueue) -> AsyncGenerator[str, None]:
    async with aclosing(_events(request, job, queue)) as events:
        async for event in events:
            if isinstance(event, Answered):
                yield as_event("answered", await run_in_threadpool(job.asked, event.turn))
                return
            document = event_document(event) if event else None
            yield as_event(EVENT_NAMES[type(document)], document) if document else STILL_HERE
    yield as_event("error", (job.problem or _stopped_problem()).document)


def _stopped_problem() -> Problem:
    return Problem(503, "busy", "The question was stopped before it was answered. Ask it again.", 1)
