"""The head of the Paper screen: title, authors, publication facts, and actions."""

import re
from collections.abc import Callable

import streamlit as st

from corpus.language.names import language_name
from corpus.language.stemming import ENGLISH
from corpus.records import Author, Collection, Paper, is_upload, library_of
from corpus.wording import counted, hidden_text
from explorer.app.navigation import ASK, COLLECTION, COMPARE, link_to
from explorer.app.session import CurrentComparison, Visitor, current_comparison, set_field
from explorer.app.visitor.comparison import ComparisonSession
from explorer.app.visitor.session import VisitorSession
from explorer.ask.scope import ask_about
from explorer.collection.filters import list_link
from explorer.components.rows import row
from explorer.paper.cite_menu import draw_cite_menu
from explorer.presenters.safe_text import escaped, one_line, shortened, web_address
from explorer.presenters.wording import affiliations

AUTHORS_SHOWN = 12
# Collaborations may have thousands of authors; the rest is only counted.
AUTHORS_LINKED = 120
LONGEST_NAME = 60
LONGEST_FACT = 200
LABELS_SHOWN = 12
SIMILAR_ANCHOR, PAGES_ANCHOR = "similar-papers", "pages"
# New and old arXiv ids, with or without a version.
_ARXIV_ID = re.compile(r"(?:\d{4}\.\d{4,5}|[a-z-]+(?:\.[A-Z]{2})?/\d{7})(?:v\d{1,3})?")


def draw_title(home: Collection, paper: Paper) -> None:
    """Draw a link back to the collection or the conversation, and the title."""
    with st.container(key="way_back"):
        if is_upload(paper.id) and not library_of(paper.id):
            link_to(ASK, escaped(home.title), icon=":material/chevron_left:")
        else:
            link_to(
                COLLECTION,
                escaped(shortened(home.title, 90)),
                icon=":material/chevron_left:",
                query_params={"collection": paper.collection_id},
            )
    st.title(escaped(paper.title), anchor=False)


def draw_head(
    home: Collection,
    visitor: Visitor,
    paper: Paper,
    *,
    has_similar: bool,
    has_pages: bool,
    draw_keeping: Callable[[], None],
) -> None:
    """Draw authors, facts and actions; `draw_keeping` draws the reading list and notes actions."""
    _draw_authors(paper)
    _draw_facts(home, paper)
    if hidden := describe_hidden_text(paper):
        st.caption(f":material/visibility_off: {hidden}")
    with row("paper_actions"):
        _draw_actions(visitor, paper)
        if not is_upload(paper.id):
            draw_keeping()
        # On a wide screen the pages are beside the text, on a phone at the end.
        if has_pages and visitor.now.narrow:
            st.markdown(f"[Pages](#{PAGES_ANCHOR})", width="content")
        if has_similar:
            st.markdown(f"[Similar papers](#{SIMILAR_ANCHOR})", width="content")


def facts_of(home: Collection, paper: Paper) -> str:
    """Return venue, year, pages, source, licence and language of a paper on one line, as far as known."""
    pages = f"pp. {paper.pages}" if paper.pages else ""
    year = str(paper.year or "")
    says_year = bool(year) and year in paper.venue
    written = language_name(paper.language) if paper.language not in ("", ENGLISH) else ""
    where = (paper.venue, "" if says_year else year, pages, home.source, home.licence)
    facts = (*where, f"in {written}" if written else "", describe_scan(paper))
    return " · ".join(shortened(fact, LONGEST_FACT) for fact in facts if one_line(fact))


def describe_scan(paper: Paper) -> str:
    """Describe the text recognition of a scanned paper and its confidence, "" for other papers."""
    if not paper.scanned_pages:
        return ""
    whole = paper.scanned_pages == paper.page_count
    source = "its scan" if whole else f"{counted(paper.scanned_pages, 'scanned page')}"
    return f"read from {source}, {paper.scan_confidence:.0%} sure"


def describe_hidden_text(paper: Paper) -> str:
    """Describe the invisible text of a paper's file, "" if it has none."""
    if not paper.hidden_text:
        return ""
    kind, where = ("PDF", "on its pages ") if paper.hidden_pages else ("document", "")
    how_much = hidden_text(paper.hidden_text, paper.hidden_pages)
    return f"This {kind} holds text that cannot be seen {where}({how_much}). It is not searched or cited."


def external_links(paper: Paper) -> tuple[tuple[str, str], ...]:
    """Return labels and addresses of the paper on other sites, plain web addresses only."""
    doi = paper.doi.removeprefix("https://doi.org/")
    places = (
        ("Anthology" if "aclanthology.org" in paper.url else "Web page", paper.url),
        ("DOI", f"https://doi.org/{doi}" if doi else ""),
        ("arXiv", f"https://arxiv.org/abs/{paper.arxiv_id}" if _ARXIV_ID.fullmatch(paper.arxiv_id) else ""),
        ("PDF at the publisher", paper.pdf_url),
    )
    return tuple((label, address) for label, url in places if (address := web_address(url)))


def named_authors(authors: tuple[Author, ...]) -> tuple[str, ...]:
    """Return the distinct visible names of authors."""
    return tuple(dict.fromkeys(author.name for author in authors if one_line(author.name)))


def summary_question(paper: Paper) -> str:
    """Return the question that asks for a summary of a paper."""
    return f"Summarise “{shortened(paper.title, 300)}”."


def _draw_authors(paper: Paper) -> None:
    """Draw the authors, each with a link to their papers unless the paper is an upload."""
    authors = paper.authors
    names = named_authors(authors)
    with st.container(key="authors", gap="xxsmall"):
        if names and is_upload(paper.id):
            st.markdown(escaped(", ".join(names[:AUTHORS_SHOWN])))
        elif names:
            st.markdown(", ".join(map(_author, names[:AUTHORS_SHOWN])))
            if len(names) > AUTHORS_SHOWN:
                _draw_further(names)
        if places := affiliations(authors):
            st.caption(escaped(places))


def _author(name: str) -> str:
    return list_link(escaped(shortened(name, LONGEST_NAME)), "author", name)


def _draw_further(names: tuple[str, ...]) -> None:
    menu = st.popover(f"and {len(names) - AUTHORS_SHOWN:,} more", type="tertiary", key="further_authors")
    with menu, st.container(key="authors_further", gap="xxsmall", height=320):
        st.markdown("\n".join(f"- {_author(name)}" for name in names[AUTHORS_SHOWN:AUTHORS_LINKED]))
        if (left := len(names) - AUTHORS_LINKED) > 0:
            st.caption(f"and {left:,} more")


def _draw_facts(home: Collection, paper: Paper) -> None:
    with row("paper_links"):
        if facts := facts_of(home, paper):
            st.caption(escaped(facts), width="content")
        for label, address in external_links(paper):
            st.link_button(
                label, address, type="tertiary", icon=":material/open_in_new:", icon_position="right"
            )
        draw_cite_menu(paper)
    if paper.labels:
        with row("paper_labels"):
            st.caption("Filed under", width="content")
            for label in paper.labels[:LABELS_SHOWN]:
                query = {"collection": paper.collection_id, "label": label}
                link_to(COLLECTION, escaped(shortened(label, LONGEST_NAME)), query_params=query)
    if paper.notes:
        with st.expander(counted(len(paper.notes), "note"), key="paper_notes"):
            for note in paper.notes:
                st.text(note)


def _draw_actions(visitor: Visitor, paper: Paper) -> None:
    if st.button("Ask about this paper", type="primary", key="ask_about"):
        ask_about(visitor, (paper.id,))
        st.switch_page(ASK.page, query_params={})
    if st.button("Summarise", key="summarise"):
        ask_about(visitor, (paper.id,))
        # The kind "summary" is then read from the question.
        set_field("request_kind", "Auto")
        visitor.update(VisitorSession.ask, summary_question(paper))
        st.switch_page(ASK.page, query_params={})
    if library_of(paper.id) or not is_upload(paper.id):
        _draw_adding(current_comparison(), paper)


def _draw_adding(session: CurrentComparison, paper: Paper) -> None:
    """Draw the button that adds the paper to the comparison, or a link to the comparison that has it."""
    if session.now.state == "choosing" and paper.id in session.now.papers:
        link_to(
            COMPARE,
            f"In the comparison: {counted(len(session.now.papers), 'paper')}",
            icon=":material/check:",
        )
    else:
        st.button(
            "Add to comparison",
            key="add_to_comparison",
            on_click=session.update,
            args=(ComparisonSession.add_to_chosen, paper.id),
        )
    for note in session.now.notes if session.now.state == "choosing" else ():
        st.caption(escaped(note))
