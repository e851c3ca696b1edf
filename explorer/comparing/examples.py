"""A comparison to begin with, of whatever the corpus holds. No Streamlit."""

from dataclasses import dataclass

from corpus.records import Scope, TopicKind, parse_topic_key
from corpus.store import Corpus
from explorer.parts.topics import topic_name

FEWEST, MOST = 3, 5
_KINDS: tuple[TopicKind, ...] = ("task", "method")


@dataclass(frozen=True, slots=True)
class Example:
    """Some papers with one topic, and what a work on it would say it is about."""

    papers: tuple[str, ...]
    about: str


def example_comparison(corpus: Corpus) -> Example | None:
    """Return a few papers on the most frequent task, or else method, that enough papers have."""
    counts = corpus.topic_counts()
    for kind in _KINDS:
        topics = [key for key, count in counts.items() if parse_topic_key(key)[0] == kind and count >= FEWEST]
        if topics:
            papers = corpus.papers(Scope(topics=(topics[0],)), limit=MOST)
            name = topic_name(topics[0])
            return Example(tuple(one.id for one in papers), f"How earlier work goes about {name}.")
    return None
