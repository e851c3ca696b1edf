"""The papers of a list, as rows or as cards: title, aspects or matching passage, authors and year."""

from collections.abc import Iterator, Sequence

import streamlit as st

from corpus.wording import short_authors
from explorer.app.navigation import PAPER, inline_link
from explorer.app.session import Visitor
from explorer.collection.selection import draw_tick
from explorer.presenters.finding import Listed, snippet
from explorer.presenters.safe_text import escaped, marked_terms, shortened
from explorer.presenters.topics import by_kind, topic_name
from explorer.presenters.wording import ASPECT_NAMES, ordered_aspects

TITLE_LENGTH = 160
ASPECT_LENGTH = 240
FIELDS_SHOWN = 2


def draw_papers(visitor: Visitor, papers: Sequence[Listed], terms: frozenset[str], *, as_cards: bool) -> None:
    """Draw papers with the passages that match `terms`, or with their aspects.

    All texts are one Markdown list, as drawing takes time per element; the style puts the boxes beside them.
    The text does not depend on the selection, so that selecting a paper does not send it again.
    """
    with st.container(key="cards" if as_cards else "papers", gap=None):
        st.markdown("\n".join(_item(listed, terms) for listed in papers))
        for listed in papers:
            draw_tick(visitor, listed.paper)


def _item(listed: Listed, terms: frozenset[str]) -> str:
    """Return a paper as a list item of paragraphs; the style selects the first and the last."""
    paragraphs = (_title(listed), *_about(listed, terms), _who_and_when(listed))
    return "- " + "\n\n  ".join(paragraphs) + "\n"


def _title(listed: Listed) -> str:
    """Return the title as a link to the paper, and to its matching passage."""
    paper, hit = listed.paper, listed.hit
    query = {"id": paper.id}
    if hit and hit.passage.number:
        query["passage"] = str(hit.passage.number)
    return inline_link(PAPER, escaped(shortened(paper.title, TITLE_LENGTH)), query)


def _about(listed: Listed, terms: frozenset[str]) -> Iterator[str]:
    """Yield, as Markdown, the matching passage of a paper, or its aspects, or the start of its abstract."""
    paper, hit = listed.paper, listed.hit
    if paper.aspects and not hit:
        # The style cuts overlong lines.
        for aspect in ordered_aspects(paper.aspects):
            yield f":gray[{ASPECT_NAMES[aspect.name]}] {escaped(shortened(aspect.text, ASPECT_LENGTH))}"
    elif text := hit.passage.text if hit else paper.abstract:
        yield marked_terms(snippet(text, terms), terms)


def _who_and_when(listed: Listed) -> str:
    """Return, as Markdown, authors, year and citations on a line, and fields of study on the next.

    Never empty, as the style selects it as the last paragraph.
    """
    paper = listed.paper
    cited = f"cited here by {listed.cited_here:,}" if listed.cited_here else ""
    facts = (escaped(shortened(short_authors(paper.authors), 60)), str(paper.year or ""), cited)
    fields = by_kind(paper.topics).get("field", [])[:FIELDS_SHOWN]
    lines = (filter(None, facts), (escaped(topic_name(field.key)) for field in fields))
    return "  \n  ".join(filter(None, map(" · ".join, lines))) or "&nbsp;"
