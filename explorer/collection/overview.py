"""The Overview strip with figures on the papers in scope, computed only while it is open."""

from collections.abc import Sequence

import streamlit as st

from corpus.store.corpus import Corpus
from corpus.wording import counted
from explorer.app.navigation import PAPER, link_to
from explorer.collection.charts import current_theme, with_data
from explorer.collection.overview_chart import fields_spec, fields_table, is_sparse
from explorer.collection.restrictions import restrict_to
from explorer.components.rows import action
from explorer.presenters.finding import Finding
from explorer.presenters.overview import FieldYears, Overview, overview_of
from explorer.presenters.safe_text import escaped, one_line, shortened
from explorer.presenters.topics import topic_name
from explorer.presenters.wording import authors_and_year

LONGEST_TITLE = 90


def draw_overview(finding: Finding, *, narrow: bool) -> None:
    """Draw the strip, on all papers in scope and not only the results of a search."""
    corpus, scope = finding.corpus, finding.scope
    searched = corpus.count_papers(scope)
    papers = "the one paper" if searched == 1 else f"all {searched:,} papers"
    of_what = f" of {papers} searched" if finding.is_search else ""
    strip = st.expander(f"Overview{of_what}", key="overview", type="compact", bind="query-params")
    if not strip.open:
        return
    figures = overview_of(corpus, scope)
    with strip:
        if not (figures.fields.rows or figures.tasks or figures.methods or figures.tells_who_is_cited):
            st.markdown("Nothing is known yet of what these papers are about.")
            return
        shares = [0.44, 0.24, 0.32] if figures.tells_who_is_cited else [0.6, 0.4]
        places = [st.container() for _ in shares] if narrow else st.columns(shares, gap="large")
        with places[0]:
            _draw_fields(figures.fields, narrow=narrow)
        with places[1]:
            _draw_topics("Frequent tasks", "task", figures.tasks)
            _draw_topics("Frequent methods", "method", figures.methods)
        if figures.tells_who_is_cited:
            with places[2]:
                _draw_most_cited(corpus, figures)


def _draw_fields(fields: FieldYears, *, narrow: bool) -> None:
    if not fields.rows:
        return
    years = fields.years
    st.markdown(f"**Papers by field{' and year' if len(years) > 1 else f', {years[0]}'}**")
    spec = fields_spec(fields.names, years, current_theme(), narrow=narrow)
    st.vega_lite_chart(
        spec=with_data(spec, fields_table(fields)),
        alt=one_line(fields.in_words),
        key="overview_fields",
    )
    if len(years) > 1:
        gaps = " Years without papers are left out." if is_sparse(years) else ""
        st.caption(f"One scale for all fields: the highest bar is {counted(fields.most, 'paper')}.{gaps}")


def _draw_topics(title: str, kind: str, topics: Sequence[tuple[str, int]]) -> None:
    if not topics:
        return
    st.markdown(f"**{title}**")
    with st.container(key=f"overview_{kind}", gap=None):
        for number, (key, papers) in enumerate(topics, start=1):
            label = f"{escaped(topic_name(key))} :gray[{papers:,}]"
            action(label, f"overview_{kind}_{number}", restrict_to, "topic", key)


def _draw_most_cited(corpus: Corpus, figures: Overview) -> None:
    st.markdown("**Most cited here**")
    numbers = dict(figures.most_cited)
    with st.container(key="overview_cited", gap=None):
        for paper in corpus.papers_by_id(list(numbers)):
            title, by = shortened(paper.title, LONGEST_TITLE), authors_and_year(paper)
            label = f"{escaped(title)} :gray[{escaped(by)} · cited by {numbers[paper.id]:,}]"
            link_to(PAPER, label, query_params={"id": paper.id})
