"""The frame of every screen: pages, title, style, and the page shown without a corpus."""

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
from explorer.app.session import current_caller, current_visitor, drawing_for
from explorer.app.upload_guard import admitted, current_session

IMAGES = Path(__file__).with_name("images")
STYLE = Path(__file__).with_name("style.css")
DARK_STYLE = Path(__file__).with_name("dark.css")


@dataclass(frozen=True, slots=True)
class Screen:
    """A screen: its path, which also names its folder and its page script, and its title."""

    path: str
    title: str
    in_menu: bool = True

    @property
    def page(self) -> str:
        """Return the script that Streamlit runs to draw the screen."""
        return f"explorer/pages/{self.path}.py"

    @property
    def module(self) -> str:
        """Return the module that draws the screen, which the warm-up imports."""
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
# The page of the bare address, which redirects to a screen.
HOME = "explorer/pages/home.py"

# The pages last made by any session, whose addresses are the same. A link by path would look the page up on
# the disk each time.
_known: dict[Screen, Page] = {}

# Held while the warm-up loads the screens' modules: when two threads load modules that import each other,
# Python fails one of them.
loading_modules = threading.Lock()


# So long that the fragment itself practically never reruns.
_SELDOM = timedelta(days=1)


@st.fragment(run_every=_SELDOM)
def _rerun_after_reconnecting() -> None:
    """Make Streamlit rerun the page after it has lost its server and reconnected.

    It does that only for pages with a timed fragment. Otherwise the new server process does not know the
    session's state, and the first question, click or choice is lost.
    """


def favicon(_request: Request) -> FileResponse:
    """Return our favicon in place of Streamlit's; set per screen, it would be read again at each rerun."""
    return FileResponse(IMAGES / "favicon.png")


def draw() -> None:
    """Draw the screen that the address names, after the screens requested before it."""
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
    _rerun_after_reconnecting()
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
        with st.container(key="reading_corpus_error"):
            st.title("The corpus cannot be used", anchor=False)
            st.text(str(error))
            st.button("Try again", type="primary", key="try_again")
        return
    with drawing_for(caller.visitor):
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
    """Return a link to a screen as Markdown, to be part of a text; `label` is Markdown as well.

    The page's script (`explorer/components/listener.js`) follows it in the same session. Many links in one
    text are drawn faster than as many `st.page_link` elements.
    """
    return f"[{label}]({screen.path}?{urlencode(query_params)})"


def _pages() -> list[Page]:
    for screen in SCREENS:
        visibility: Literal["visible", "hidden"] = "visible" if screen.in_menu else "hidden"
        _known[screen] = st.Page(screen.page, title=screen.title, url_path=screen.path, visibility=visibility)
    home = st.Page(HOME, title="Paper Trail", url_path="home", default=True, visibility="hidden")
    return [home, *(_known[screen] for screen in SCREENS)]


def _draw_first_run() -> None:
    """Draw the commands that build a corpus, and a button to look again."""
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
