"""The form that keeps the uploads of a visit, in a new library or in an existing one."""

import streamlit as st

from assistant.records import AssistantError
from corpus.errors import CorpusError
from corpus.wording import counted
from explorer.app.resources import Library
from explorer.app.session import Visitor, field_value, has_field, set_field
from explorer.app.visitor.session import VisitorSession
from explorer.presenters.safe_text import shortened
from explorer.uploads.kept import keep_visit, kept_libraries
from explorer.uploads.library_panel import LONGEST_TITLE, draw_message, say, target
from explorer.uploads.wording import keeping_message
from indexer.uploads.session import UploadSession

_WANTED, _TITLE, _PLACE = "wants_to_keep", "keep_title", "keep_place"
NEW = "A new library"


def wants_to_keep() -> bool:
    """Return True if the form is open."""
    return bool(field_value(_WANTED)) or bool(target())


def want_to_keep(*, wanted: bool = True) -> None:
    say()
    set_field(_WANTED, wanted)
    if not wanted:
        set_field("keep_target", "")


def draw_keeping(library: Library, visitor: Visitor, uploads: UploadSession) -> None:
    """Draw the form that keeps the documents that are ready."""
    titles = {kept.id: kept.title for kept in kept_libraries(library, visitor) if kept.is_own}
    with st.container(key="keeping", border=True, gap="small"):
        place = _draw_place(titles) if titles else ""
        if not place:
            if not has_field(_TITLE):
                first = next(iter(uploads.ready()), None)
                set_field(_TITLE, shortened(first.title, 80) if first else "")
            st.text_input("Name of the library", key=_TITLE, max_chars=LONGEST_TITLE)
        st.caption(
            "Kept until you delete it, for you alone: in this browser, or wherever you sign in. What was "
            "asked of these documents is kept with them."
        )
        draw_message("own_said_keeping")
        with st.container(horizontal=True):
            label = f"Keep {counted(len(uploads.ready()), 'document')}"
            args = (library, visitor, uploads, place)
            st.button(label, type="primary", key="keep_surely", on_click=_keep, args=args)
            st.button("Not now", key="keep_not", on_click=want_to_keep, kwargs={"wanted": False})


def _draw_place(titles: dict[str, str]) -> str:
    """Draw the choice of the library; return its id, "" for a new one."""
    places = ["", *titles]
    if field_value(_PLACE) not in places:
        set_field(_PLACE, target() if target() in places else "")
    chosen = st.selectbox(
        "Where", places, format_func=lambda library_id: shortened(titles.get(library_id, NEW), 80), key=_PLACE
    )
    return str(chosen or "")


def _keep(library: Library, visitor: Visitor, uploads: UploadSession, place: str) -> None:
    title = str(field_value(_TITLE) or "")
    try:
        grown = keep_visit(library, visitor, uploads, title, place)
        stored = library.libraries().store.get(grown.library_id)
    except (AssistantError, CorpusError) as error:
        say(str(error))
        return
    want_to_keep(wanted=False)
    visitor.update(VisitorSession.open_documents, grown.library_id)
    say(keeping_message(stored.title if stored else title, grown))
