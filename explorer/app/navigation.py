"""The frame round every screen: pages, title, style, and what is shown when there is no corpus."""

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Literal
from urllib.parse import urlencode

import streamlit as st
from starlette.requests import Request
from starlette.responses import FileResponse
from streamlit.navigation.page import Page

from corpus.errors import CorpusError
from corpus.settings import read_settings
from explorer.app.login import is_admitted, render_sign_in
from explorer.app.one_by_one import screens
from explorer.app.resources import has_corpus, open_library
from explorer.app.session import current_caller, current_visitor, drawn_for
from explorer.app.upload_guard import admitted, current_session

IMAGES = Path(__file__).with_name("images")
STYLE = Path(__file__).with_name("style.css")
DARK_STYLE = Path(__file__).with_name("dark.css")


@dataclass(frozen=True, slots=True)
class Screen:
    """A screen: its address, which is also the name of its folder and of its page, and its title."""

    path: str
    title: str
    in_menu: bool = True

    @property
    def page(self) -> str:
        """The script that Streamlit runs to draw the screen."""
        return f"explorer/pages/{self.path}.py"

    @property
    def module(self) -> str:
        """The module that draws the screen, for the warm-up to import."""
        return f"explorer.{self.path}.screen"


# Every screen, in the order of the menu.
SCREENS = (
    COLLECTION := Screen("collection", "Collection"),
    PAPER := Screen("paper", "Paper", in_menu=False),
    ASK := Screen("ask", "Ask"),
    COMPARE := Screen("compare", "Compare"),
    READING := Screen("reading", "Reading"),
    Screen("about", "About"),
)
# The address without a path, which leads to a screen.
HOME = "explorer/pages/home.py"

# The pages as they were last made, of whatever session: a link asks no more of one than its address. Found
# by its path instead, a page is looked for on the disk for every link of every screen.
_known: dict[Screen, Page] = {}

# Held while the server loads the screens' modules: of two threads that load modules which import each other
# Python fails one, and it was the first visitor's.
loading_modules = threading.Lock()


# A page open for this long redraws nothing by itself.
_SELDOM = timedelta(days=1)


@st.fragment(run_every=_SELDOM)
def _draw_anew_once_connected_again() -> None:
    """Have Streamlit draw the whole page when it has lost its server and found one again.

    It does so of its own for pages of which a part is drawn by the clock. Of another the new server, or
    process, knew nothing: the first question, click or choice after that was lost without a word.
    """


def favicon(_request: Request) -> FileResponse:
    """Return our picture where Streamlit has its own: named by each screen, it was read again for each."""
    return FileResponse(IMAGES / "favicon.png")


def draw() -> None:
    """Draw the screen that the address asks for, when those asked for before are drawn."""
    with screens.turn():
        _draw()


def _draw() -> None:
    with loading_modules:
        pass
    st.set_page_config(page_title="Paper Trail", layout="wide", initial_sidebar_state="collapsed")
    is_dark = st.context.theme.type == "dark"
    st.html(STYLE)
    if is_dark:
        st.html(DARK_STYLE)
    st.logo(str(IMAGES / f"wordmark-{'dark' if is_dark else 'light'}.svg"), size="large")
    page = st.navigation(_pages(), position="top")
    _draw_anew_once_connected_again()
    if not is_admitted():
        admitted.turn_away(current_session())
        render_sign_in()
        return
    caller = current_caller(current_visitor())
    admitted.admit(current_session(), caller)
    try:
        if not has_corpus():
            _draw_first_run()
            return
        open_library()
    except CorpusError as error:
        _draw_corpus_error(error)
        return
    with drawn_for(caller.visitor):
        page.run()


def link_to(
    screen: Screen,
    label: str,
    *,
    icon: str | None = None,
    query_params: Mapping[str, str | Sequence[str]] | None = None,
    width: Literal["content", "stretch"] = "content",
) -> None:
    """Draw a link to a screen, in the same session."""
    st.page_link(_known[screen], label=label, icon=icon, query_params=query_params, width=width)


def inline_link(screen: Screen, label: str, query_params: Mapping[str, str]) -> str:
    """Return a link to a paper or the list as Markdown, to stand in a text; `label` is Markdown as well.

    The page's script (`explorer/components/listener.js`) follows it in the same session, as Streamlit does
    for a link that is an element of its own. A screen takes to draw what it has of elements: where links
    stand side by side they are one text.
    """
    return f"[{label}]({screen.path}?{urlencode(query_params)})"


def _pages() -> list[Page]:
    made = {screen: _page_of(screen) for screen in SCREENS}
    _known.update(made)
    home = st.Page(HOME, title="Paper Trail", url_path="home", default=True, visibility="hidden")
    return [home, *made.values()]


def _page_of(screen: Screen) -> Page:
    visibility: Literal["visible", "hidden"] = "visible" if screen.in_menu else "hidden"
    return st.Page(screen.page, title=screen.title, url_path=screen.path, visibility=visibility)


def _draw_first_run() -> None:
    """Say what to run, and offer to look again."""
    with st.container(key="reading_first_run"):
        st.title("There are no papers here yet", anchor=False)
        st.markdown(
            "Paper Trail answers from papers that it has indexed, and it has not indexed any yet. "
            "The demonstration collection holds sixteen short papers with their PDFs and takes about a "
            "minute. Stop the server, then run:"
        )
        st.code("make app", language=None)
        st.markdown("Or, while this page is open, index the demonstration or a volume of your own:")
        st.code(
            "paper-trail index demo\npaper-trail index folder FOLDER --collection ID --title TITLE",
            language=None,
        )
        st.caption("The corpus is looked for here:")
        st.code(str(read_settings().corpus_path), language=None)
        st.button("Look again", type="primary", key="look_again")


def _draw_corpus_error(error: CorpusError) -> None:
    """Say why the corpus cannot be used, in the words of the error."""
    with st.container(key="reading_corpus_error"):
        st.title("The corpus cannot be used", anchor=False)
        st.text(str(error))
        st.button("Try again", type="primary", key="try_again")
