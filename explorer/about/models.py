"""The writers: the menu of models, where questions are sent, and the parameters of models."""

from collections.abc import Iterator
from dataclasses import dataclass

import streamlit as st

from assistant.generators.best_of import MOST_DRAFTS
from assistant.generators.extractive.generator import ExtractiveGenerator
from assistant.generators.parameters import RANGES, default_parameters
from assistant.models.menu import PROVIDERS, ModelEntry, available_models, is_mute, load_models, receiver
from assistant.records import AssistantError
from assistant.serving.spending import uncounted_models
from corpus.settings import Settings
from explorer.app.resources import Library
from explorer.ask.choices import WORDS
from explorer.presenters.safe_text import escaped, one_line


@dataclass(frozen=True, slots=True)
class Writer:
    """A model on the menu in words: its label, where it runs, and its limits and price."""

    label: str
    place: str
    facts: tuple[str, ...]


def draw_writers(library: Library) -> None:
    """Draw the available writers, models that could be added, and the parameters of a model."""
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
            "What was sent is one click from each answer, which is checked like any other."
        )
    if uncounted := uncounted_models(settings):
        names = ", ".join(one_line(entry.label) for entry in uncounted)
        st.markdown(
            f"What these cost is not known here, and what may be spent is limited, so they cannot be chosen: "
            f"{escaped(names)}. A list of models of one’s own can name their prices."
        )
    others = not_offered(settings)
    if others:
        st.markdown("Whoever runs this Paper Trail can have more on the menu:")
        st.markdown(
            "\n".join(f"- with `{name}`: {escaped(', '.join(labels))}" for name, labels in others.items())
        )
    if is_mute(settings):
        st.markdown(
            "The server that is set here does not say what it serves, so the list has what it may serve."
        )
    if gone := replacements(settings):
        st.markdown(f"No longer on the hosted menu: {escaped(', '.join(gone))}.")
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


def offered(settings: Settings) -> tuple[Writer, ...]:
    """Return the models that can be chosen here; raises AssistantError for an invalid models file."""
    uncounted = uncounted_models(settings)
    return tuple(_writer(entry, settings) for entry in available_models(settings) if entry not in uncounted)


def not_offered(settings: Settings) -> dict[str, tuple[str, ...]]:
    """Return the models that a setting would add, by the setting's name."""
    here = {entry.id for entry in available_models(settings)}
    others = [
        entry for entry in load_models(settings.models_file) if not entry.retired and entry.id not in here
    ]
    # A provider whose setting is set would list them already.
    others = [entry for entry in others if not entry.served_by.is_set(settings)]
    return {
        provider.setting: labels
        for name, provider in PROVIDERS.items()
        if (labels := tuple(one_line(entry.label) for entry in others if entry.provider == name))
    }


def replacements(settings: Settings) -> tuple[str, ...]:
    """Describe the models that have left the hosted menu, each with its replacement."""
    models = {entry.id: entry for entry in load_models(settings.models_file)}
    return tuple(
        f"{one_line(entry.label)} (in its place: {one_line(models[entry.replaced_by].label)})"
        for entry in models.values()
        if entry.retired and entry.replaced_by in models
    )


def parameter_rows(settings: Settings) -> list[dict[str, str]]:
    """Return a row for each parameter of a model: name, effect, range and default."""
    entries = available_models(settings) or load_models(settings.models_file)
    usual = default_parameters(settings, entries[0])
    rows = []
    for name, (low, high) in RANGES.items():
        title, meaning, _ = WORDS[name]
        default = getattr(usual, name)
        rows.append(
            {
                "Parameter": title,
                "What it does": meaning,
                "May be": f"{low:g} to {high:,g}",
                "Here": "not sent" if default is None else f"{default:g}",
            }
        )
    return rows


def _writer(entry: ModelEntry, settings: Settings) -> Writer:
    return Writer(one_line(entry.label), _place(entry, settings), tuple(_facts(entry)))


def _place(entry: ModelEntry, settings: Settings) -> str:
    whom = one_line(receiver(entry, settings))
    if not whom:
        return "Questions and passages stay on this machine, which runs it."
    over = ", over the internet" if entry.served_by.is_hosted else ""
    return f"Questions and passages go to {whom}{over}."


def _facts(entry: ModelEntry) -> Iterator[str]:
    yield f"takes in {entry.context:,} tokens"
    yield f"writes {entry.max_tokens:,} at most"
    if entry.price_in is not None and entry.price_out is not None:
        yield f"${entry.price_in:.2f} for a million tokens read, ${entry.price_out:.2f} written"
    elif not entry.served_by.runs_here:
        yield "price not known here"
    if entry.rerank:
        yield "says first which papers bear on the question: one more call"
    if entry.revise:
        yield "writes its draft again without what the papers do not carry: one more call"
    if entry.licence:
        yield f"licence of its weights: {one_line(entry.licence)}"
    if entry.note:
        yield one_line(entry.note).rstrip(".")
