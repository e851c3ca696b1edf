"""The Ask screen: scope, conversation, the answer being written, and the evidence beside it."""

from dataclasses import replace

import streamlit as st

from assistant.records import AskOptions, AssistantError
from corpus.records import Scope
from explorer.asking.answers import draw_failure, draw_running, draw_turn
from explorer.asking.choices import Choices, draw_choices, filter_labels
from explorer.asking.conversations import (
    draw_notes,
    draw_sidebar,
    follow_address,
    keep_of,
    take_turns_from_elsewhere,
)
from explorer.asking.trail import draw_calls
from explorer.evidence import render_evidence
from explorer.parts.coverage import asked_about, collections_in, covered, listed, names_papers
from explorer.parts.examples import Example, example_questions
from explorer.parts.imported import draw_imported
from explorer.parts.jobs import Job, JobView, may_succeed_again
from explorer.parts.listener import listen
from explorer.parts.safe_text import escaped, shortened
from explorer.parts.score_bar import meaning
from explorer.parts.wording import collection_facts, counted
from explorer.reader import TURNS_SHOWN, Failure, Reader, current_owner
from explorer.resources import Library, jobs

POLL_SECONDS = 0.2
# More than the assistant takes: its refusal says what is wrong, where the box would just not send.
LONGEST_TYPED = 20_000
ANOTHERS = (
    "This conversation was begun in another browser. What you ask here is added to it; only there can it be "
    "renamed or deleted."
)
STOPPED = "Stopped. Nothing of this question was kept in the conversation."


def render_ask(library: Library, reader: Reader) -> None:
    """Draw the Ask screen."""
    follow_address(library, reader)
    settle(reader)
    _measure(reader)
    choices = draw_choices(library, reader)
    if reader.waiting_question and not reader.job_id:
        start(library, reader, choices)
    wide = bool(reader.turns or reader.job_id or reader.failure)
    talk, side = st.columns([0.58, 0.42], gap="large") if wide else (st.container(), st.container())
    with talk:
        _draw_conversation(library, reader, choices.options.scope)
    with side:
        render_evidence(library, reader)
    draw_calls(reader)
    draw_sidebar(library, reader)
    with st.bottom:
        st.chat_input(
            "Answering your question …"
            if reader.job_id
            else shortened(asked_about(library.corpus, choices.options.scope), 90),
            key="question_box",
            max_chars=LONGEST_TYPED,
            disabled=bool(reader.job_id),
            on_submit=_take_question,
            args=(reader,),
        )


def _measure(reader: Reader) -> None:
    """Find out whether the screen is narrow, for all of it: the panel's own listener tells only the panel."""
    with st.container(key="measure"):
        heard = listen("ask_width_listener", narrow=reader.narrow)
    reader.narrow = heard.narrow


def start(library: Library, reader: Reader, choices: Choices) -> None:
    """Give the waiting question to a worker; when that fails, keep it with the reason."""
    question, own_query = reader.waiting_question, reader.waiting_query
    options = options_of(reader, choices)
    reader.waiting_question, reader.waiting_query, reader.waiting_scope = "", "", None
    reader.failure, reader.focus, reader.drawer_open = None, None, False
    try:
        assistant = library.assistant(choices.writer, choices.parameters, current_owner(reader))
        keep = keep_of(library, reader, question)
        job = Job(question, options, reader.conversation_id, keep, current_owner(reader))
        take_turns_from_elsewhere(library, reader)
        reader.job_id = jobs().start(assistant, reader.turns, job)
    except AssistantError as error:
        reader.failure = Failure(
            question, str(error), can_retry=may_succeed_again(error), search_query=own_query
        )


def options_of(reader: Reader, choices: Choices) -> AskOptions:
    """Return how the waiting question is asked: as chosen, but for a query and a scope of its own."""
    scope = choices.options.scope if reader.waiting_scope is None else reader.waiting_scope
    return replace(choices.options, scope=scope, search_query=reader.waiting_query)


def settle(reader: Reader) -> bool:
    """Take a finished question out of its job: a whole turn, or a failure that keeps the question."""
    if not reader.job_id:
        return False
    job = jobs().get(reader.job_id)
    if job is None:
        reader.job_id = ""
        reader.failure = Failure("", "The question was lost: the server no longer knows it. Ask it again.")
        return True
    view = job.view()
    if not view.is_over:
        return False
    reader.job_id = ""
    if view.turn:
        _take_turn(reader, view)
    else:
        reader.failure = failure_of(view)
    return True


def _take_turn(reader: Reader, view: JobView) -> None:
    """Add a turn to the conversation, once: it may have come out of the store before its job was asked."""
    if view.turn and (view.turn.asked, view.turn.question) not in {
        (turn.asked, turn.question) for turn in reader.turns
    }:
        reader.turns = (*reader.turns, view.turn)
    reader.unkept = view.kept.unkept
    reader.notes = (view.kept.problem,) if view.kept.problem else ()


def failure_of(view: JobView) -> Failure:
    """Return what to say about a question that was stopped or failed."""
    message = STOPPED if view.state == "stopped" else view.error
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
            return
        reader.failure = Failure(view.question, STOPPED, view.text, search_query=view.search_query)
    reader.job_id = ""


def _take_question(reader: Reader) -> None:
    reader.ask(str(st.session_state.get("question_box") or ""))


def _draw_conversation(library: Library, reader: Reader, scope: Scope) -> None:
    last = len(reader.turns) if not reader.job_id else 0
    first = max(0, len(reader.turns) - reader.turns_shown)
    if reader.is_anothers:
        st.caption(ANOTHERS)
    if reader.is_imported:
        draw_imported("conversation", "conversation.json")
    if first:
        st.button(
            f"Show earlier questions: {first} more",
            key="show_earlier",
            type="tertiary",
            icon=":material/expand_less:",
            on_click=_show_earlier,
            args=(reader,),
        )
    for number, turn in enumerate(reader.turns[first:], start=first + 1):
        with st.container(key=_place(number, is_latest=number == last)):
            draw_turn(library, reader, number, turn, is_last=number == last)
    draw_notes(library, reader)
    if reader.job_id:
        with st.container(key=_place(len(reader.turns) + 1, is_latest=True)):
            st.fragment(_draw_live, run_every=POLL_SECONDS)(reader)
    elif reader.failure:
        draw_failure(reader, reader.failure)
    elif not reader.turns and not reader.missing_id:
        _draw_first_visit(library, reader, scope)


def _show_earlier(reader: Reader) -> None:
    reader.turns_shown += TURNS_SHOWN


def _place(number: int, *, is_latest: bool) -> str:
    """Return the key of a turn's container; a later turn that is the latest gets room to be scrolled up."""
    return f"latest_{number}" if is_latest and number > 1 else f"turn_{number}"


def _draw_live(reader: Reader) -> None:
    """Draw the question on its way; when it is answered or has been stopped, draw the whole screen anew."""
    if settle(reader) or not reader.job_id:
        st.rerun()
    if job := jobs().get(reader.job_id):
        draw_running(job.view(), len(reader.turns) + 1)
    if may_stop(reader):
        st.button("Stop", key="stop", icon=":material/stop_circle:", on_click=stop, args=(reader,))


def _draw_first_visit(library: Library, reader: Reader, scope: Scope) -> None:
    with st.container(key="reading_first_visit"):
        if names_papers(scope):
            _draw_papers_asked(library, scope)
        else:
            _draw_first_questions(library, reader, scope)
        st.caption(meaning())


def _draw_papers_asked(library: Library, scope: Scope) -> None:
    """Say which papers are asked; questions about other papers would not be answered from them."""
    st.title(escaped(asked_about(library.corpus, scope)), anchor=False)
    titles = covered(library.corpus, scope)
    if len(titles) > 1:
        st.markdown(listed(titles))
    st.markdown("Every sentence of an answer leads to the passage that carries it.")


def _draw_first_questions(library: Library, reader: Reader, scope: Scope) -> None:
    summaries = collections_in(library.corpus.collections(), scope)
    st.title("Ask the papers", anchor=False)
    st.markdown(
        f"Every sentence of an answer leads to the passage that carries it. "
        f"{escaped(collection_facts(summaries))}."
    )
    examples = example_questions(library.corpus, [one.collection.id for one in summaries])
    if examples:
        st.markdown("Some questions to begin with:")
        draw_examples(reader, examples, scope.collections)


def draw_examples(reader: Reader, examples: tuple[Example, ...], within: tuple[str, ...]) -> None:
    """Draw questions that are asked with one click, in the collections `within` (none: in all)."""
    with st.container(key="examples"):
        for number, example in enumerate(examples, start=1):
            st.button(
                escaped(example.question),
                key=f"example_{number}",
                icon=":material/arrow_forward:",
                type="tertiary",
                on_click=ask_example,
                args=(reader, example, within),
            )


def ask_example(reader: Reader, example: Example, within: tuple[str, ...]) -> None:
    """Ask an example where it belongs, whatever papers were asked about before."""
    reader.ask(example.question)
    reader.asked_about, reader.asked_within = (), Scope()
    st.session_state["scope_collections"] = [example.collection] if example.collection else list(within)


def ask_about(reader: Reader, paper_ids: tuple[str, ...]) -> None:
    """Restrict the next questions to some papers."""
    reader.asked_about, reader.asked_within = paper_ids, Scope()
    st.session_state["scope_papers"] = list(paper_ids)
    st.session_state["scope_collections"] = []


def ask_within(reader: Reader, scope: Scope) -> None:
    """Restrict the next questions to the papers that a filter lists."""
    reader.asked_about, reader.asked_within = (), scope
    st.session_state["scope_filter"] = list(filter_labels(scope))
    st.session_state["scope_collections"] = list(scope.collections)


def papers_picked(reader: Reader) -> str:
    return f"{counted(len(reader.picked), 'paper')} selected"
