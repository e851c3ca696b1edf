"""The papers of a list, as rows or as cards: title, who and when, and what of it is worth a line."""

from collections.abc import Sequence

import streamlit as st

from corpus.records import Paper
from corpus.wording import short_authors
from explorer.app import PAPER, Visitor, link_to
from explorer.collection.selection import draw_tick
from explorer.components import row
from explorer.presenters import (
    ASPECT_NAMES,
    Listed,
    by_kind,
    escaped,
    marked_terms,
    ordered_aspects,
    shortened,
    snippet,
    topic_name,
)

TITLE_LENGTH = 160
ASPECT_LENGTH = 240
FIELDS_SHOWN = 2


def draw_papers(visitor: Visitor, papers: Sequence[Listed], terms: frozenset[str], *, as_cards: bool) -> None:
    """Draw papers with what of each matched `terms`, or what each is about."""
    with st.container(key="papers", gap="small"):
        if as_cards:
            grid = st.grid(2, border=True)
            for listed in papers:
                with grid.cell():
                    _draw_card(visitor, listed, terms)
        else:
            for listed in papers:
                _draw_row(visitor, listed, terms)


def _draw_row(visitor: Visitor, listed: Listed, terms: frozenset[str]) -> None:
    # Few elements a row, put in their places by the style: twenty rows of columns were 300 elements.
    paper = listed.paper
    with row(f"row{_with_aspects(listed)}_{paper.id}", align="top"):
        draw_tick(visitor, paper)
        _draw_title(listed)
        # The last paragraph is who and when, as the style knows.
        who = "  \n".join(part for part in (_who_and_when(listed), _fields(paper)) if part)
        st.markdown("\n\n".join(part for part in (_about(listed, terms), who or "&nbsp;") if part))


def _draw_card(visitor: Visitor, listed: Listed, terms: frozenset[str]) -> None:
    paper = listed.paper
    with st.container(key=f"title_link{_with_aspects(listed)}_{paper.id}", gap="xxsmall"):
        _draw_title(listed)
        if about := _about(listed, terms):
            st.markdown(about)
    with row(f"card_foot_{paper.id}"):
        draw_tick(visitor, paper)
        st.caption(" · ".join(part for part in (_who_and_when(listed), _fields(paper)) if part))


def _draw_title(listed: Listed) -> None:
    """Draw the title as the way to the paper, and to what of it matched."""
    paper, hit = listed.paper, listed.hit
    query = {"id": paper.id}
    if hit and hit.passage.number:
        query["passage"] = str(hit.passage.number)
    link_to(PAPER, escaped(shortened(paper.title, TITLE_LENGTH)), query_params=query)


def _about(listed: Listed, terms: frozenset[str]) -> str:
    """Return as Markdown what of a paper matched, or its aspects, or how its abstract begins."""
    paper, hit = listed.paper, listed.hit
    if _with_aspects(listed):
        return _aspects(paper)
    text = hit.passage.text if hit else paper.abstract
    return marked_terms(snippet(text, terms), terms) if text else ""


def _with_aspects(listed: Listed) -> str:
    """Return the part of a place's key by which the style knows one that shows aspects, "" in others."""
    return "_with_aspects" if listed.paper.aspects and not listed.hit else ""


def _aspects(paper: Paper) -> str:
    """Return challenge, approach and outcome as a line each; what does not fit is cut by the style."""
    return "\n\n".join(
        f":gray[{ASPECT_NAMES[aspect.name]}] {escaped(shortened(aspect.text, ASPECT_LENGTH))}"
        for aspect in ordered_aspects(paper.aspects)
    )


def _who_and_when(listed: Listed) -> str:
    """Return authors and year as Markdown, and how often the paper is cited where that is the order."""
    paper = listed.paper
    cited = f"cited here by {listed.cited_here:,}" if listed.cited_here else ""
    parts = (escaped(shortened(short_authors(paper.authors), 60)), str(paper.year or ""), cited)
    return " · ".join(part for part in parts if part)


def _fields(paper: Paper) -> str:
    """Return the fields that a paper belongs to most, as Markdown."""
    fields = by_kind(paper.topics).get("field", [])[:FIELDS_SHOWN]
    return " · ".join(escaped(topic_name(field.key)) for field in fields)
