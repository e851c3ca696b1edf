"""The panel of a refusal: its reason, the nearest passages, what was searched, other searches."""

import streamlit as st

from assistant.records import Refusal, Turn
from corpus.records import Scope, parse_passage_id
from explorer.app.resources import Library
from explorer.app.session import Visitor, field_value
from explorer.app.visitor.session import VisitorSession
from explorer.components.checked_text import paper_link
from explorer.presenters.coverage import changed_query, covered, listed, names_papers
from explorer.presenters.safe_text import escaped, shortened
from explorer.uploads.visit import ask_uploads, documents_of_visit
from explorer.uploads.wording import not_searched

EXCERPT = 240


def draw_refusal(number: int, refusal: Refusal) -> None:
    """Draw the reason why turn `number` was not answered."""
    with st.container(border=True, key=f"reading_refusal_{number}"):
        title = "Not answered yet" if refusal.reason == "which_paper" else "Not answered"
        st.markdown(f"**{title}**\n\n{escaped(refusal.message)}")


def draw_beside_refusal(
    library: Library, visitor: Visitor, number: int, turn: Turn, refusal: Refusal
) -> None:
    """Draw the nearest passages, what was searched, and other searches."""
    with st.container(key=f"reading_ways_on_{number}"):
        if refusal.reason == "which_paper":
            _draw_choices(visitor, number, turn, refusal)
            return
        _draw_not_searched(visitor, number, turn)
        _draw_nearest(number, refusal)
        st.markdown("What was searched:" if _is_restricted(turn.scope) else "What the corpus covers:")
        st.markdown(listed(refusal.covers or covered(library.corpus, turn.scope)))
        _draw_another_query(visitor, number, turn)


def _draw_choices(visitor: Visitor, number: int, turn: Turn, refusal: Refusal) -> None:
    """Draw a button for each paper that may be meant, which asks the question of that paper."""
    with st.container(key=f"quiet_which_{number}", gap="xxsmall"):
        for place, nearest in enumerate(refusal.nearest):
            st.button(
                escaped(shortened(nearest.title, 140)),
                key=f"which_{number}_{place}",
                type="tertiary",
                icon=":material/article:",
                disabled=bool(visitor.now.job_id),
                on_click=visitor.update,
                args=(VisitorSession.ask, turn.question, "", Scope(papers=(nearest.paper_id,))),
            )


def _draw_not_searched(visitor: Visitor, number: int, turn: Turn) -> None:
    """Draw a note that the visitor's own documents were not searched, with a button to ask them."""
    uploads = None if visitor.now.asks_own else documents_of_visit()
    documents = (
        [document for document in uploads.documents() if document.state != "failed"] if uploads else []
    )
    if not documents:
        return
    ready = sum(document.state == "ready" for document in documents)
    with st.container(horizontal=True, vertical_alignment="center", key=f"not_searched_{number}"):
        st.markdown(not_searched(ready, len(documents)), width="content")
        if ready:
            st.button(
                "Ask your documents",
                key=f"ask_own_{number}",
                icon=":material/description:",
                disabled=bool(visitor.now.job_id),
                on_click=_ask_own,
                args=(visitor, turn.question),
            )


def _ask_own(visitor: Visitor, question: str) -> None:
    ask_uploads(visitor)
    visitor.update(VisitorSession.ask, question)


def _draw_nearest(number: int, refusal: Refusal) -> None:
    if refusal.nearest:
        st.markdown("The nearest passages:")
    named = ""
    for place, nearest in enumerate(refusal.nearest):
        with st.container(key=f"title_link_nearest_{number}_{place}", gap="xxsmall"):
            if nearest.paper_id != named:
                paper_link(nearest.title, nearest.paper_id, str(parse_passage_id(nearest.passage_id)[1]))
            named = nearest.paper_id
            st.text(shortened(nearest.text, EXCERPT))


def _draw_another_query(visitor: Visitor, number: int, turn: Turn) -> None:
    """Draw a field for another query, and a button that widens a restricted scope."""
    key = f"try_query_{visitor.now.opened}_{number}"
    with st.form(f"try_{number}", border=False):
        st.text_input("Search again with other words", value=changed_query(turn), key=key)
        st.form_submit_button(
            "Search again", key=f"try_again_{number}", on_click=search_again, args=(visitor, turn, key)
        )
    if _is_restricted(turn.scope):
        st.button(
            "Look in all collections",
            key=f"widen_{number}",
            type="tertiary",
            icon=":material/open_in_full:",
            on_click=visitor.update,
            args=(VisitorSession.ask, turn.question, "", Scope()),
        )


def search_again(visitor: Visitor, turn: Turn, key: str) -> None:
    """Ask a turn's question again, in its scope, with the search query of field `key`."""
    if query := str(field_value(key) or "").strip():
        visitor.update(VisitorSession.ask, turn.question, query, turn.scope)


def _is_restricted(scope: Scope) -> bool:
    return names_papers(scope) or bool(scope.collections)
