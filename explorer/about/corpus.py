"""The content of the corpus, and how it was built."""

import streamlit as st

from corpus.encoders.languages import encoder_languages
from corpus.language.identified import UNTOLD
from corpus.language.names import language_names
from corpus.wording import counted
from explorer.about.builds import (
    MOST_LISTED,
    Row,
    build_rows,
    failures,
    format_effort,
    format_parsers,
    last_builds,
    remarks,
)
from explorer.app.resources import Library
from explorer.presenters.safe_text import escaped
from explorer.presenters.wording import collection_facts, collection_titles, day


def draw_holdings(library: Library) -> None:
    """Draw a table of the collections, and the languages of papers and encoder."""
    summaries = library.corpus.collections()
    titles = collection_titles(summaries)
    rows = [
        {
            "Collection": titles[summary.collection.id],
            "Papers": summary.papers,
            "Full texts": summary.full_texts,
            "Passages": summary.passages,
            "Built": day(summary.built),
            "Licence": summary.collection.licence,
        }
        for summary in summaries
    ]
    st.markdown(escaped(f"{counted(len(summaries), 'collection')}: {collection_facts(summaries)}."))
    st.dataframe(rows, hide_index=True, key="holdings", alt="Collections with counts of papers and passages")
    st.markdown(
        "Papers are cut into passages, which are found by words and by meaning together. Where a paper has "
        "no full text here, its abstract is what can be found and cited."
    )
    papers = library.corpus.statistics.language_counts()
    readable = language_names(encoder_languages(library.corpus.manifest.encoder) - {UNTOLD}) or "any language"
    subject = f"The papers are in {language_names(papers)}; the" if papers else "The"
    st.markdown(escaped(f"{subject} encoder reads {readable}."))


def draw_building(library: Library) -> None:
    """Draw the results of the last build of each collection, and the encoder."""
    summaries = library.corpus.collections()
    titles = collection_titles(summaries)
    builds = last_builds(library.corpus.builds(), titles)
    if builds:
        st.markdown("The last build of each collection:")
        st.dataframe(
            build_rows(builds, titles),
            hide_index=True,
            key="builds",
            alt="The last build of each collection: papers that were new, changed, the same, gone, failed",
        )
        parsers = format_parsers(builds)
        facts = (format_effort(builds), f"Papers read: {parsers}." if parsers else "")
        st.markdown(escaped(" ".join(filter(None, facts))))
        _draw_listed("Not indexed", failures(builds, titles), "not_indexed")
        _draw_listed("Indexed, with a remark", remarks(builds, titles), "remarked")
    else:
        st.markdown(
            "This corpus has no record of its builds. The next one writes it: run the command that made the "
            "collection again; what has not changed is not read anew."
        )
    manifest = library.corpus.manifest
    st.markdown(
        f"The encoder is {escaped(manifest.encoder)}, with {manifest.dimension:,} numbers for a text, run by "
        f"{escaped(manifest.runtime)}; its weights are {escaped(manifest.encoder_sha256[:12])}. A corpus is "
        "read only by the encoder that built it."
    )


def _draw_listed(title: str, entries: list[Row], place: str) -> None:
    """Draw a table of papers in a fold, unless it is empty."""
    if not entries:
        return
    with st.expander(f"{title}: {counted(len(entries), 'paper')}", key=place):
        st.dataframe(entries[:MOST_LISTED], hide_index=True, key=f"{place}_rows", alt=title)
        if len(entries) > MOST_LISTED:
            st.caption(f"The first {MOST_LISTED:,}. All of them: paper-trail index report --json")
