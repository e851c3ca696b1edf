"""Figures on papers: fields by year, frequent topics, the most cited papers. No Streamlit."""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import islice

from corpus.records import Scope, TopicKind
from corpus.store.corpus import Corpus
from explorer.presenters.topics import topic_name

FIELDS_SHOWN = 6
TOPICS_SHOWN = 5
CITED_SHOWN = 5


@dataclass(frozen=True, slots=True)
class FieldYears:
    """The most frequent fields with their papers by year; papers without a year are left out."""

    rows: tuple[tuple[str, Mapping[int, int]], ...]

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(name for name, _ in self.rows)

    @property
    def years(self) -> tuple[int, ...]:
        return tuple(sorted({year for _, years in self.rows for year in years}))

    @property
    def most(self) -> int:
        """Return the largest number of papers of a field in a year."""
        return max((papers for _, years in self.rows for papers in years.values()), default=0)

    @property
    def in_words(self) -> str:
        """Return the text alternative of the chart."""
        totals = "; ".join(f"{name}, {sum(years.values()):,}" for name, years in self.rows)
        return f"Papers by field and year. The most frequent fields: {totals}."


@dataclass(frozen=True, slots=True)
class Overview:
    """The figures: topic keys and paper ids, each with a number of papers."""

    fields: FieldYears
    tasks: tuple[tuple[str, int], ...]
    methods: tuple[tuple[str, int], ...]
    most_cited: tuple[tuple[str, int], ...]

    @property
    def tells_who_is_cited(self) -> bool:
        """Return True if any paper is cited more than once."""
        return any(number > 1 for _, number in self.most_cited)


def overview_of(corpus: Corpus, scope: Scope) -> Overview:
    """Return the figures of the papers in `scope`."""
    counts = corpus.statistics.topic_counts(scope)
    by_year = corpus.statistics.topic_year_counts(scope, "field", FIELDS_SHOWN)
    fields = tuple((topic_name(key), years) for key, years in by_year.items() if years)
    return Overview(
        FieldYears(fields),
        _most_frequent(counts, "task"),
        _most_frequent(counts, "method"),
        corpus.statistics.most_cited(scope, CITED_SHOWN),
    )


def frequent_topics(corpus: Corpus, scope: Scope) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """Return the names of the most frequent topics in `scope`, by kind, not escaped."""
    counts = corpus.statistics.topic_counts(scope)
    kinds: dict[str, TopicKind] = {"Fields": "field", "Tasks": "task", "Methods": "method"}
    topics_by_kind = ((name, _most_frequent(counts, kind)) for name, kind in kinds.items())
    return tuple(
        (name, tuple(topic_name(key) for key, _ in topics)) for name, topics in topics_by_kind if topics
    )


def _most_frequent(counts: Mapping[str, int], kind: TopicKind) -> tuple[tuple[str, int], ...]:
    of_kind = ((key, papers) for key, papers in counts.items() if key.startswith(f"{kind}:"))
    return tuple(islice((entry for entry in of_kind if topic_name(entry[0])), TOPICS_SHOWN))
