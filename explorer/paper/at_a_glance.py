"""What a paper is about at a glance: challenge, approach and outcome, and its topics."""

import streamlit as st

from corpus.records import Aspect, Paper
from explorer.app import COLLECTION, PAPER, link_to
from explorer.components import row, sentence_bar
from explorer.presenters import (
    ASPECT_NAMES,
    TOPIC_KIND_NAMES,
    by_kind,
    escaped,
    ordered_aspects,
    shortened,
    topic_name,
)

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
    with row(f"reading_aspect_{aspect.name}", align="top"):
        st.markdown(f"**{ASPECT_NAMES[aspect.name]}**")
        with st.container(key=f"says_so_{aspect.name}"):
            st.text(shortened(aspect.text, LONGEST_ASPECT))
            if aspect.writer:
                st.caption(f"Written by {escaped(shortened(aspect.writer, 80))}, checked:", help=CHECKED)
                st.html(sentence_bar(aspect.overlap))
            place = {"passage": str(aspect.passage), "sentence": str(aspect.sentence)}
            link_to(PAPER, "Where it says so", query_params={"id": paper.id, **place})


def _draw_topics(paper: Paper) -> None:
    """Draw topics as chips, each the way to the papers that share it."""
    with row("topics"):
        for kind, topics in by_kind(paper.topics).items():
            with row(f"topics_{kind}", gap="xxsmall", width="content"):
                st.caption(TOPIC_KIND_NAMES[kind], width="content")
                for topic in topics:
                    label = escaped(topic_name(topic.key))
                    link_to(COLLECTION, label, query_params={"topic": topic.key})
