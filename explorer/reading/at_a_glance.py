"""What a paper is about at a glance: challenge, approach and outcome, and its topics."""

import streamlit as st

from corpus.records import Aspect, Paper
from explorer.navigation import COLLECTION, PAPER
from explorer.parts.safe_text import escaped, shortened
from explorer.parts.score_bar import sentence_bar
from explorer.parts.topics import KIND_NAMES, by_kind, topic_name
from explorer.parts.wording import ASPECT_NAMES, ordered_aspects

LONGEST_ASPECT = 600
CHECKED = (
    "Overlap is the share of its words that the sentence in the paper also has (ROUGE-1 precision). "
    "It measures wording, not truth: read the sentence."
)


def draw_at_a_glance(paper: Paper) -> None:
    """Draw a paper's aspects, each with the way to the sentence that says it, and its topics."""
    if paper.aspects:
        with st.container(key="aspects", gap="small"):
            for aspect in ordered_aspects(paper.aspects):
                _draw_aspect(paper, aspect)
    if by_kind(paper.topics):
        _draw_topics(paper)


def _draw_aspect(paper: Paper, aspect: Aspect) -> None:
    with st.container(key=f"reading_aspect_{aspect.name}"):
        name, text = st.columns([0.17, 0.83], gap="small")
        with name:
            st.markdown(f"**{ASPECT_NAMES[aspect.name]}**")
        with text:
            st.text(shortened(aspect.text, LONGEST_ASPECT))
            if aspect.writer:
                st.caption(f"Written by {escaped(shortened(aspect.writer, 80))}, checked:", help=CHECKED)
                st.html(sentence_bar(aspect.overlap))
            with st.container(key=f"says_so_{aspect.name}"):
                st.page_link(
                    PAPER,
                    label="Where it says so",
                    query_params={
                        "id": paper.id,
                        "passage": str(aspect.passage),
                        "sentence": str(aspect.sentence),
                    },
                )


def _draw_topics(paper: Paper) -> None:
    """Draw topics as chips, each the way to the papers that share it."""
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="topics"):
        for kind, topics in by_kind(paper.topics).items():
            with st.container(
                horizontal=True,
                vertical_alignment="center",
                gap="xxsmall",
                width="content",
                key=f"topics_{kind}",
            ):
                st.caption(KIND_NAMES[kind], width="content")
                for topic in topics:
                    st.page_link(
                        COLLECTION, label=escaped(topic_name(topic.key)), query_params={"topic": topic.key}
                    )
