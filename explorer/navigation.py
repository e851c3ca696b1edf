"""The frame round every screen: pages, title, style, and what is shown when there is no corpus."""

from pathlib import Path

import streamlit as st

from corpus.errors import CorpusError
from explorer.first_run import render_corpus_error, render_first_run
from explorer.login import is_admitted, render_sign_in
from explorer.parts.style import DARK_STYLE, STYLE
from explorer.resources import has_corpus, open_library

IMAGES = Path(__file__).parent / "images"

HOME = "explorer/pages/home.py"
COLLECTION = "explorer/pages/collection.py"
PAPER = "explorer/pages/paper.py"
ASK = "explorer/pages/ask.py"
COMPARE = "explorer/pages/compare.py"
ABOUT = "explorer/pages/about.py"


def draw() -> None:
    """Draw the screen that the address asks for."""
    # A picture of ours: Streamlit would fetch a page's icon as favicon from another host.
    st.set_page_config(
        page_title="Paper Trail",
        page_icon=str(IMAGES / "favicon.png"),
        layout="wide",
        initial_sidebar_state="collapsed",
    )
    is_dark = st.context.theme.type == "dark"
    st.html(STYLE + DARK_STYLE if is_dark else STYLE)
    st.logo(str(IMAGES / f"wordmark-{'dark' if is_dark else 'light'}.svg"), size="large")
    page = st.navigation(
        [
            st.Page(HOME, title="Paper Trail", url_path="home", default=True, visibility="hidden"),
            st.Page(COLLECTION, title="Collection", url_path="collection"),
            st.Page(PAPER, title="Paper", url_path="paper", visibility="hidden"),
            st.Page(ASK, title="Ask", url_path="ask"),
            st.Page(COMPARE, title="Compare", url_path="compare"),
            st.Page(ABOUT, title="About", url_path="about"),
        ],
        position="top",
    )
    if not is_admitted():
        render_sign_in()
        return
    if not has_corpus():
        render_first_run()
        return
    try:
        open_library()
    except CorpusError as error:
        render_corpus_error(error)
        return
    page.run()
