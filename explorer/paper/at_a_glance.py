"""A paper at a glance: challenge, approach and outcome, and its topics."""

import streamlit as st

from corpus.records import Aspect, Paper
from explorer.app.navigation import PAPER, inline_link
from explorer.collection.filters import list_link
from explorer.components.rows import row
from explorer.components.score_bar import sentence_bar
from explorer.presenters.safe_text import escaped, shortened
from explorer.presenters.topics import TOPIC_KIND_NAMES, by_kind, topic_name
from explorer.presenters.wording import ASPECT_NAMES, ordered_aspects

LONGEST_ASPECT = 600
CHECKED = (
    "Overlap is the share of its words that the sentence in the paper also has (ROUGE-1 precision). "
    "It measures wording, not truth: read the sentence."
)


def draw_at_a_glance(paper: Paper) -> None:
    """Draw a paper's aspects, each with a link to its sentence, and its topics."""
    if paper.aspects:
        with st.container(key="aspects", gap="small"):
            for aspect in ordered_aspects(paper.aspects):
                _draw_aspect(paper, aspect)
    if topics_by_kind := by_kind(paper.topics):
        lines = []
        for kind, topics in topics_by_kind.items():
            named = ((escaped(topic_name(topic.key)), topic.key) for topic in topics)
            if links := " ".join(list_link(name, "topic", key) for name, key in named if name):
                lines.append(f"- :gray[{TOPIC_KIND_NAMES[kind]}] {links}")
        with st.container(key="topics"):
            st.markdown("\n".join(lines))


def _draw_aspect(paper: Paper, aspect: Aspect) -> None:
    with row(f"reading_aspect_{aspect.name}", align="top"):
        st.markdown(f"**{ASPECT_NAMES[aspect.name]}**")
        with st.container(key=f"says_so_{aspect.name}"):
            place = {"id": paper.id, "passage": str(aspect.passage), "sentence": str(aspect.sentence)}
            there = inline_link(PAPER, "Where it says so", place)
            st.markdown(f"{escaped(shortened(aspect.text, LONGEST_ASPECT))}\n\n{there}")
            if aspect.writer:
                st.caption(f"Written by {escaped(shortened(aspect.writer, 80))}, checked:", help=CHECKED)
                st.html(sentence_bar(aspect.overlap))
