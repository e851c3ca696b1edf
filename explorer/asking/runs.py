"""A question given to a worker, taken out of it again, and stopped."""

from dataclasses import replace

from assistant.records import AskOptions, AssistantError, Turn
from explorer.asking.choices import Choices
from explorer.asking.conversations import keep_of, take_turns_from_elsewhere
from explorer.parts.jobs import Job, JobView, may_succeed_again
from explorer.reader import Failure, Reader, Waiting, current_owner
from explorer.resources import Library, allowance, jobs

STOPPED = "Stopped. Nothing of this question was kept in the conversation."
LOST = "The question was lost: the server no longer knows it. Ask it again."


def start(library: Library, reader: Reader, choices: Choices, waiting: Waiting) -> None:
    """Give a question to a worker; when that fails, keep it with the reason."""
    reader.waiting, reader.failure, reader.focus, reader.drawer_open = None, None, None, False
    try:
        allowance(library.settings).take(current_owner(reader))
        assistant = library.assistant(choices.writer, choices.parameters, current_owner(reader))
        take_turns_from_elsewhere(library, reader)
        replaces = replaced_by(waiting, reader.turns)
        job = Job(
            waiting.question,
            options_of(waiting, choices),
            keep=keep_of(library, reader, waiting.question, replaces),
            conversation_id=reader.conversation_id,
            asker=current_owner(reader),
            replaces=replaces,
        )
        history = reader.turns[:-1] if replaces else reader.turns
        reader.begin(jobs().start(assistant, history, job), replaces)
    except AssistantError as error:
        reader.failure = Failure(
            waiting.question,
            str(error),
            can_retry=may_succeed_again(error),
            search_query=waiting.query,
            replaces=waiting.replaces,
        )


def replaced_by(waiting: Waiting, turns: tuple[Turn, ...]) -> Turn | None:
    """Return the turn that a question replaces: the last, where no other has come after it meanwhile."""
    if waiting.replaces and turns and turns[-1].is_same_as(waiting.replaces):
        return turns[-1]
    return None


def options_of(waiting: Waiting, choices: Choices) -> AskOptions:
    """Return how a question is asked: as chosen, but for a query and a scope of its own."""
    scope = choices.options.scope if waiting.scope is None else waiting.scope
    return replace(choices.options, scope=scope, search_query=waiting.query)


def settle(reader: Reader) -> bool:
    """Take a finished question out of its job: a whole turn, or a failure that keeps the question."""
    if not reader.job_id:
        return False
    job = jobs().get(reader.job_id)
    if job is None:
        reader.fail(Failure("", LOST))
        return True
    view = job.view()
    if not view.is_over:
        return False
    if view.turn:
        reader.take(view.turn)
        reader.unkept = view.kept.unkept
        reader.notes = (view.kept.problem,) if view.kept.problem else ()
    else:
        reader.fail(failure_of(view))
    return True


def failure_of(view: JobView) -> Failure:
    """Return what to say about a question that was stopped or failed."""
    message = view.error if view.state == "failed" else STOPPED
    return Failure(
        view.question, message, view.text, can_retry=view.can_retry, search_query=view.search_query
    )


def may_stop(reader: Reader) -> bool:
    """Tell whether the question on its way is of the reader's own conversation, or was asked by them."""
    job = jobs().get(reader.job_id)
    return not reader.is_anothers or (job is not None and job.asker == current_owner(reader))


def stop(reader: Reader) -> None:
    """Stop the question on its way, unless it has just been answered; its worker ends by itself."""
    if settle(reader):
        return
    if job := jobs().get(reader.job_id):
        job.stop()
        view = job.view()
        if view.turn:
            settle(reader)
        else:
            reader.fail(failure_of(view))
