"""What is said of a conversation or a comparison that came from a file."""

import streamlit as st


def draw_imported(what: str, file: str) -> None:
    """Say that nothing in it was checked again, and how that is done; both names are of ours."""
    with st.container(border=True, key="imported"):
        st.markdown(
            f":material/upload_file: This {what} came from a file. Its texts, passages and scores stand "
            "as the file has them: nothing was checked again here. To have it checked against the corpus, "
            f"download it as JSON and run `python -m assistant replay {file}`."
        )
