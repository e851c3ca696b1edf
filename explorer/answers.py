"""How a turn is drawn: question, steps, answer with citations, references, and what can be done with it."""

from datetime import UTC, datetime

import streamlit as st

from assistant.records import Refusal, Turn
from assistant.transcript import to_json, to_markdown
from corpus.records import Scope, parse_passage_id
from explorer.evidence import look_at
from explorer.navigation import PAPER
from explorer.parts.citations import (
    first_number,
    known_labels,
    shown_draft,
    sources,
    uncited_ends,
    weak_numbers,
)
from explorer.parts.coverage import covered, names_papers
from explorer.parts.jobs import JobView
from explorer.parts.safe_text import UNCITED_MARK, answer_markdown, escaped, shortened
from explorer.parts.wording import (
    answer_with_references,
    counted,
    seconds,
    short_reference,
    steps_taken,
)
from explorer.reader import Failure, Reader
from explorer.resources import Library

EXCERPT = 320


def draw_turn(library: Library, reader: Reader, number: int, turn: Turn, *, is_last: bool) -> None:
    """Draw turn `number` of the conversation, counted from 1."""
    _draw_question(number, turn.question)
    _draw_steps(turn)
    if turn.answer.refusal:
        _draw_refusal(library, number, turn.answer.refusal, turn.scope)
    else:
        _draw_answer(reader, number, turn)
        _draw_references(reader, number, turn)
    _draw_actions(reader, number, turn, is_last=is_last)


def draw_running(view: JobView, number: int) -> None:
    """Draw the question on its way, laid out as its turn will be."""
    _draw_question(number, view.question)
    st.caption(progress(view))
    with st.container(key=f"reading_answer_{number}"):
        if view.text and view.papers:
            text, known = shown_draft(view.text, view.papers)
            st.markdown(answer_markdown(text, number, known))


def progress(view: JobView) -> str:
    """Return, as Markdown, what has been done for a question and what is being done."""
    done = []
    if view.rewrite:
        done.append(f"Searched for “{escaped(shortened(view.rewrite.search_query, 160))}”")
    if view.papers is not None:
        passages = sum(len(found.hits) for found in view.papers)
        done.append(f"{counted(len(view.papers), 'paper')}, {counted(passages, 'passage')}")
    now = _step_now(view)
    return " · ".join([*done, f":shimmer[{now}] {seconds(view.seconds)}"])


def draw_failure(reader: Reader, failure: Failure) -> None:
    """Draw a question that was not answered: why, what had been written, and how to go on."""
    number = len(reader.turns) + 1
    if failure.question:
        _draw_question(number, failure.question)
    with st.container(border=True, key="failure"):
        st.markdown(escaped(failure.message))
        if failure.partial.strip():
            st.caption("What had been written, not checked:")
            with st.container(key="reading_partial"):
                st.markdown(answer_markdown(failure.partial, number, frozenset(), linked=False))
        with st.container(horizontal=True):
            if failure.question:
                _draw_ways_on(reader, failure)
            st.button("Dismiss", type="tertiary", key="dismiss", on_click=_dismiss, args=(reader,))


def _draw_ways_on(reader: Reader, failure: Failure) -> None:
    """Offer to ask again, where that may help, and to edit the question."""
    if failure.can_retry:
        st.button("Retry", type="primary", key="retry", on_click=_ask_again, args=(reader, failure.question))
    st.button(
        "Edit the question",
        type="secondary" if failure.can_retry else "primary",
        key="edit",
        on_click=_edit,
        args=(reader, failure.question),
    )


def _step_now(view: JobView) -> str:
    if view.state == "waiting":
        return "waiting for a free worker"
    if view.rewrite is None:
        return "reading the question"
    if view.papers is None:
        return "finding passages"
    return "writing" if view.text else "reading"


def _draw_question(number: int, question: str) -> None:
    with st.container(key=f"question_{number}"):
        st.markdown(escaped(shortened(question, 600)))


def _draw_steps(turn: Turn) -> None:
    query = escaped(shortened(turn.rewrite.search_query, 160))
    st.caption(f"Searched for “{query}” · {steps_taken(turn)}")


def _draw_answer(reader: Reader, number: int, turn: Turn) -> None:
    ends = uncited_ends(turn.answer)
    with st.container(key=f"reading_answer_{number}"):
        st.markdown(answer_markdown(turn.answer.text, number, known_labels(turn), ends))
    if ends:
        st.caption(f"{UNCITED_MARK} This sentence cites no passage.")
    if weak := weak_numbers(turn):
        with st.container(horizontal=True, vertical_alignment="center"):
            st.caption(f"{counted(len(weak), 'sentence')} with weak overlap", width="content")
            st.button(
                "Show",
                key=f"weak_{number}",
                type="tertiary",
                on_click=_open_citation,
                args=(reader, number, weak[0]),
            )


def _draw_references(reader: Reader, number: int, turn: Turn) -> None:
    """Draw the papers cited, each a button twin of its first citation, and the others folded away."""
    found = sources(turn)
    cited = turn.answer.cited_labels
    with st.container(key=f"quiet_references_{number}", gap="xxsmall"):
        st.markdown("**References**")
        for label in cited:
            labelled, first = turn.evidence.paper(label), first_number(found, label)
            if labelled and first:
                st.button(
                    f"\\[{label}\\] {escaped(shortened(short_reference(labelled.paper), 140))}",
                    key=f"cite_{number}_{label}",
                    type="tertiary",
                    help="Show the passage",
                    on_click=_open_citation,
                    args=(reader, number, first),
                )
    others = [paper for paper in turn.evidence.papers if paper.label not in cited]
    if others:
        with st.expander(f"Not cited: {len(others)} more", type="compact", key=f"not_cited_{number}"):
            for paper in others:
                _paper_link(f"[{paper.label}] {short_reference(paper.paper)}", paper.paper.id)


def _draw_refusal(library: Library, number: int, refusal: Refusal, scope: Scope) -> None:
    with st.container(border=True, key=f"reading_refusal_{number}"):
        st.markdown("**Not answered**")
        st.markdown(escaped(refusal.message))
        if refusal.nearest:
            st.markdown("The nearest passages:")
        for place, nearest in enumerate(refusal.nearest):
            with st.container(key=f"title_link_nearest_{number}_{place}", gap="xxsmall"):
                _paper_link(nearest.title, nearest.paper_id, str(parse_passage_id(nearest.passage_id)[1]))
                st.text(shortened(nearest.text, EXCERPT))
        is_restricted = names_papers(scope) or bool(scope.collections)
        st.markdown("What was searched:" if is_restricted else "What the corpus covers:")
        st.markdown("\n".join(f"- {escaped(line)}" for line in covered(library.corpus, scope)))


def _paper_link(label: str, paper_id: str, passage: str = "") -> None:
    query = {"id": paper_id, "passage": passage} if passage else {"id": paper_id}
    st.page_link(PAPER, label=escaped(shortened(label, 140)), query_params=query)


def _draw_actions(reader: Reader, number: int, turn: Turn, *, is_last: bool) -> None:
    with st.container(horizontal=True, vertical_alignment="center", key=f"actions_{number}"):
        if is_last:
            _draw_trail(reader)
        if not turn.answer.refusal:
            with st.popover("Copy", type="tertiary", icon=":material/content_copy:", key=f"copy_{number}"):
                st.caption("The answer with its references; the button at the corner copies it.")
                st.code(answer_with_references(turn), language=None, wrap_lines=True)
        st.button(
            "Ask again",
            key=f"again_{number}",
            type="tertiary",
            icon=":material/refresh:",
            on_click=_ask_again,
            args=(reader, turn.question),
        )
        if is_last:
            _draw_clear(reader)


def _draw_clear(reader: Reader) -> None:
    """Offer to forget the conversation, at a second click: it cannot be had back."""
    count = len(reader.turns)
    what = f"all {count} questions" if count > 1 else "the question"
    with st.popover("Clear", type="tertiary", icon=":material/delete:", key="clear_menu"):
        st.caption("Answers that are removed cannot be had back. The trail can be downloaded before.")
        st.button(f"Remove {what} from this conversation", key="clear", on_click=reader.clear_conversation)


def _draw_trail(reader: Reader) -> None:
    """Draw the downloads of the whole conversation; a file is made when it is asked for."""
    stamp = datetime.now(UTC).strftime("%Y-%m-%d")
    with st.popover("Trail", icon=":material/download:", key="trail"):
        st.caption("The whole conversation: questions, passages, prompts, replies and scores.")
        st.download_button(
            "JSON, complete, for programs",
            data=lambda: to_json(reader.conversation()),
            file_name=f"paper-trail-{stamp}.json",
            mime="application/json",
            on_click="ignore",
            key="trail_json",
            width="stretch",
        )
        st.download_button(
            "Markdown, to read and share",
            data=lambda: to_markdown(reader.conversation()),
            file_name=f"paper-trail-{stamp}.md",
            mime="text/markdown",
            on_click="ignore",
            key="trail_markdown",
            width="stretch",
        )


def _open_citation(reader: Reader, turn: int, number: int) -> None:
    look_at(reader, turn, number)


def _ask_again(reader: Reader, question: str) -> None:
    reader.failure = None
    reader.waiting_question = question


def _edit(reader: Reader, question: str) -> None:
    reader.failure = None
    st.session_state["question_box"] = question


def _dismiss(reader: Reader) -> None:
    reader.failure = None
