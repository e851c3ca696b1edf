"""The evidence panel: the cited passage, beside the answer or, on a phone, in a drawer over it."""

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
from explorer.components.listener import Address, PageReport, listen
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
    """Return the key of a turn's container; the style gives the latest room to be scrolled to the top."""
    return f"latest_{number}" if is_latest and number > 1 else f"turn_{number}"


@st.fragment
def render_evidence(library: Library, visitor: Visitor, scope: Mapping[str, str]) -> None:
    """Draw the panel for the citation in focus; listen for clicks on citations and for the page's width.

    `scope` holds the address parameters of the scope that questions are asked of.
    """
    is_new = visitor.now.job_id or (visitor.now.failure and visitor.now.failure.question)
    next_turn = (
        key_of_turn(len(visitor.now.turns) + 1, is_latest=True) if is_new and visitor.now.turns else ""
    )
    report = listen(
        "citation_listener",
        narrow=visitor.now.narrow,
        show=next_turn,
        place=address_of(visitor),
        address=Address(ASK, {ADDRESS: address_of(visitor), **scope}, is_new_entry=False),
        hears=("clicks", "width"),
    )
    was_narrow = visitor.now.narrow
    take_report(visitor, report)
    if visitor.now.narrow != was_narrow:
        # The whole screen depends on the width, not only this panel.
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
    # A drawer left open would cover the screen, and make it inert, once it is narrow again.
    visitor.update(VisitorSession.close_drawer)
    with st.container(key="evidence_panel", gap="xsmall"):
        if source:
            marks = marks_of(library, visitor)
            draw_source(library, source, "side", _go_to(visitor), marks, where=_where(visitor))
        elif visitor.now.turns and not visitor.now.job_id and supports(visitor.now.turns[-1]):
            st.caption("Click a number in the answer to read the passage that carries it.")
        _draw_passages(visitor)


def _where(visitor: Visitor) -> str:
    """Name the answer of the citation in focus, "" for the latest, which is in view."""
    turn, now = _turn_looked_at(visitor), visitor.now
    if turn is None or now.focus is None or now.focus.turn == len(now.turns):
        return ""
    return f"In the answer to “{shortened(turn.question, 120)}”"


def _draw_passages(visitor: Visitor) -> None:
    """Draw the evidence of the turn in focus, in reading order, cited sentences in bold."""
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
    """Draw a passage below a link to it; `cited` are its cited sentences, None if it is not cited."""
    place = passage_place(passage, None) or "Passage"
    label_text = escaped(f"{place} · cited" if cited is not None else place)
    query = {"id": passage.paper_id, "passage": str(passage.number)}
    link_to(PAPER, f"**{label_text}**" if cited is not None else label_text, query_params=query)
    if passage.table:
        draw_passage_table(passage, min(cited) if cited else None, f"found_{label}", in_short=True)
    else:
        st.markdown(passage_markdown(passage, cited or ()))


def _turn_looked_at(visitor: Visitor) -> Turn | None:
    """Return the turn whose citation is in focus, else the latest; None while an answer is being written."""
    focus = visitor.now.focus
    if focus is None and visitor.now.job_id:
        return None
    number = focus.turn if focus else len(visitor.now.turns)
    return visitor.now.turns[number - 1] if 1 <= number <= len(visitor.now.turns) else None


def take_report(visitor: Visitor, report: PageReport) -> None:
    """Store the reported width, and focus the clicked citation if this conversation has it."""
    visitor.update(VisitorSession.measure, narrow=report.narrow)
    if cite := parse_cite(report.cite):
        look_at(visitor, *cite)


def look_at(visitor: Visitor, turn: int, number: int) -> None:
    """Focus citation `number` of a turn, if it exists."""
    if source_at(visitor, Focus(turn, number)):
        visitor.update(VisitorSession.look_at, turn, number)


def source_in_focus(visitor: Visitor) -> Source | None:
    """Return the source of the citation in focus, in a finished or a running answer."""
    focus = visitor.now.focus
    return source_at(visitor, focus) if focus else None


def source_at(visitor: Visitor, focus: Focus) -> Source | None:
    """Return the source of a citation, None if it does not exist."""
    if 1 <= focus.turn <= len(visitor.now.turns):
        found = sources(visitor.now.turns[focus.turn - 1])
        return found[focus.number - 1] if 1 <= focus.number <= len(found) else None
    job = jobs().get(visitor.now.job_id) if focus.turn == len(visitor.now.turns) + 1 else None
    view = job.view() if job else None
    return draft_source(view.text, view.papers, focus.number) if view and view.papers else None


def _go_to(visitor: Visitor) -> Callable[[int], None]:
    """Return a callback that focuses another citation of the same answer, by its number."""
    return partial(look_at, visitor, visitor.now.focus.turn if visitor.now.focus else 0)
