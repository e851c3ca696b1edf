"""The About screen: the corpus, the writers, the scores, storage and limits."""

from collections.abc import Callable

import streamlit as st

from assistant.bounds import LONGEST_DESCRIPTION, LONGEST_QUESTION
from assistant.comparing.admission import FEWEST_PAPERS, MOST_PAPERS
from assistant.models.menu import HOSTED_TIMEOUT, OWN_TIMEOUT
from assistant.storage.spending import SpendingLimits, describe_limits
from corpus import VERSION
from corpus.search.hybrid import MAX_PAPERS, MIN_PAPERS
from corpus.settings import Settings
from explorer.about.corpus import draw_building, draw_holdings
from explorer.about.learned import draw_learned
from explorer.about.measured import draw_measured
from explorer.about.models import draw_writers
from explorer.about.scores import draw_scores
from explorer.app.login import draw_signed_in
from explorer.app.resources import Library
from explorer.app.session import Visitor
from explorer.presenters.safe_text import escaped

COMMANDS = """paper-trail index folder FOLDER --collection ID --title TITLE
paper-trail index acl 2022.acl-long --anthology FOLDER
paper-trail index arxiv --query QUERY --collection ID --title TITLE
paper-trail status"""


def render_about(library: Library, _reader: Visitor) -> None:
    """Draw the About screen with the part that the address names."""
    with st.container(key="reading_about"):
        st.title("About Paper Trail", anchor=False)
        st.markdown(
            "Paper Trail answers questions from a fixed collection of papers, or from documents of your own. "
            "Every sentence of an answer leads to the passage that carries it, and the whole exchange can be "
            "downloaded."
        )
        draw_signed_in()
        chosen = st.pills(
            "Parts",
            list(PARTS),
            default=next(iter(PARTS)),
            required=True,
            key="part",
            bind="query-params",
            label_visibility="collapsed",
        )
        title = chosen if chosen in PARTS else next(iter(PARTS))
        with st.container(key="about_part"):
            st.header(title, anchor=False)
            PARTS[title](library)
        st.caption(f"Paper Trail {VERSION} · Apache-2.0 · the demonstration papers are CC0")


def _draw_findings(_library: Library) -> None:
    st.markdown(
        "**Challenge, approach and outcome** are sentences of the paper itself, chosen from its abstract and "
        "introduction by their wording and place; where a model wrote one instead, its name and its overlap "
        "with the paper stand beside it."
    )
    st.markdown("**Tasks, methods, data sets and metrics** are those the paper names.")
    st.markdown(
        "**Fields of study** are guessed from how near the abstract comes to descriptions of fields, and can "
        "be wrong."
    )
    st.markdown("**References** are linked when their DOI, arXiv id or title is that of a paper here.")


def _draw_keeping(_library: Library) -> None:
    st.markdown(
        "Conversations and comparisons are stored on this server: questions, answers, what was sent and "
        "received on the way. Whoever has the link of one can open it, so share links as you would share "
        "what they lead to. What you delete is removed for good."
    )
    st.markdown(
        "Documents that you bring are kept for your visit only. Where a hosted model writes, it is sent your "
        "questions and the passages found for them, of your documents too; “Who writes” says who gets them."
    )
    st.markdown(
        "A cookie that says nothing about you tells which are this browser’s; it is used for nothing else. "
        "No page asks anything of another host, and nobody is counted or followed."
    )


def _draw_limits(library: Library) -> None:
    settings = library.settings
    often = settings.questions_per_ten_minutes
    limits = [
        "Only what these papers say can be answered. A question that they do not answer is refused.",
        "Figures, tables and formulas are known only by the text a parser finds in them.",
        "Whether a question is answered, and whether a paper is right, is for you to judge.",
        f"A question has at most {LONGEST_QUESTION:,} characters, and draws on {MIN_PAPERS} to {MAX_PAPERS} "
        "papers.",
        f"A comparison is of {FEWEST_PAPERS} to {MOST_PAPERS} papers; the description of your work has at "
        f"most {LONGEST_DESCRIPTION:,} characters.",
        f"{_patience(settings)} At most {settings.model_calls:,} calls to one server of models are under way "
        f"at once, {settings.model_calls_per_session:,} of them yours.",
    ]
    if often:
        limits.append(f"You can ask {often:,} questions in ten minutes.")
    limits += map(escaped, describe_limits(SpendingLimits.of(settings)))
    st.markdown("\n".join(f"- {limit}" for limit in limits))


def _patience(settings: Settings) -> str:
    begins = f"{settings.model_timeout:g}" if settings.model_timeout else f"{HOSTED_TIMEOUT:g}"
    own = "" if settings.model_timeout else f", one of one’s own {OWN_TIMEOUT:g} s"
    return (
        f"A hosted model may take {begins} s to begin its reply{own}, and pause {settings.model_silence:g} s "
        "within it."
    )


def _draw_adding(_library: Library) -> None:
    st.markdown("Collections are indexed from the terminal. Open screens see the new corpus at once.")
    st.code(COMMANDS, language=None)
    st.markdown(
        "A folder may hold PDF, GROBID’s TEI, Markdown, plain text and Word files, one paper each. A second "
        "run reads only what has changed, and a build that was stopped goes on where it was."
    )


PARTS: dict[str, Callable[[Library], None]] = {
    "What the corpus holds": draw_holdings,
    "How it was built": draw_building,
    "What is found in papers": _draw_findings,
    "Who writes": draw_writers,
    "How well it does": draw_measured,
    "What the scores mean": lambda _library: draw_scores(),
    "What was learned": lambda _library: draw_learned(),
    "What is kept": _draw_keeping,
    "Limits": _draw_limits,
    "Add a collection": _draw_adding,
}
