"""The restrictions of the list that are stored in the address: topics, venues, authors, labels, languages."""

from collections.abc import Callable, Container, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import streamlit as st

from corpus.store.corpus import Corpus
from explorer.app.session import forget_field, set_field
from explorer.presenters.safe_text import shortened
from explorer.presenters.topics import (
    LONGEST_AUTHOR,
    NAMED_KINDS,
    NamedKind,
    known_topics,
    known_values,
    named_authors,
    topic_label,
    value_name,
)

Parameter = Literal["topic", "venue", "author", "label", "language"]


@dataclass(frozen=True, slots=True)
class Restrictions:
    """Topics, venues, authors, labels and languages that the listed papers must have."""

    topics: tuple[str, ...] = ()
    venues: tuple[str, ...] = ()
    authors: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()
    languages: tuple[str, ...] = ()

    def labelled(self) -> tuple[tuple[Parameter, str, str], ...]:
        """Return the parameter, value and label of each restriction; not yet safe for Markdown."""
        return (
            *(("author", author, f"Author: {shortened(author, LONGEST_AUTHOR)}") for author in self.authors),
            *_labelled("venue", self.venues),
            *_labelled("label", self.labels),
            *_labelled("language", self.languages),
            *(("topic", topic, topic_label(topic)) for topic in self.topics),
        )


def current_restrictions(corpus: Corpus) -> Restrictions:
    """Return the restrictions of the address, without values that the corpus does not have."""
    address = st.query_params
    return Restrictions(
        known_topics(address.get_all("topic"), corpus.statistics.topic_counts())
        if "topic" in address
        else (),
        _known("venue", corpus.statistics.venue_counts),
        named_authors(address.get_all("author")),
        _known("label", corpus.statistics.label_counts),
        _known("language", corpus.statistics.language_counts),
    )


def _known(kind: NamedKind, counts: Callable[[], Container[str]]) -> tuple[str, ...]:
    """Return the values of a kind in the address that the corpus has; `counts` is called only if needed."""
    return known_values(st.query_params.get_all(kind), counts()) if kind in st.query_params else ()


def _labelled(kind: NamedKind, values: Sequence[str]) -> Iterator[tuple[Parameter, str, str]]:
    return ((kind, value, f"{NAMED_KINDS[kind]}: {value_name(kind, value)}") for value in values)


def restrict(parameter: Parameter, values: Sequence[str]) -> None:
    """Set the values of a parameter in the address, and go to the first page."""
    to_first_page()
    if values:
        st.query_params[parameter] = list(values)
    else:
        st.query_params.pop(parameter, None)


def restrict_to(parameter: Parameter, value: str) -> None:
    """Add a value to a parameter in the address."""
    values = st.query_params.get_all(parameter)
    restrict(parameter, [*(other for other in values if other != value), value])


def take_back(parameter: Parameter, value: str) -> None:
    restrict(parameter, [other for other in st.query_params.get_all(parameter) if other != value])


def take_all_back() -> None:
    for parameter in get_args(Parameter):
        restrict(parameter, ())


def forget_former_search() -> None:
    """Clear the former search if a link from another screen has set the address."""
    if not any(name in st.query_params for name in ("collection", *get_args(Parameter))):
        return
    for chosen in ("q", "years", "page"):
        if chosen not in st.query_params:
            forget_field(chosen)


def to_first_page() -> None:
    set_field("page", 1)
