"""The evidence panel: where a citation leads, beside the answer or, on a phone, in a drawer over it."""

from collections.abc import Callable, Mapping
from functools import partial

import streamlit as st

from assistant.records import Turn
from corpus.records import Passage
from corpus.wording import counted
from explorer.app.navigation import ASK, PAPER, link_to
from explorer.app.resources import Library, jobs
from explorer.app.session import Visitor
from explorer.app.visitor.session import Focus, VisitorSession
from explorer.ask.conversations import ADDRESS, address_of
from explorer.ask.feedback import marks_of
from explorer.components.evidence import draw_source, open_drawer
from explorer.components.listener import Address, Heard, listen
from explorer.components.passage_table import draw_passage_table
from explorer.components.rows import fold
from explorer.presenters.citations import (
    Source,
    cited_sentences,
    draft_source,
    parse_cite,
    passage_markdown,
    passage_place,
    sources,
    supports,
)
from explorer.presenters.safe_text import escaped, shortened
from explorer.presenters.wording import short_reference


def key_of_turn(number: int, *, is_latest: bool) -> str:
    """Return the key of a turn's container; a later turn that is the latest gets room to be scrolled up."""
    return f"latest_{number}" if is_latest and number > 1 else f"turn_{number}"


@st.fragment
def render_evidence(library: Library, visitor: Visitor, scope: Mapping[str, str]) -> None:
    """Draw the panel for the citation in focus; listen for clicks on citations, and for another width.

    `scope` is what the page's address is to say of where questions look.
    """
    is_new = visitor.now.job_id or (visitor.now.failure and visitor.now.failure.question)
    asked = key_of_turn(len(visitor.now.turns) + 1, is_latest=True) if is_new and visitor.now.turns else ""
    heard = listen(
        "citation_listener",
        narrow=visitor.now.narrow,
        show=asked,
        place=address_of(visitor),
        address=Address(ASK, {ADDRESS: address_of(visitor), **scope}, is_new_entry=False),
        hears=("clicks", "width"),
    )
    was_narrow = visitor.now.narrow
    take_heard(visitor, heard)
    if visitor.now.narrow != was_narrow:
        # All of the screen is laid out for its width, not this panel alone.
        st.rerun()
    source = source_in_focus(visitor)
    if visitor.now.narrow:
        if source and visitor.now.drawer_open:
            marks = marks_of(library, visitor)
            open_drawer(
                library,
                partial(source_in_focus, visitor),
                _go_to(visitor),
                visitor.updating(VisitorSession.close_drawer),
                marks,
                where=_where(visitor),
                below=partial(_draw_passages, visitor),
            )
        return
    # One left open would stand over the screen once it is narrow again, and make all of it inert.
    visitor.update(VisitorSession.close_drawer)
    with st.container(key="evidence_panel", gap="xsmall"):
        if source:
            marks = marks_of(library, visitor)
            draw_source(library, source, "side", _go_to(visitor), marks, where=_where(visitor))
        elif has_numbers(visitor):
            st.caption("Click a number in the answer to read the passage that carries it.")
        _draw_passages(visitor)


def _where(visitor: Visitor) -> str:
    """Describe the answer of the citation in focus, "" for one of the latest, which is in view."""
    turn, now = _turn_looked_at(visitor), visitor.now
    if turn is None or now.focus is None or now.focus.turn == len(now.turns):
        return ""
    return f"In the answer to “{shortened(turn.question, 120)}”"


def _draw_passages(visitor: Visitor) -> None:
    """Draw all that was found for the turn that is looked at, in reading order, what is cited in bold."""
    turn = _turn_looked_at(visitor)
    if turn is None or not turn.evidence.papers:
        return
    cited = cited_sentences(turn.answer)
    passages = [passage for paper in turn.evidence.papers for passage in paper.passages]
    used = sum(passage.id in cited for passage in passages)
    title = f"All that was found: {counted(len(passages), 'passage')}, {used} cited"
    with fold(title, "passages_read") as is_drawn:
        for paper in turn.evidence.papers if is_drawn else ():
            with st.container(key=f"passages_of_{paper.label}", gap="xxsmall"):
                st.caption(f"\\[{paper.label}\\] {escaped(shortened(short_reference(paper.paper), 140))}")
                for passage in sorted(paper.passages, key=lambda passage: passage.number):
                    _draw_passage_found(passage, cited.get(passage.id), paper.label)


def _draw_passage_found(passage: Passage, cited: frozenset[int] | None, label: int) -> None:
    """Draw a passage under the way to it in its paper; `cited` are its sentences that are cited, if it is."""
    place = passage_place(passage, None) or "Passage"
    said = escaped(f"{place} · cited" if cited is not None else place)
    query = {"id": passage.paper_id, "passage": str(passage.number)}
    link_to(PAPER, f"**{said}**" if cited is not None else said, query_params=query)
    if passage.table:
        draw_passage_table(passage, min(cited) if cited else None, f"found_{label}", in_short=True)
    else:
        st.markdown(passage_markdown(passage, cited or ()))


def _turn_looked_at(visitor: Visitor) -> Turn | None:
    """Return the turn whose citation is in focus, else the latest; None of one that is being written."""
    focus = visitor.now.focus
    if focus is None and visitor.now.job_id:
        return None
    number = focus.turn if focus else len(visitor.now.turns)
    return visitor.now.turns[number - 1] if 1 <= number <= len(visitor.now.turns) else None


def has_numbers(visitor: Visitor) -> bool:
    """Return True if the latest answer has citations to click; one being written has none for certain."""
    return bool(visitor.now.turns and not visitor.now.job_id and supports(visitor.now.turns[-1]))


def take_heard(visitor: Visitor, heard: Heard) -> None:
    """Move the focus to the citation that was clicked, where this conversation has it."""
    visitor.update(VisitorSession.measure, narrow=heard.narrow)
    if cite := parse_cite(heard.cite):
        look_at(visitor, *cite)


def look_at(visitor: Visitor, turn: int, number: int) -> None:
    """Put citation `number` of a turn into focus; one that does not exist changes nothing."""
    if source_at(visitor, Focus(turn, number)):
        visitor.update(VisitorSession.look_at, turn, number)


def source_in_focus(visitor: Visitor) -> Source | None:
    """Return the source of the citation in focus, in a finished answer or the one being written."""
    focus = visitor.now.focus
    return source_at(visitor, focus) if focus else None


def source_at(visitor: Visitor, focus: Focus) -> Source | None:
    """Return the source of a citation, None for one that does not exist."""
    if 1 <= focus.turn <= len(visitor.now.turns):
        found = sources(visitor.now.turns[focus.turn - 1])
        return found[focus.number - 1] if 1 <= focus.number <= len(found) else None
    job = jobs().get(visitor.now.job_id) if focus.turn == len(visitor.now.turns) + 1 else None
    view = job.view() if job else None
    return draft_source(view.text, view.papers, focus.number) if view and view.papers else None


def _go_to(visitor: Visitor) -> Callable[[int], None]:
    """Return a callback that puts another citation of the text in focus, by its number."""
    return partial(look_at, visitor, visitor.now.focus.turn if visitor.now.focus else 0)
