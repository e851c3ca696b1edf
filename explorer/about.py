"""The About screen: what is here, how it was made, and what the scores mean."""

import streamlit as st

from assistant.thresholds import thresholds
from corpus.version import VERSION
from explorer.parts.safe_text import escaped
from explorer.parts.score_bar import meaning, score_bars
from explorer.parts.wording import day
from explorer.reader import Reader
from explorer.resources import Library

COMMANDS = """python -m indexer demo
python -m indexer folder FOLDER --collection ID --title TITLE
python -m indexer acl 2022.acl-long --anthology FOLDER
python -m indexer arxiv --query QUERY --collection ID --title TITLE
python -m indexer status"""


def render_about(library: Library, _reader: Reader) -> None:
    """Draw the About screen."""
    with st.container(key="reading_about"):
        st.title("About Paper Trail", anchor=False)
        st.markdown(
            "Paper Trail answers questions from a fixed collection of papers. Every sentence of an answer "
            "leads to the passage that carries it, and the whole exchange can be downloaded."
        )
        _draw_holdings(library)
        _draw_scores()
        _draw_findings()
        _draw_writers(library)
        _draw_keeping()
        st.subheader("Add a collection", anchor=False)
        st.markdown("Collections are indexed from the terminal. Open screens see the new corpus at once.")
        st.code(COMMANDS, language=None)
        st.caption(f"Paper Trail {VERSION} · Apache-2.0")


def _draw_holdings(library: Library) -> None:
    st.subheader("What the corpus holds", anchor=False)
    rows = [
        {
            "Collection": one.collection.title,
            "Papers": one.papers,
            "Full texts": one.full_texts,
            "Passages": one.passages,
            "Failed": one.failed,
            "Built": day(one.built),
            "Licence": one.collection.licence,
        }
        for one in library.corpus.collections()
    ]
    st.dataframe(rows, hide_index=True, key="holdings", alt="Collections with counts of papers and passages")
    manifest = library.corpus.manifest
    st.markdown(
        f"Passages are found by words and by meaning together. The encoder is {escaped(manifest.encoder)}, "
        f"weights {escaped(manifest.encoder_sha256[:12])}, run by {escaped(manifest.runtime)}."
    )


def _draw_scores() -> None:
    bars = thresholds().overlap
    st.subheader("What the bars mean", anchor=False)
    st.markdown(escaped(meaning()))
    st.html(
        "".join(
            score_bars(score, score) for score in (bars.partial / 2, (bars.partial + bars.strong) / 2, 0.9)
        )
    )
    st.markdown(
        "A high overlap can still be wrong: a changed number or a missing “not” leaves most words in place. "
        "A low one can be right, when the writer used other words. Support is there for both: it is an "
        "estimate, trained on claims that people have judged, and it errs too. Where the two bars disagree, "
        "look twice."
    )


def _draw_findings() -> None:
    st.subheader("What is found in papers", anchor=False)
    st.markdown(
        "Challenge, approach and outcome are sentences of the paper itself, chosen from its abstract and "
        "introduction by their wording and place; where a model wrote one instead, its name and its overlap "
        "with the paper stand beside it. Tasks, methods, data sets and metrics are those the paper names. "
        "Fields of study are guessed from how near the abstract comes to descriptions of fields, and can be "
        "wrong. A reference is linked when its DOI, arXiv id or title is that of a paper here."
    )


def _draw_keeping() -> None:
    st.subheader("What is kept", anchor=False)
    st.markdown(
        "Conversations are stored on this server. A cookie that says nothing about you tells which are this "
        "browser’s; it is used for nothing else. Whoever has a conversation’s link can open it, so share "
        "links as you would share the conversation. What you delete is removed for good."
    )


def _draw_writers(library: Library) -> None:
    st.subheader("Who writes", anchor=False)
    names = "\n".join(f"- {escaped(one.label)}" for one in library.writers())
    st.markdown(names)
    st.markdown(
        "The extractive writer uses no model: it chooses sentences of the papers and arranges them, so "
        "nothing is invented. With `TOGETHER_API_KEY`, or `PAPER_TRAIL_MODEL_URL` for a server of your own, "
        "language models join the menu; questions and passages are then sent there. "
        "`PAPER_TRAIL_LOCAL_MODEL` names a model that runs on this machine."
    )
