"""The trail of an answer: its downloads, and the drawer that shows what was sent."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime

import streamlit as st

from assistant.exports.html import to_html
from assistant.exports.markdown import to_markdown
from assistant.exports.references import to_bibtex, to_csl_json, to_ris
from assistant.records import Call, Conversation, Step, Turn
from assistant.transcript import to_json
from assistant.wording import call_facts, provenance_facts, spent
from explorer.parts.safe_text import escaped, shortened
from explorer.parts.wording import counted, seconds
from explorer.reader import Reader

STEP_NAMES: dict[Step, str] = {
    "rewrite": "Search query",
    "retrieve": "Search",
    "write": "Answer",
    "check": "Check",
    "elements": "Key elements",
    "compare": "Summary",
    "vote": "Vote",
}
THIS, WHOLE = "This answer", "The conversation"
LONG_TEXT = 1200
HIGHEST_TEXT = 340


@dataclass(frozen=True, slots=True)
class Format:
    """A file that a trail can be taken away as."""

    name: str
    label: str
    extension: str
    mime: str
    write: Callable[[Conversation], str]


FORMATS = (
    Format("json", "JSON, complete, can be imported", "json", "application/json", to_json),
    Format("markdown", "Markdown, to edit and share", "md", "text/markdown", to_markdown),
    Format("html", "Web page, to read and print", "html", "text/html", to_html),
    Format("bibtex", "Cited papers as BibTeX", "bib", "application/x-bibtex", to_bibtex),
    Format("ris", "Cited papers as RIS", "ris", "application/x-research-info-systems", to_ris),
    Format("csl", "Cited papers as CSL-JSON", "csl.json", "application/json", to_csl_json),
)


def draw_trail(reader: Reader, number: int) -> None:
    """Draw the downloads of an answer or of the whole conversation; a file is made when it is asked for."""
    key = f"trail_{number}_{reader.menus_closed}"
    with st.popover("Trail", icon=":material/download:", type="tertiary", key=key):
        part = WHOLE
        if len(reader.turns) > 1:
            part = st.segmented_control(
                "Download",
                [THIS, WHOLE],
                default=WHOLE,
                required=True,
                key=f"trail_part_{number}",
                label_visibility="collapsed",
            )
        with st.container(key=f"downloads_{number}", gap=None):
            for one in FORMATS:
                _draw_download(reader, number, one, is_whole=part == WHOLE)
        st.button(
            "What was sent",
            icon=":material/receipt_long:",
            key=f"calls_{number}",
            width="stretch",
            on_click=_show_calls,
            args=(reader, number),
        )


def _draw_download(reader: Reader, number: int, one: Format, *, is_whole: bool) -> None:
    conversation = taken(reader, number, is_whole=is_whole)
    st.download_button(
        one.label,
        data=lambda: one.write(conversation),
        file_name=f"paper-trail-{datetime.now(UTC):%Y-%m-%d}.{one.extension}",
        mime=one.mime,
        on_click="ignore",
        type="tertiary",
        key=f"trail_{number}_{one.name}",
    )


def taken(reader: Reader, number: int, *, is_whole: bool) -> Conversation:
    """Return what is downloaded: the conversation, or the one turn of it."""
    conversation = reader.conversation()
    return conversation if is_whole else replace(conversation, turns=(conversation.turns[number - 1],))


def _show_calls(reader: Reader, number: int) -> None:
    # One drawer at a time, and no menu before it.
    reader.shown_calls, reader.drawer_open = number, False
    reader.menus_closed += 1


def draw_calls(reader: Reader) -> None:
    """Draw the drawer with everything that was sent for the turn whose calls are to be shown."""

    def dismissed() -> None:
        reader.shown_calls = 0

    @st.dialog("What was sent", position="right", width="large", on_dismiss=dismissed)
    def drawer(turn: Turn) -> None:
        with st.container(key="calls_drawer"):
            _draw_turn_sent(turn)

    if 1 <= reader.shown_calls <= len(reader.turns):
        drawer(reader.turns[reader.shown_calls - 1])


def _draw_turn_sent(turn: Turn) -> None:
    st.markdown(escaped(shortened(turn.question, 300)))
    usage = turn.usage
    taken = [counted(len(turn.calls), "call"), seconds(sum(step.seconds for step in turn.seconds))]
    taken[1:1] = spent(usage.prompt_tokens, usage.completion_tokens, usage.price)
    st.caption(escaped(" · ".join(taken)))
    for number, call in enumerate(turn.calls, start=1):
        _draw_call(number, call)
    _draw_passages(turn)
    st.caption(escaped(" · ".join(provenance_facts(turn))))


def _draw_call(number: int, call: Call) -> None:
    title = f"{number}. {STEP_NAMES[call.step]} · {escaped(shortened(call.model, 80))}"
    with st.expander(title, expanded=number == 1, key=f"call_{number}"):
        draw_sent(call)


def draw_sent(call: Call) -> None:
    """Draw everything that was sent and received in a call."""
    st.caption(escaped(" · ".join(call_facts(call))))
    if not call.messages:
        st.caption("No model was asked: this was done by rule.")
    for message in call.messages:
        _draw_text(f"Sent as {message.role}", message.content)
    _draw_text("Received", call.reply)


def _draw_text(label: str, text: str) -> None:
    """Draw a prompt or a reply as it is, as plain text."""
    st.markdown(f"**{label}**")
    is_long = len(text) > LONG_TEXT
    with st.container(border=True, height=HIGHEST_TEXT if is_long else "content"):
        st.text(text or "nothing")


def _draw_passages(turn: Turn) -> None:
    """Draw the passages that were found, and which of them were given under which label."""
    labels = {passage.id: paper.label for paper in turn.evidence.papers for passage in paper.passages}
    with st.expander(f"Found: {counted(len(turn.hits), 'passage')}", key="passages_found"):
        st.dataframe(
            [
                {
                    "Label": labels.get(hit.passage_id),
                    "Passage": hit.passage_id,
                    "Score": hit.score,
                    "Meaning": hit.dense,
                    "Words": hit.lexical,
                }
                for hit in turn.hits
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
