"""The panel of a question that was not answered: why, what came near, what there is, what to try."""

import streamlit as st

from assistant.records import Refusal, Turn
from corpus.records import Scope, parse_passage_id
from explorer.documents.visit import ask_own, documents_of_visit
from explorer.documents.wording import not_searched
from explorer.navigation import PAPER
from explorer.parts.coverage import changed_query, covered, listed, names_papers
from explorer.parts.safe_text import escaped, shortened
from explorer.reader import Reader
from explorer.resources import Library

EXCERPT = 240


def draw_refusal(library: Library, reader: Reader, number: int, turn: Turn, refusal: Refusal) -> None:
    """Draw why turn `number` was not answered, and ways on."""
    with st.container(border=True, key=f"reading_refusal_{number}"):
        st.markdown("**Not answered**")
        st.markdown(escaped(refusal.message))
        _draw_not_searched(reader, number, turn)
        _draw_nearest(number, refusal)
        _draw_covered(library, refusal, turn.scope)
        _draw_another_query(reader, number, turn)


def _draw_not_searched(reader: Reader, number: int, turn: Turn) -> None:
    """Say that the reader's own documents were left out, with the way to ask them."""
    own = None if reader.is_private else documents_of_visit()
    documents = [one for one in own.documents() if one.state != "failed"] if own else []
    if not documents:
        return
    ready = sum(one.state == "ready" for one in documents)
    with st.container(horizontal=True, vertical_alignment="center", key=f"not_searched_{number}"):
        st.markdown(not_searched(ready, len(documents)), width="content")
        if ready:
            st.button(
                "Ask your documents",
                key=f"ask_own_{number}",
                icon=":material/description:",
                disabled=bool(reader.job_id),
                on_click=_ask_own,
                args=(reader, turn.question),
            )


def _ask_own(reader: Reader, question: str) -> None:
    ask_own(reader)
    reader.ask(question)


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


def _draw_covered(library: Library, refusal: Refusal, scope: Scope) -> None:
    st.markdown("What was searched:" if _is_restricted(scope) else "What the corpus covers:")
    st.markdown(listed(refusal.covers or covered(library.corpus, scope)))


def _draw_another_query(reader: Reader, number: int, turn: Turn) -> None:
    """Offer another query, and a wider scope where the question was asked of a part of the corpus."""
    key = f"try_query_{reader.opened}_{number}"
    with st.form(f"try_{number}", border=False):
        st.text_input("Search again with other words", value=changed_query(turn), key=key)
        st.form_submit_button(
            "Search again", key=f"try_again_{number}", on_click=search_again, args=(reader, turn, key)
        )
    if _is_restricted(turn.scope):
        st.button(
            "Look in all collections",
            key=f"widen_{number}",
            type="tertiary",
            icon=":material/open_in_full:",
            on_click=reader.ask,
            args=(turn.question, "", Scope()),
        )


def search_again(reader: Reader, turn: Turn, key: str) -> None:
    """Ask a turn's question again, of the same papers, with the search query that was written."""
    if query := str(st.session_state.get(key) or "").strip():
        reader.ask(turn.question, query, turn.scope)


def paper_link(label: str, paper_id: str, passage: str = "") -> None:
    query = {"id": paper_id, "passage": passage} if passage else {"id": paper_id}
    st.page_link(PAPER, label=escaped(shortened(label, 140)), query_params=query)


def _is_restricted(scope: Scope) -> bool:
    return names_papers(scope) or bool(scope.collections)
