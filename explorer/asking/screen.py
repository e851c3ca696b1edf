"""The Ask screen: scope, conversation, the answer being written, and the evidence beside it."""

from functools import partial

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from corpus.records import Scope
from explorer.asking.actions import draw_taken_off
from explorer.asking.answers import draw_failure, draw_running, draw_turn
from explorer.asking.choices import draw_choices, filter_labels
from explorer.asking.conversations import (
    draw_notes,
    draw_sidebar,
    follow_address,
)
from explorer.asking.follow_ups import draw_follow_ups
from explorer.asking.runs import may_stop, settle, start, stop
from explorer.asking.trail import draw_calls
from explorer.documents.choosing import draw_not_stored, draw_own_first_visit
from explorer.documents.panel import draw_documents
from explorer.documents.visit import ask_collection, ask_place_of, library_asked
from explorer.evidence import render_evidence
from explorer.parts.coverage import asked_about, collections_in, covered, listed, names_papers
from explorer.parts.examples import Example, example_questions
from explorer.parts.imported import draw_imported
from explorer.parts.listener import listen
from explorer.parts.safe_text import escaped, shortened
from explorer.parts.score_bar import IN_SHORT
from explorer.parts.wording import collection_facts, counted
from explorer.reader import TURNS_SHOWN, Reader
from explorer.resources import Library, jobs

POLL_SECONDS = 0.2
# More than the assistant takes: its refusal says what is wrong, where the box would just not send.
LONGEST_TYPED = 20_000
ANOTHERS = (
    "This conversation was begun in another browser. What you ask here is added to it; only there can it be "
    "renamed or deleted."
)


def render_ask(library: Library, reader: Reader) -> None:
    """Draw the Ask screen."""
    follow_address(library, reader)
    settle(reader)
    library = library_asked(library, reader)
    _measure(reader)
    choices = draw_choices(library, reader)
    if reader.waiting and not reader.job_id:
        start(library, reader, choices, reader.waiting)
    wide = bool(reader.turns or reader.job_id or reader.failure)
    talk, side = st.columns([0.58, 0.42], gap="large") if wide else (st.container(), st.container())
    with talk:
        next_questions = _draw_conversation(library, reader, choices.options.scope)
    with side:
        render_evidence(library, reader)
    draw_calls(reader)
    draw_documents(library, reader)
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
    if next_questions:
        draw_follow_ups(library, reader, next_questions)


def _measure(reader: Reader) -> None:
    """Find out whether the screen is narrow, for all of it: the panel's own listener tells only the panel."""
    with st.container(key="measure"):
        heard = listen("ask_width_listener", narrow=reader.narrow)
    if heard.narrow != reader.narrow:
        reader.narrow = heard.narrow
        # The page has to learn what is believed now: it reports only what differs.
        st.rerun()


def _take_question(reader: Reader) -> None:
    reader.ask(str(st.session_state.get("question_box") or ""))


def _draw_conversation(library: Library, reader: Reader, scope: Scope) -> DeltaGenerator | None:
    """Draw the conversation; return where questions to go on with belong, None where there are none yet."""
    below_last = None
    last = len(reader.turns) if not reader.job_id else 0
    first = max(0, len(reader.turns) - reader.turns_shown)
    if reader.is_anothers:
        st.caption(ANOTHERS)
    if reader.is_private and (reader.turns or reader.job_id):
        draw_not_stored()
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
            # The fragment that draws a question on its way is a container too: in another place the answer
            # would stand there twice for a moment.
            with st.container():
                draw_turn(library, reader, number, turn, is_last=number == last)
            if number == last:
                below_last = st.container()
    draw_notes(library, reader)
    if reader.job_id:
        with st.container(key=_place(len(reader.turns) + 1, is_latest=True)):
            st.fragment(_draw_live, run_every=POLL_SECONDS)(reader)
        return None
    if reader.taken_off:
        draw_taken_off(library, reader, reader.taken_off)
    if reader.failure:
        draw_failure(reader, reader.failure)
    elif not reader.turns and not reader.missing_id:
        _draw_first_visit(library, reader, scope)
    return below_last


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
        draw_running(job.view(), len(reader.turns) + 1, partial(stop, reader) if may_stop(reader) else None)


def _draw_first_visit(library: Library, reader: Reader, scope: Scope) -> None:
    with st.container(key="reading_first_visit"):
        if library.is_own:
            draw_own_first_visit(library)
        elif names_papers(scope):
            _draw_papers_asked(library, scope)
        else:
            _draw_first_questions(library, reader, scope)
        st.caption(IN_SHORT)


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
    ask_collection(reader)
    reader.ask(example.question)
    reader.asked_about, reader.asked_within = (), Scope()
    st.session_state["scope_collections"] = [example.collection] if example.collection else list(within)


def ask_about(reader: Reader, paper_ids: tuple[str, ...]) -> None:
    """Restrict the next questions to some papers."""
    ask_place_of(reader, paper_ids)
    reader.asked_about, reader.asked_within = paper_ids, Scope()
    st.session_state["scope_documents" if reader.is_private else "scope_papers"] = list(paper_ids)
    st.session_state["scope_collections"] = []


def ask_within(reader: Reader, scope: Scope) -> None:
    """Restrict the next questions to the papers that a filter lists."""
    ask_collection(reader)
    reader.asked_about, reader.asked_within = (), scope
    st.session_state["scope_filter"] = list(filter_labels(scope))
    st.session_state["scope_collections"] = list(scope.collections)


def papers_picked(reader: Reader) -> str:
    return f"{counted(len(reader.picked), 'paper')} selected"
