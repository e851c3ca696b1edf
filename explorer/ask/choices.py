"""The choices above the conversation: scope, number of papers, and writer with its options."""

from collections.abc import Container, Mapping
from dataclasses import dataclass, replace

import streamlit as st

from assistant.generators.best_of import MOST_DRAFTS
from assistant.generators.choice import GeneratorChoice
from assistant.generators.parameters import RANGES
from assistant.records import AskOptions, Parameters, RequestKind
from corpus.records import Scope
from corpus.search.hybrid import DEFAULT_PAPERS, MAX_PAPERS, MIN_PAPERS
from explorer.app.resources import Library
from explorer.app.session import Visitor, has_field, set_field
from explorer.components.rows import row
from explorer.components.spending import draw_spending
from explorer.presenters.coverage import names_papers
from explorer.presenters.safe_text import escaped, one_line, shortened
from explorer.presenters.topics import LONGEST_AUTHOR, topic_label, value_name, venue_name
from explorer.presenters.wording import KIND_NAMES, collection_titles, format_years
from explorer.uploads.choosing import draw_upload_scope, look_in

FEWEST_TO_CHOOSE = 3
# Prefixes of the keys of filters; no topic kind has these names, so topic ids can be keys beside them.
YEARS, VENUE, AUTHOR, LABEL, LANGUAGE = "years", "venue:", "author:", "label:", "language:"
# Label, help text and step of each parameter.
WORDS: dict[str, tuple[str, str, float]] = {
    "temperature": ("Temperature", "0 writes the likeliest words; higher is freer and less steady.", 0.05),
    "top_p": ("Top-p", "Only the likeliest words that together have this probability.", 0.01),
    "top_k": ("Top-k", "Only this many of the likeliest words. Empty: no limit.", 1),
    "max_tokens": ("Longest answer, in tokens", "A word is a little more than one token.", 50),
    "repetition_penalty": (
        "Repetition penalty",
        "Above 1 makes repeated words less likely. Empty: none.",
        0.05,
    ),
    "drafts": ("Drafts", "The one whose citations check out best is kept. Each costs a call.", 1),
}


@dataclass(frozen=True, slots=True)
class Choices:
    """The choices above the conversation; `parameters` is None for the writer's defaults."""

    options: AskOptions
    writer: str
    parameters: Parameters | None = None


def draw_choices(library: Library, visitor: Visitor) -> Choices:
    """Draw the choices in a line, folded away where the screen is narrow."""
    choices = (_draw_folded if visitor.now.narrow else _draw_in_a_line)(library, visitor)
    draw_spending(library, visitor, choices.writer)
    return choices


def _draw_folded(library: Library, visitor: Visitor) -> Choices:
    # Not a popover: a closed one loses values that are set from elsewhere.
    with st.expander("Where to look, and how", icon=":material/tune:", key="choices_folded"):
        scope = _draw_scope(library, visitor)
        number = _draw_number(library)
        writer = draw_writer(library.writers())
        return _draw_manner(library, scope, number, writer)


def _draw_in_a_line(library: Library, visitor: Visitor) -> Choices:
    with row("choices_line", gap="medium", align="bottom"):
        with st.container():
            scope = _draw_scope(library, visitor)
        number = _draw_number(library)
        writer = draw_writer(library.writers())
        with st.popover("How", icon=":material/tune:", type="tertiary", key="manner"):
            return _draw_manner(library, scope, number, writer)


def _draw_scope(library: Library, visitor: Visitor) -> Scope:
    """Draw the chips of collections, chosen papers and filters; return the scope that remains chosen."""
    if library.is_uploaded:
        return draw_upload_scope(library, visitor)
    titles = collection_titles(library.corpus.collections())
    with look_in(library, visitor) as labelled:
        chosen = st.multiselect(
            "Look in",
            list(titles),
            format_func=lambda collection: titles.get(collection, collection),
            placeholder="All collections",
            key="scope_collections",
            persist_state="session",
            label_visibility=labelled,
        )
    papers: list[str] = []
    if asked := visitor.now.asked_about:
        titles = {paper.id: shortened(paper.title, 60) for paper in library.corpus.papers_by_id(asked)}
        papers = _draw_restriction("Only these papers", titles, "scope_papers")
    filters = visitor.now.asked_within
    if names_papers(filters):
        keys = _draw_restriction("Only papers with", filter_labels(filters), "scope_filter")
        filters = with_filters(filters, keys)
    else:
        filters = Scope()
    return replace(filters, collections=tuple(chosen), papers=tuple(papers))


def _draw_restriction(title: str, labels: Mapping[str, str], key: str) -> list[str]:
    """Draw options set by another screen as chips, all chosen at first; return the chosen keys."""
    if not has_field(key):
        set_field(key, list(labels))
    return st.multiselect(
        title,
        list(labels),
        format_func=lambda option: labels.get(option, option),
        placeholder="All papers again",
        key=key,
        persist_state="session",
    )


def filter_labels(within: Scope) -> dict[str, str]:
    """Return the label of each filter of a scope, by filter key."""
    labels = {topic: topic_label(topic) for topic in within.topics}
    labels |= {f"{VENUE}{venue}": f"Venue: {venue_name(venue)}" for venue in within.venues}
    labels |= {f"{LABEL}{label}": f"Label: {value_name('label', label)}" for label in within.labels}
    labels |= {
        f"{LANGUAGE}{language}": f"Language: {value_name('language', language)}"
        for language in within.languages
    }
    labels |= {
        f"{AUTHOR}{author}": f"Author: {shortened(author, LONGEST_AUTHOR)}" for author in within.authors
    }
    return labels | {YEARS: f"Year: {format_years(within.years)}"} if within.years else labels


def with_filters(scope: Scope, keys: Container[str]) -> Scope:
    """Return a scope with only those of its filters whose keys are in `keys`."""
    return Scope(
        years=scope.years if YEARS in keys else None,
        topics=tuple(topic for topic in scope.topics if topic in keys),
        venues=tuple(venue for venue in scope.venues if f"{VENUE}{venue}" in keys),
        authors=tuple(author for author in scope.authors if f"{AUTHOR}{author}" in keys),
        labels=tuple(label for label in scope.labels if f"{LABEL}{label}" in keys),
        languages=tuple(language for language in scope.languages if f"{LANGUAGE}{language}" in keys),
    )


def _draw_number(library: Library) -> int:
    """Draw how many papers, or uploaded documents, are read; fewer than three documents are all read."""
    if library.is_uploaded:
        most = library.corpus.count_papers()
        if most < FEWEST_TO_CHOOSE:
            return most
        number = st.slider(
            "Documents to read",
            MIN_PAPERS,
            most,
            most,
            # A new key when their number changes: all are read again.
            key=f"documents_wanted_{most}",
            persist_state="session",
            help="How many of the documents the answer may draw on, the best first.",
        )
        return int(number)
    number = st.slider(
        "Papers to read",
        MIN_PAPERS,
        MAX_PAPERS,
        DEFAULT_PAPERS,
        key="papers_wanted",
        persist_state="session",
        help="How many of the best papers the answer may draw on.",
    )
    return int(number)


def draw_writer(writers: tuple[GeneratorChoice, ...]) -> str:
    """Draw the menu of writers if there are several; return the name of the chosen writer."""
    labels = {writer.name: writer.label for writer in writers}
    if len(writers) == 1:
        st.caption(f"Written by: {escaped(writers[0].label)}")
        return writers[0].name
    chosen = st.selectbox(
        "Written by",
        list(labels),
        format_func=lambda name: labels.get(name, name),
        key="writer",
        persist_state="session",
    )
    if licence := next((writer.licence for writer in writers if writer.name == chosen), ""):
        st.caption(f"Its weights: {escaped(one_line(licence))}")
    return str(chosen)


def _draw_manner(library: Library, scope: Scope, number: int, writer: str) -> Choices:
    """Draw the kind of answer and, for a writer that asks a model, its parameters and drafts."""
    options = AskOptions(scope, number, kind=_draw_kind())
    usual = library.usual_parameters(writer)
    if usual is None:
        return Choices(options, writer)
    keys = _keys(library, writer)
    parameters = _draw_parameters(usual, keys)
    label, meaning, step = WORDS["drafts"]
    drafts = st.slider(
        label, 1, MOST_DRAFTS, 1, int(step), key=keys["drafts"], persist_state="session", help=meaning
    )
    _draw_back_to_usual(usual, keys)
    return Choices(replace(options, drafts=int(drafts)), writer, None if parameters == usual else parameters)


def draw_parameters(library: Library, writer: str, usual: Parameters) -> Parameters | None:
    """Draw the parameters of a writer that asks a model; return None if all are at their defaults."""
    keys = _keys(library, writer)
    parameters = _draw_parameters(usual, keys)
    _draw_back_to_usual(usual, keys)
    return None if parameters == usual else parameters


def _keys(library: Library, writer: str) -> dict[str, str]:
    """Return the widget key of each parameter; each writer has other defaults, and so other widgets."""
    place = [choice.name for choice in library.writers()].index(writer)
    return {name: f"manner_{name}_{place}" for name in WORDS}


def _draw_back_to_usual(usual: Parameters, keys: Mapping[str, str]) -> None:
    st.button(
        "Back to the usual", type="tertiary", key="manner_usual", on_click=_back_to_usual, args=(usual, keys)
    )


def _draw_kind() -> RequestKind | None:
    kinds: dict[str, RequestKind] = {name: kind for kind, name in KIND_NAMES.items()}
    chosen = st.selectbox(
        "Kind of answer",
        ["Auto", *kinds],
        key="request_kind",
        persist_state="session",
        help="Auto reads it from the words of the question.",
    )
    return kinds.get(str(chosen))


def _draw_parameters(usual: Parameters, keys: Mapping[str, str]) -> Parameters:
    return Parameters(
        temperature=_draw_share("temperature", usual.temperature, keys),
        top_p=_draw_share("top_p", usual.top_p, keys),
        top_k=_whole(_draw_optional("top_k", usual.top_k, keys)),
        max_tokens=_whole(_draw_optional("max_tokens", usual.max_tokens, keys)) or usual.max_tokens,
        repetition_penalty=_draw_optional("repetition_penalty", usual.repetition_penalty, keys),
    )


def _draw_share(name: str, usual: float, keys: Mapping[str, str]) -> float:
    label, meaning, step = WORDS[name]
    low, high = RANGES[name]
    chosen = st.slider(
        label, low, high, usual, float(step), key=keys[name], persist_state="session", help=meaning
    )
    return float(chosen)


def _draw_optional(name: str, usual: float | None, keys: Mapping[str, str]) -> float | None:
    """Draw a number field; return None if it is empty."""
    label, meaning, step = WORDS[name]
    low, high = (type(step)(limit) for limit in RANGES[name])
    return st.number_input(
        label,
        low,
        high,
        usual,
        step,
        key=keys[name],
        placeholder="none",
        persist_state="session",
        help=meaning,
    )


def _whole(number: float | None) -> int | None:
    return None if number is None else int(number)


def _back_to_usual(usual: Parameters, keys: Mapping[str, str]) -> None:
    for name, key in keys.items():
        set_field(key, getattr(usual, name, 1))
