"""What the address restricts the list to, where no widget keeps it there: topics, venues, authors."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import streamlit as st

from corpus.store import Corpus
from explorer.app import forget_field, set_field
from explorer.presenters import (
    LONGEST_AUTHOR,
    known_topics,
    known_venues,
    named_authors,
    shortened,
    topic_label,
    venue_name,
)

Parameter = Literal["topic", "venue", "author"]


@dataclass(frozen=True, slots=True)
class Restrictions:
    """Topics, venues and authors that the papers listed must have."""

    topics: tuple[str, ...] = ()
    venues: tuple[str, ...] = ()
    authors: tuple[str, ...] = ()

    def labelled(self) -> tuple[tuple[Parameter, str, str], ...]:
        """Return each with its parameter and what it is called; not yet safe for Markdown."""
        return (
            *(("author", one, f"Author: {shortened(one, LONGEST_AUTHOR)}") for one in self.authors),
            *(("venue", one, f"Venue: {venue_name(one)}") for one in self.venues),
            *(("topic", one, topic_label(one)) for one in self.topics),
        )


def current_restrictions(corpus: Corpus) -> Restrictions:
    """Return what the address names and the corpus has; authors are taken as they are named."""
    address = st.query_params
    return Restrictions(
        known_topics(address.get_all("topic"), corpus.statistics.topic_counts())
        if "topic" in address
        else (),
        known_venues(address.get_all("venue"), corpus.statistics.venue_counts())
        if "venue" in address
        else (),
        named_authors(address.get_all("author")),
    )


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
