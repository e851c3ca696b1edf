"""The topics and venues of papers as facets: plain words and counts. No Streamlit."""

from collections.abc import Callable, Container, Iterable, Mapping, Sequence
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
    """A topic, venue, label or language that can be chosen, and how many papers would be listed with it."""

    key: str
    name: str
    papers: int


@dataclass(frozen=True, slots=True)
class Facet:
    """Topics of one kind, or venues and the like: those that can be chosen, and those chosen."""

    kind: FacetKind
    values: tuple[FacetValue, ...]
    chosen: tuple[str, ...]

    @property
    def name(self) -> str:
        return ({} | TOPIC_KIND_NAMES | NAMED_KINDS)[self.kind]

    def first_keys(self, count: int) -> tuple[str, ...]:
        """Return the keys of `count` values: those chosen, even if they are more, and the most frequent."""
        others = [value.key for value in self.values if value.key not in self.chosen]
        shown = {*self.chosen, *others[: max(0, count - len(self.chosen))]}
        return tuple(value.key for value in self.values if value.key in shown)


def known_topics(keys: Iterable[str], vocabulary: Container[str]) -> tuple[str, ...]:
    """Return the topics from an address that a corpus has, each once."""
    known = dict.fromkeys(key for key in keys if key in vocabulary and _is_key(key))
    return tuple(known)[:MOST_CHOSEN]


def facets_of(
    scope: Scope, counts: TopicCounts, widened: Callable[[Scope], TopicCounts]
) -> tuple[Facet, ...]:
    """Return the facets that occur in `scope`, where `counts` says how many papers have each topic.

    Topics of one kind are alternatives, so a kind that has a chosen one is counted by `widened`, in the scope
    without that kind's topics.
    """
    found = []
    for kind in KINDS:
        chosen = of_kind(scope.topics, kind)
        others = replace(scope, topics=tuple(key for key in scope.topics if key not in chosen))
        values = _values(kind, widened(others) if chosen else counts, chosen)
        if values:
            found.append(Facet(kind, values, chosen))
    return tuple(found)


def named_facet(
    kind: NamedKind, scope: Scope, counts: TopicCounts, widened: Callable[[Scope], TopicCounts]
) -> tuple[Facet, ...]:
    """Return the facet of venues, labels or languages, none where there is nothing to choose.

    It is counted as kinds of topics are.
    """
    chosen, others = _without(scope, kind)
    found = widened(others) if chosen else counts
    named = [one for one in found if one_line(one)][:MOST_OFFERED]
    named += [one for one in chosen if one not in named]
    if len(named) < 2 and not chosen:
        return ()
    values = tuple(FacetValue(one, value_name(kind, one), found.get(one, 0)) for one in named)
    return (Facet(kind, values, chosen),)


def _without(scope: Scope, kind: NamedKind) -> tuple[tuple[str, ...], Scope]:
    """Return a scope's values of a kind, and the scope without them."""
    if kind == "venue":
        return scope.venues, replace(scope, venues=())
    if kind == "label":
        return scope.labels, replace(scope, labels=())
    return scope.languages, replace(scope, languages=())


def known_values(named: Iterable[str], vocabulary: Container[str]) -> tuple[str, ...]:
    """Return the venues, labels or languages from an address that a corpus has, each once."""
    return tuple(dict.fromkeys(one for one in named if one in vocabulary and one_line(one)))[:MOST_CHOSEN]


def named_authors(named: Iterable[str]) -> tuple[str, ...]:
    """Return the authors that an address names, each once; whether there are such, the list will show."""
    kept = dict.fromkeys(one for one in named if one_line(one) and len(one) <= LONGEST_AUTHOR)
    return tuple(kept)[:MOST_CHOSEN]


def of_kind(topics: Iterable[str], kind: TopicKind) -> tuple[str, ...]:
    """Return the topics of one kind."""
    return tuple(key for key in topics if parse_topic_key(key)[0] == kind)


def topic_name(key: str) -> str:
    """Return a topic's own name; not yet safe for Markdown."""
    return shortened(parse_topic_key(key)[1], LONGEST_NAME)


def venue_name(venue: str) -> str:
    """Return a venue as it is shown; not yet safe for Markdown."""
    return shortened(venue, LONGEST_VENUE)


def value_name(kind: NamedKind, value: str) -> str:
    """Return a venue, label or language as it is shown; not yet safe for Markdown."""
    return language_name(value) if kind == "language" else venue_name(value)


def topic_label(key: str) -> str:
    """Return a topic with its kind: "Task: question answering"; not yet safe for Markdown."""
    return f"{TOPIC_KIND_NAMES[parse_topic_key(key)[0]]}: {topic_name(key)}"


def by_kind(topics: Iterable[Topic]) -> dict[TopicKind, list[Topic]]:
    """Return a paper's topics by their kinds, in the order in which kinds are named."""
    listed = tuple(topics)
    grouped = {kind: [topic for topic in listed if topic.kind == kind] for kind in KINDS}
    return {kind: found for kind, found in grouped.items() if found}


def _values(kind: TopicKind, counts: TopicCounts, chosen: Sequence[str]) -> tuple[FacetValue, ...]:
    mine = list(islice((key for key in counts if key.startswith(f"{kind}:")), MOST_OFFERED))
    mine += [key for key in chosen if key not in mine]
    named = ((key, topic_name(key)) for key in mine if _is_key(key))
    return tuple(FacetValue(key, name, counts.get(key, 0)) for key, name in named)


def _is_key(key: str) -> bool:
    """Return True if a key is a topic's, with a name that can be seen."""
    try:
        return bool(one_line(parse_topic_key(key)[1]))
    except ValueError:
        return False
