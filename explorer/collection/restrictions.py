"""The address's restrictions of the list, where no widget keeps them: topics, venues, authors, labels."""

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
    """Topics, venues, authors, labels and languages that the papers listed must have."""

    topics: tuple[str, ...] = ()
    venues: tuple[str, ...] = ()
    authors: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()
    languages: tuple[str, ...] = ()

    def labelled(self) -> tuple[tuple[Parameter, str, str], ...]:
        """Return each with its parameter and what it is called; not yet safe for Markdown."""
        return (
            *(("author", one, f"Author: {shortened(one, LONGEST_AUTHOR)}") for one in self.authors),
            *_labelled("venue", self.venues),
            *_labelled("label", self.labels),
            *_labelled("language", self.languages),
            *(("topic", one, topic_label(one)) for one in self.topics),
        )


def current_restrictions(corpus: Corpus) -> Restrictions:
    """Return the address's restrictions that the corpus has; authors are taken as they are named."""
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
    """Return the values of a kind that the address names and the corpus has, which is then asked for them."""
    return known_values(st.query_params.get_all(kind), counts()) if kind in st.query_params else ()


def _labelled(kind: NamedKind, values: Sequence[str]) -> Iterator[tuple[Parameter, str, str]]:
    return ((kind, one, f"{NAMED_KINDS[kind]}: {value_name(kind, one)}") for one in values)


def restrict(parameter: Parameter, values: Sequence[str]) -> None:
    """Put values of one parameter into the address, and the list back to its first page."""
    to_first_page()
    if values:
        st.query_params[parameter] = list(values)
    else:
        st.query_params.pop(parameter, None)


def restrict_to(parameter: Parameter, value: str) -> None:
    """Put one more value into the address."""
    given = st.query_params.get_all(parameter)
    restrict(parameter, [*(one for one in given if one != value), value])


def take_back(parameter: Parameter, value: str) -> None:
    restrict(parameter, [one for one in st.query_params.get_all(parameter) if one != value])


def take_all_back() -> None:
    for parameter in get_args(Parameter):
        restrict(parameter, ())


def forget_former_search() -> None:
    """Take back the search of before, where a link from another screen names what is to be listed."""
    if not any(name in st.query_params for name in ("collection", *get_args(Parameter))):
        return
    for chosen in ("q", "years", "page"):
        if chosen not in st.query_params:
            forget_field(chosen)


def to_first_page() -> None:
    set_field("page", 1)
