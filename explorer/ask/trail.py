"""The trail of an answer: its downloads, and the drawer that shows what was sent."""

from dataclasses import replace
from datetime import UTC, datetime
from functools import partial

import streamlit as st

from assistant.exports.registry import CONVERSATION_FORMATS, Format
from assistant.records import Conversation, Turn
from assistant.wording import provenance_facts, spent
from corpus.wording import counted
from explorer.app.resources import Library
from explorer.app.session import Visitor
from explorer.app.visitor.session import VisitorSession
from explorer.components.downloads import draw_downloads, exporting
from explorer.components.rows import action, menu
from explorer.components.sent import STEP_NAMES, draw_sent, draw_sent_drawer
from explorer.presenters.safe_text import escaped, shortened
from explorer.presenters.wording import seconds

THIS, WHOLE = "This answer", "The conversation"


def draw_trail(library: Library, visitor: Visitor, number: int) -> None:
    """Draw the menu of downloads of an answer or of the whole conversation."""
    with menu("Trail", f"trail_{number}_{visitor.now.menus_closed}", ":material/download:") as is_drawn:
        if not is_drawn:
            return
        part = WHOLE
        if len(visitor.now.turns) > 1:
            part = st.segmented_control(
                "Download",
                [THIS, WHOLE],
                default=WHOLE,
                required=True,
                key=f"trail_part_{number}",
                label_visibility="collapsed",
            )
        with st.container(key=f"downloads_{number}", gap=None):
            conversation = taken(visitor, number, is_whole=part == WHOLE)
            exported = exporting(library, visitor, conversation)
            draw_downloads(CONVERSATION_FORMATS, exported, f"trail_{number}", _file_name)


def draw_way_to_calls(visitor: Visitor, number: int, turn: Turn) -> None:
    """Draw the button that opens the prompts, passages and replies of a turn."""
    passages = sum(len(paper.passages) for paper in turn.evidence.papers)
    label = f"What was sent: {counted(len(turn.calls), 'call')}, {counted(passages, 'passage')}"
    action(label, f"calls_{number}", visitor.update, VisitorSession.show_calls, number)


def _file_name(form: Format[Conversation]) -> str:
    return f"paper-trail-{datetime.now(UTC):%Y-%m-%d}.{form.ending}"


def taken(visitor: Visitor, number: int, *, is_whole: bool) -> Conversation:
    """Return the conversation, whole or with turn `number` only."""
    conversation = visitor.now.conversation()
    return conversation if is_whole else replace(conversation, turns=(conversation.turns[number - 1],))


def draw_calls(visitor: Visitor) -> None:
    """Draw the drawer with the calls of the turn in `shown_calls`, if any."""
    if 1 <= visitor.now.shown_calls <= len(visitor.now.turns):
        turn = visitor.now.turns[visitor.now.shown_calls - 1]
        dismissed = partial(visitor.update, VisitorSession.show_calls, 0)
        draw_sent_drawer(partial(_draw_turn_sent, turn), dismissed)


def _draw_turn_sent(turn: Turn) -> None:
    st.markdown(escaped(shortened(turn.question, 300)))
    usage = turn.usage
    facts = [counted(len(turn.calls), "call"), seconds(sum(step.seconds for step in turn.seconds))]
    facts[1:1] = spent(usage.prompt_tokens, usage.completion_tokens, usage.price)
    st.caption(escaped(" · ".join(facts)))
    for number, call in enumerate(turn.calls, start=1):
        title = f"{number}. {STEP_NAMES[call.step]} · {escaped(shortened(call.model, 80))}"
        with st.expander(title, expanded=number == 1, key=f"call_{number}"):
            draw_sent(call)
    _draw_passages(turn)
    st.caption(escaped(" · ".join(provenance_facts(turn))))


def _draw_passages(turn: Turn) -> None:
    """Draw the hits with their labels, and the passages that were given to the writer."""
    labels = {passage.id: paper.label for paper in turn.evidence.papers for passage in paper.passages}
    with st.expander(f"Found: {counted(len(turn.all_hits), 'passage')}", key="passages_found"):
        st.dataframe(
            [
                {
                    "Label": labels.get(hit.passage_id),
                    "Passage": hit.passage_id,
                    "Score": hit.score,
                    "Meaning": hit.dense,
                    "Words": hit.lexical,
                }
                for hit in turn.all_hits
            ],
            hide_index=True,
            key="hits_found",
            alt="Passages found, with their scores",
        )
    if turn.evidence.papers:
        with st.expander(f"Given: {counted(len(turn.evidence.papers), 'paper')}", key="passages_given"):
            for paper in turn.evidence.papers:
                st.markdown(f"**\\[{paper.label}\\] {escaped(shortened(paper.paper.title, 140))}**")
                for passage in paper.passages:
                    st.caption(escaped(passage.id))
                    st.text(passage.text)
