"""Search for the names in a query: ids, quotations, authors, venues, years and systems."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain

from corpus.encoders.base import Vectors
from corpus.language.stemming import stop_words
from corpus.records import Scope
from corpus.search.query import Query
from corpus.search.query_words import is_english
from corpus.search.spelling import PHRASES_READ
from corpus.search.together import each, together
from corpus.store.corpus import Corpus
from corpus.store.lexicon import plain_words
from corpus.store.passage_index import Match

# The bonus of a named paper to a score of at most 1. Ids, quotations and whole names are certain; many people
# share a family name; a year, a venue or a system may be incidental. A system counts only if few papers have
# it, by its share of the query up to a maximum.
BY_ID, BY_PHRASE, BY_AUTHOR, BY_FAMILY_NAME, BY_APPEARANCE, MOST_BY_SYSTEM = 4.0, 2.0, 1.0, 0.5, 0.2, 0.3
FEW_PAPERS = 5
# The weight of an everyday English word in a query, relative to a name or a technical term.
ORDINARY_WORD = 0.4


@dataclass(frozen=True, slots=True)
class Matches:
    """The matches of a search by vectors and by words."""

    dense: Sequence[Match] = ()
    lexical: Sequence[Match] = ()

    @property
    def papers(self) -> frozenset[str]:
        return frozenset(match.paper_id for match in (*self.dense, *self.lexical))


@dataclass(frozen=True, slots=True)
class Named:
    """The matches for a name in the query, and the bonus for their score."""

    matches: Matches
    raised_by: float
    papers: frozenset[str] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "papers", self.matches.papers)

    @property
    def is_sure(self) -> bool:
        """Return True if the name is certainly meant."""
        return self.raised_by > max(BY_APPEARANCE, MOST_BY_SYSTEM)


@dataclass(frozen=True, slots=True)
class Sides:
    """A search by vector and by words, in any scope; without `words` only by vector.

    `words` are texts with the same meaning, of which the best score counts. `vector()` is computed in
    parallel to the search by words.
    """

    corpus: Corpus
    vector: Callable[[], Vectors]
    words: tuple[str, ...]
    depth: int

    def within(self, scope: Scope) -> Matches:
        if not self.words:
            return Matches(self._nearest(scope))
        return Matches(*together(lambda: self._nearest(scope), lambda: self._matching(scope)))

    def _nearest(self, scope: Scope) -> Sequence[Match]:
        return self.corpus.nearest(self.vector(), scope, self.depth)

    def _matching(self, scope: Scope) -> Sequence[Match]:
        by_text = each(lambda words: self.corpus.matching(words, scope, self.depth), self.words)
        if len(by_text) == 1:
            return by_text[0]
        # Relative to the best of each text, as a long form has more words and so higher scores than a short.
        shares = (
            replace(match, score=match.score / matches[0].score) for matches in by_text for match in matches
        )
        by_share = sorted(shares, key=lambda match: match.score)
        return list({match.passage_id: match for match in by_share}.values())


def find_named(sides: Sides, query: Query, scope: Scope) -> tuple[Named, ...]:
    """Return the matches in `scope` for each name in a query that has any."""

    def within(narrow: Scope, raised_by: float) -> Named:
        return Named(sides.within(narrow), raised_by)

    def with_phrase(phrase: str) -> Named:
        return Named(Matches([*sides.corpus.holding(phrase, scope, PHRASES_READ)]), BY_PHRASE)

    def with_system(system: str) -> Named:
        forms = [long for short, long in query.abbreviations if system.removesuffix("s") == short.lower()]
        matches = _in_few_papers(sides.corpus, (system, *forms), scope)
        content = [word for word in plain_words(query.text) if word not in stop_words()]
        is_rare = [word in query.systems or not is_english(word) for word in content]
        # The name's share of the query's weight, which is small in a long claim.
        share = 1 / max(1.0, sum(1.0 if rare else ORDINARY_WORD for rare in is_rare))
        return Named(Matches(matches), min(MOST_BY_SYSTEM, share))

    looks = [partial(within, *arguments) for arguments in _narrowed(query, scope)]
    looks += [partial(with_phrase, phrase) for phrase in query.phrases]
    looks += [partial(with_system, system) for system in query.systems]
    return tuple(named for named in each(lambda look: look(), looks) if named.papers)


def _in_few_papers(corpus: Corpus, forms: tuple[str, ...], scope: Scope) -> Sequence[Match]:
    """Return the passages in a scope that have a name in any form (cached).

    None if more than FEW_PAPERS papers have it: such a name does not single out a paper.
    """

    def look() -> Sequence[Match]:
        matches: dict[str, Match] = {}
        for match in chain.from_iterable(corpus.holding(form, scope, PHRASES_READ) for form in forms):
            matches.setdefault(match.passage_id, match)
            if len({found.paper_id for found in matches.values()}) > FEW_PAPERS:
                return ()
        return tuple(matches.values())

    return corpus.reads.answer(("system", forms, scope), look)


def _narrowed(query: Query, scope: Scope) -> Iterator[tuple[Scope, float]]:
    """Yield the scope restricted to each kind of name in the query, with its bonus."""
    if papers := _both(scope.papers, query.papers):
        yield replace(scope, papers=papers), BY_ID
    if authors := _both(scope.authors, query.authors):
        yield replace(scope, authors=authors), BY_AUTHOR
    if namesakes := _both(scope.authors, query.namesakes):
        yield replace(scope, authors=namesakes), BY_FAMILY_NAME
    venues, years = _both(scope.venues, query.venues), _years(scope, query)
    if (venues or not query.venues) and (years or not query.years) and (venues or years):
        appeared = replace(scope, venues=venues or scope.venues, years=years or scope.years)
        yield appeared, BY_APPEARANCE


def _both(chosen: tuple[str, ...], named: tuple[str, ...]) -> tuple[str, ...]:
    """Return the named values, restricted to the chosen ones if there are any."""
    return tuple(value for value in named if value in chosen) if chosen else named


def _years(scope: Scope, query: Query) -> tuple[int, int] | None:
    """Return the first and last named year within the chosen years, None if there is none."""
    if not query.years:
        return None
    chosen = scope.years or (0, 9999)
    first, last = max(min(query.years), chosen[0]), min(max(query.years), chosen[1])
    return (first, last) if first <= last else None
