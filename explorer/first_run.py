"""What is shown instead of every screen while there is no corpus to show."""

import streamlit as st

from corpus.errors import CorpusError
from corpus.settings import read_settings


def render_first_run() -> None:
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
            "python -m indexer demo\npython -m indexer folder FOLDER --collection ID --title TITLE",
            language=None,
        )
        st.caption("The corpus is looked for here:")
        st.code(str(read_settings().corpus_path), language=None)
        st.button("Look again", type="primary", key="look_again")


def render_corpus_error(error: CorpusError) -> None:
    """Say why the corpus cannot be used, in the words of the error."""
    with st.container(key="reading_corpus_error"):
        st.title("The corpus cannot be used", anchor=False)
        st.text(str(error))
        st.button("Try again", type="primary", key="try_again")
