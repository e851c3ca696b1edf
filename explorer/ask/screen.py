"""The Ask screen: scope, conversation, the answer being written, and the evidence beside it."""

from functools import partial

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from assistant.records import Turn
from assistant.suggestions.follow_up import follow_up_questions
from corpus.errors import CorpusError
from corpus.records import Scope
from explorer.app.resources import Library, jobs
from explorer.app.session import Visitor, field_value, may_stop, set_field
from explorer.app.visitor.conversation import FollowUps
from explorer.app.visitor.session import VisitorSession
from explorer.ask.actions import draw_removed_turn
from explorer.ask.answers import draw_earlier_turn, draw_failure, draw_last_turn, draw_running
from explorer.ask.choices import draw_choices
from explorer.ask.conversations import draw_notes, draw_sidebar, follow_address
from explorer.ask.evidence import key_of_turn, render_evidence
from explorer.ask.runs import settle, start, stop
from explorer.ask.scope import draw_covered, follow_link, scope_address
from explorer.ask.trail import draw_calls
from explorer.components.checked_text import draw_bars
from explorer.components.score_bar import IN_SHORT
from explorer.components.sidebar_list import draw_imported
from explorer.presenters.coverage import (
    Example,
    asked_about,
    collections_in,
    covered,
    example_questions,
    listed,
    names_papers,
)
from explorer.presenters.safe_text import escaped, shortened
from explorer.presenters.wording import collection_facts
from explorer.uploads.choosing import draw_not_stored, draw_upload_first_visit
from explorer.uploads.dialog import draw_documents
from explorer.uploads.visit import ask_collection, library_asked

POLL_SECONDS = 0.2
# More than the assistant accepts: its refusal gives the reason, while the box would just not send.
LONGEST_TYPED = 20_000
ANOTHERS = (
    "This conversation was begun in another browser. What you ask here is added to it; only there can it be "
    "renamed or deleted."
)


def render_ask(library: Library, visitor: Visitor) -> None:
    """Draw the Ask screen."""
    follow_address(library, visitor)
    follow_link(library, visitor)
    settle(visitor)
    library = library_asked(library, visitor)
    choices = draw_choices(library, visitor)
    if visitor.now.waiting and not visitor.now.job_id:
        start(library, visitor, choices, visitor.now.waiting)
    wide = bool(visitor.now.turns or visitor.now.job_id or visitor.now.failure)
    talk, side = st.columns([0.58, 0.42], gap="large") if wide else (st.container(), st.container())
    with talk:
        next_questions = _draw_conversation(library, visitor, choices.options.scope)
    with side:
        render_evidence(library, visitor, scope_address(visitor, choices.options.scope))
    draw_calls(visitor)
    draw_documents(library, visitor)
    draw_sidebar(library, visitor)
    with st.bottom:
        st.chat_input(
            "Answering your question …"
            if visitor.now.job_id
            else shortened(asked_about(library.corpus, choices.options.scope), 90),
            key="question_box",
            max_chars=LONGEST_TYPED,
            disabled=bool(visitor.now.job_id),
            on_submit=_take_question,
            args=(visitor,),
        )
    if next_questions:
        _draw_follow_ups(library, visitor, next_questions)


def _take_question(visitor: Visitor) -> None:
    visitor.update(VisitorSession.ask, str(field_value("question_box") or ""))


def _draw_conversation(library: Library, visitor: Visitor, scope: Scope) -> DeltaGenerator | None:
    """Draw the conversation; return the container for follow-up questions, None if there are none yet."""
    is_unanswered = bool(visitor.now.failure and visitor.now.failure.question)
    first = max(0, len(visitor.now.turns) - visitor.now.turns_shown)
    if visitor.now.is_anothers:
        st.caption(ANOTHERS)
    if visitor.now.is_private and (visitor.now.turns or visitor.now.job_id):
        draw_not_stored()
    if library.kept and (visitor.now.turns or visitor.now.job_id):
        st.caption(f"In the library “{escaped(shortened(library.kept.title, 80))}”")
    if visitor.now.is_imported:
        draw_imported("conversation", "conversation.json")
    if first:
        st.button(
            f"Show earlier questions: {first} more",
            key="show_earlier",
            type="tertiary",
            icon=":material/expand_less:",
            on_click=visitor.update,
            args=(VisitorSession.show_earlier,),
        )
    below_last = _draw_turns(library, visitor, first, is_latest=not is_unanswered)
    draw_notes(library, visitor)
    if visitor.now.job_id:
        with st.container(key=key_of_turn(len(visitor.now.turns) + 1, is_latest=True)):
            st.fragment(_draw_live, run_every=POLL_SECONDS)(visitor)
        return None
    if visitor.now.removed_turn:
        draw_removed_turn(library, visitor, visitor.now.removed_turn)
    if visitor.now.failure:
        with st.container(key=key_of_turn(len(visitor.now.turns) + 1, is_latest=is_unanswered)):
            draw_failure(visitor, visitor.now.failure)
    elif not visitor.now.turns and not visitor.now.missing_id:
        _draw_first_visit(library, visitor, scope)
    return below_last


def _draw_turns(library: Library, visitor: Visitor, first: int, *, is_latest: bool) -> DeltaGenerator | None:
    """Draw the turns from `first` on, the last of which may not be the latest; return the place below it."""
    below_last = None
    last = len(visitor.now.turns) if not visitor.now.job_id else 0
    shown = dict(enumerate(visitor.now.turns[first:], start=first + 1))
    draw_bars({number: turn for number, turn in shown.items() if not turn.answer.refusal})
    for number, turn in shown.items():
        with st.container(key=key_of_turn(number, is_latest=is_latest and number == last)):
            if number != last:
                draw_earlier_turn(library, visitor, number, turn)
            else:
                # In the place of the fragment that drew the running question, or the answer would be there
                # twice for a moment.
                draw_last_turn(library, visitor, number, turn, visitor.now)
                below_last = st.container(key="follow_ups", gap="xxsmall")
    return below_last


def _draw_live(visitor: Visitor) -> None:
    """Draw the running question; rerun the whole screen once it is over."""
    if settle(visitor) or not visitor.now.job_id:
        st.rerun()
    if job := jobs().get(visitor.now.job_id):
        stopping = partial(stop, visitor) if may_stop(visitor, visitor.now, job) else None
        draw_running(job.view(), len(visitor.now.turns) + 1, stopping)


def _draw_first_visit(library: Library, visitor: Visitor, scope: Scope) -> None:
    # The same elements in the same places at any width, so that none fades out and in.
    talk, side = st.columns([0.62, 0.38], gap="large")
    with talk, st.container(key="reading_first_visit"):
        if library.is_uploaded:
            draw_upload_first_visit(library)
        elif names_papers(scope):
            _draw_papers_asked(library, scope)
        else:
            _draw_first_questions(library, visitor, scope)
        st.caption(IN_SHORT)
    if not (visitor.now.narrow or library.is_uploaded):
        with side:
            draw_covered(library.corpus, visitor, scope)


def _draw_papers_asked(library: Library, scope: Scope) -> None:
    """Draw the titles of the papers that the scope names."""
    st.title(escaped(asked_about(library.corpus, scope)), anchor=False)
    titles = covered(library.corpus, scope)
    if len(titles) > 1:
        st.markdown(listed(titles))
    st.markdown("Every sentence of an answer leads to the passage that carries it.")


def _draw_first_questions(library: Library, visitor: Visitor, scope: Scope) -> None:
    summaries = collections_in(library.corpus.collections(), scope)
    st.title("Ask the papers", anchor=False)
    st.markdown(
        f"Every sentence of an answer leads to the passage that carries it. "
        f"{escaped(collection_facts(summaries))}."
    )
    examples = example_questions(library.corpus, [summary.collection.id for summary in summaries])
    if examples:
        st.markdown("Some questions to begin with:")
        draw_examples(visitor, examples, scope.collections)


def draw_examples(visitor: Visitor, examples: tuple[Example, ...], within: tuple[str, ...]) -> None:
    """Draw a button per example question; it is asked in the collections `within`, all if empty."""
    with st.container(key="examples"):
        for number, example in enumerate(examples, start=1):
            st.button(
                escaped(example.question),
                key=f"example_{number}",
                icon=":material/arrow_forward:",
                type="tertiary",
                on_click=ask_example,
                args=(visitor, example, within),
            )


def ask_example(visitor: Visitor, example: Example, within: tuple[str, ...]) -> None:
    """Ask an example in its own collection, else in `within`, instead of the papers chosen before."""
    ask_collection(visitor)
    visitor.update(VisitorSession.ask, example.question)
    visitor.update(VisitorSession.look_in)
    set_field("scope_collections", [example.collection] if example.collection else list(within))


def _draw_follow_ups(library: Library, visitor: Visitor, place: DeltaGenerator) -> None:
    """Draw the suggested follow-ups in `place`; called last, as each suggestion takes a search."""
    questions = () if visitor.now.failure else _suggest(library, visitor, visitor.now.turns[-1])
    if not questions:
        return
    with place:
        st.caption("You could also ask:")
        for number, question in enumerate(questions, start=1):
            st.button(
                escaped(question),
                key=f"follow_up_{number}",
                icon=":material/arrow_forward:",
                type="tertiary",
                on_click=visitor.update,
                args=(VisitorSession.ask, question),
            )


def _suggest(library: Library, visitor: Visitor, turn: Turn) -> tuple[str, ...]:
    """Return the suggested follow-ups of a turn, computed once while the turn is the latest."""
    cached, turns = visitor.now.follow_ups, visitor.now.turns
    if cached and cached.turn.is_same_as(turn) and cached.count == len(turns):
        return cached.questions
    try:
        questions = follow_up_questions(turn, turns[:-1], library.corpus, library.encoder)
    except (CorpusError, ValueError):
        # An imported turn may have a scope that this corpus does not know.
        questions = ()
    visitor.update(VisitorSession.suggest, FollowUps(turn, len(turns), questions))
    return questions
