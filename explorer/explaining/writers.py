"""Who writes: the menu of generators, where questions go, and how models can be told to write."""

import streamlit as st

from assistant.best_of import MOST_DRAFTS
from assistant.generators.extractive import ExtractiveGenerator
from assistant.records import AssistantError
from corpus.settings import Settings
from explorer.explaining.menu import Writer, not_offered, offered, parameter_rows
from explorer.parts.safe_text import escaped
from explorer.resources import Library


def draw_writers(library: Library) -> None:
    """Draw who can write here, who could, and what the parameters of a model mean."""
    with st.container(key="writer_extractive", gap="xxsmall"):
        st.markdown(f"**{escaped(ExtractiveGenerator.label)}**")
        st.markdown(
            "It chooses sentences of the papers and arranges them, so nothing is invented, and nothing "
            "leaves this server. It needs no key and costs nothing."
        )
    try:
        _draw_models(library.settings, offered(library.settings))
        _draw_parameters(library.settings)
    except AssistantError as error:
        st.markdown(escaped(str(error)))


def _draw_models(settings: Settings, models: tuple[Writer, ...]) -> None:
    for number, model in enumerate(models):
        with st.container(key=f"writer_{number}", gap="xxsmall"):
            st.markdown(f"**{escaped(model.label)}**")
            st.markdown(escaped(model.place))
            st.caption(escaped(" · ".join(model.facts)))
    if models:
        st.markdown(
            "A model is sent the question, the turns of the conversation before it, and the passages found. "
            "What was sent is shown under each answer’s “Trail”, and its answer is checked like any other."
        )
    others = not_offered(settings)
    if others:
        st.markdown("Whoever runs this Paper Trail can have more on the menu:")
        st.markdown("\n".join(f"- with `{name}`: {escaped(', '.join(one))}" for name, one in others.items()))
    st.markdown(
        "`PAPER_TRAIL_LOCAL_MODEL` names a model that runs on this machine, `PAPER_TRAIL_MODELS_FILE` a list "
        "of models and prices of one’s own."
    )


def _draw_parameters(settings: Settings) -> None:
    st.subheader("How a model writes", anchor=False)
    for row in parameter_rows(settings):
        st.markdown(
            f"**{escaped(row['Parameter'])}.** {escaped(row['What it does'])} "
            f"From {escaped(row['May be'])}; here {escaped(row['Here'])} unless you choose."
        )
    st.markdown(
        f"**Drafts.** Up to {MOST_DRAFTS} can be asked for; the one whose citations check out best is kept, "
        "and each costs a call."
    )
