"""The papers of a list, as rows or as cards: title, who and when, and what of it is worth a line."""

from collections.abc import Sequence

import streamlit as st

from corpus.records import Paper
from explorer.navigation import PAPER
from explorer.parts.finding import Listed, snippet
from explorer.parts.safe_text import escaped, marked_terms, shortened
from explorer.parts.topics import by_kind, topic_name
from explorer.parts.wording import ASPECT_NAMES, ordered_aspects, short_authors
from explorer.reader import Reader

TITLE_LENGTH = 160
ASPECT_LENGTH = 240
FIELDS_SHOWN = 2


def draw_papers(reader: Reader, papers: Sequence[Listed], terms: frozenset[str], *, as_cards: bool) -> None:
    """Draw papers with what of each matched `terms`, or what each is about."""
    with st.container(key="papers", gap="small"):
        if as_cards:
            grid = st.grid(2, border=True)
            for listed in papers:
                with grid.cell():
                    _draw_card(reader, listed, terms)
        else:
            for listed in papers:
                _draw_row(reader, listed, terms)


def _draw_row(reader: Reader, listed: Listed, terms: frozenset[str]) -> None:
    paper = listed.paper
    with st.container(key=f"row_{paper.id}"):
        tick, what, who, when = st.columns([0.04, 0.66, 0.22, 0.08], gap="small")
        with tick:
            _draw_tick(reader, listed)
        with what:
            _draw_title(listed, terms)
        with who, st.container(gap="xxsmall"):
            st.caption(escaped(shortened(short_authors(paper.authors), 60)))
            if fields := _fields(paper):
                st.caption(fields)
        with when:
            st.caption(str(paper.year or ""))


def _draw_card(reader: Reader, listed: Listed, terms: frozenset[str]) -> None:
    paper = listed.paper
    _draw_title(listed, terms)
    about = " · ".join(part for part in (short_authors(paper.authors), str(paper.year or "")) if part)
    with st.container(horizontal=True, vertical_alignment="center", key=f"card_foot_{paper.id}"):
        _draw_tick(reader, listed)
        st.caption(" · ".join(part for part in (escaped(shortened(about, 90)), _fields(paper)) if part))


def _draw_title(listed: Listed, terms: frozenset[str]) -> None:
    """Draw the title as the way to the paper, and what of it matched, or else what it is about."""
    paper, hit = listed.paper, listed.hit
    query = {"id": paper.id}
    text = hit.passage.text if hit else paper.abstract
    if hit and hit.passage.number:
        query["passage"] = str(hit.passage.number)
    with st.container(key=f"title_link_{paper.id}", gap="xxsmall"):
        st.page_link(PAPER, label=escaped(shortened(paper.title, TITLE_LENGTH)), query_params=query)
        if paper.aspects and not hit:
            _draw_aspects(paper)
        elif text:
            st.markdown(marked_terms(snippet(text, terms), terms))


def _draw_aspects(paper: Paper) -> None:
    """Draw challenge, approach and outcome as a line each; what does not fit is cut by the style."""
    lines = [
        f":gray[{ASPECT_NAMES[aspect.name]}] {escaped(shortened(aspect.text, ASPECT_LENGTH))}"
        for aspect in ordered_aspects(paper.aspects)
    ]
    with st.container(key=f"aspect_lines_{paper.id}"):
        st.markdown("\n\n".join(lines))


def _fields(paper: Paper) -> str:
    """Return the fields that a paper belongs to most, as Markdown."""
    fields = by_kind(paper.topics).get("field", [])[:FIELDS_SHOWN]
    return " · ".join(escaped(topic_name(field.key)) for field in fields)


def _draw_tick(reader: Reader, listed: Listed) -> None:
    identifier = listed.paper.id
    key = f"tick_{identifier}"
    if key not in st.session_state:
        st.session_state[key] = identifier in reader.picked
    st.checkbox(
        escaped(f"Select {shortened(listed.paper.title, 80)}"),
        key=key,
        label_visibility="collapsed",
        on_change=_ticked,
        args=(reader, identifier),
    )


def _ticked(reader: Reader, paper_id: str) -> None:
    reader.pick(paper_id, picked=bool(st.session_state.get(f"tick_{paper_id}")))
