"""Topics, venues, labels and languages of papers as facets with counts. No Streamlit."""

from collections.abc import Callable, Container, Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import islice
from typing import Literal, get_args

from corpus.language.names import language_name
from corpus.records import Scope, Topic, TopicKind, parse_topic_key
from explorer.presenters.safe_text import one_line, shortened

NamedKind = Literal["venue", "label", "language"]
FacetKind = TopicKind | NamedKind

KINDS: tuple[TopicKind, ...] = get_args(TopicKind)
TOPIC_KIND_NAMES: dict[TopicKind, str] = {
    "field": "Field",
    "task": "Task",
    "method": "Method",
    "dataset": "Data set",
    "metric": "Metric",
}
MOST_CHOSEN = 20
# The most entries of a menu; rarer names are found by searching.
MOST_OFFERED = 250
LONGEST_NAME = 60
LONGEST_VENUE = 70
LONGEST_AUTHOR = 200

TopicCounts = Mapping[str, int]
NAMED_KINDS: dict[NamedKind, str] = {"venue": "Venue", "label": "Label", "language": "Language"}


@dataclass(frozen=True, slots=True)
class FacetValue:
    """A topic, venue, label or language to choose, and the number of papers that have it."""

    key: str
    name: str
    papers: int


@dataclass(frozen=True, slots=True)
class Facet:
    """The topics of one kind, or the venues, labels or languages: those to choose from and those chosen."""

    kind: FacetKind
    values: tuple[FacetValue, ...]
    chosen: tuple[str, ...]

    @property
    def name(self) -> str:
        return ({} | TOPIC_KIND_NAMES | NAMED_KINDS)[self.kind]

    def first_keys(self, count: int) -> tuple[str, ...]:
        """Return the keys of `count` values: all that are chosen, then the most frequent."""
        others = [value.key for value in self.values if value.key not in self.chosen]
        shown = {*self.chosen, *others[: max(0, count - len(self.chosen))]}
        return tuple(value.key for value in self.values if value.key in shown)


def known_topics(keys: Iterable[str], vocabulary: Container[str]) -> tuple[str, ...]:
    """Return the distinct topics of an address that the corpus has."""
    known = dict.fromkeys(key for key in keys if key in vocabulary and _is_key(key))
    return tuple(known)[:MOST_CHOSEN]


def facets_of(
    scope: Scope, counts: TopicCounts, widened: Callable[[Scope], TopicCounts]
) -> tuple[Facet, ...]:
    """Return the topic facets of `scope`, with `counts` as the number of papers of each topic.

    Topics of one kind are alternatives, so a kind with a chosen topic is counted by `widened` in the scope
    without that kind's topics.
    """
    facets = []
    for kind in KINDS:
        chosen = of_kind(scope.topics, kind)
        others = replace(scope, topics=tuple(key for key in scope.topics if key not in chosen))
        of_topics = widened(others) if chosen else counts
        keys = list(islice((key for key in of_topics if key.startswith(f"{kind}:")), MOST_OFFERED))
        keys += [key for key in chosen if key not in keys]
        values = tuple(
            FacetValue(key, topic_name(key), of_topics.get(key, 0)) for key in keys if _is_key(key)
        )
        if values:
            facets.append(Facet(kind, values, chosen))
    return tuple(facets)


def named_facet(
    kind: NamedKind, scope: Scope, counts: TopicCounts, widened: Callable[[Scope], TopicCounts]
) -> tuple[Facet, ...]:
    """Return the facet of venues, labels or languages, counted like topics; none without a choice."""
    chosen, others = _without(scope, kind)
    counted = widened(others) if chosen else counts
    named = [value for value in counted if one_line(value)][:MOST_OFFERED]
    named += [value for value in chosen if value not in named]
    if len(named) < 2 and not chosen:
        return ()
    values = tuple(FacetValue(value, value_name(kind, value), counted.get(value, 0)) for value in named)
    return (Facet(kind, values, chosen),)


def _without(scope: Scope, kind: NamedKind) -> tuple[tuple[str, ...], Scope]:
    """Return a scope's values of a kind, and the scope without them."""
    if kind == "venue":
        return scope.venues, replace(scope, venues=())
    if kind == "label":
        return scope.labels, replace(scope, labels=())
    return scope.languages, replace(scope, languages=())


def known_values(named: Iterable[str], vocabulary: Container[str]) -> tuple[str, ...]:
    """Return the distinct venues, labels or languages of an address that the corpus has."""
    return tuple(dict.fromkeys(value for value in named if value in vocabulary and one_line(value)))[
        :MOST_CHOSEN
    ]


def named_authors(named: Iterable[str]) -> tuple[str, ...]:
    """Return the distinct authors of an address, whether or not the corpus has them."""
    kept = dict.fromkeys(author for author in named if one_line(author) and len(author) <= LONGEST_AUTHOR)
    return tuple(kept)[:MOST_CHOSEN]


def of_kind(topics: Iterable[str], kind: TopicKind) -> tuple[str, ...]:
    """Return the topics of one kind."""
    return tuple(key for key in topics if parse_topic_key(key)[0] == kind)


def topic_name(key: str) -> str:
    """Return the name of a topic; not yet safe for Markdown."""
    return shortened(parse_topic_key(key)[1], LONGEST_NAME)


def venue_name(venue: str) -> str:
    """Return the shortened name of a venue; not yet safe for Markdown."""
    return shortened(venue, LONGEST_VENUE)


def value_name(kind: NamedKind, value: str) -> str:
    """Return the display name of a venue, label or language; not yet safe for Markdown."""
    return language_name(value) if kind == "language" else venue_name(value)


def topic_label(key: str) -> str:
    """Return a topic with its kind: "Task: question answering"; not yet safe for Markdown."""
    return f"{TOPIC_KIND_NAMES[parse_topic_key(key)[0]]}: {topic_name(key)}"


def by_kind(topics: Iterable[Topic]) -> dict[TopicKind, list[Topic]]:
    """Return a paper's topics by kind, in the order of `KINDS`."""
    listed = tuple(topics)
    grouped = {kind: [topic for topic in listed if topic.kind == kind] for kind in KINDS}
    return {kind: topics_of_kind for kind, topics_of_kind in grouped.items() if topics_of_kind}


def _is_key(key: str) -> bool:
    """Return True if a key is a valid topic key with a visible name."""
    try:
        return bool(one_line(parse_topic_key(key)[1]))
    except ValueError:
        return False
