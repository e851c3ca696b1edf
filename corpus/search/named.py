"""Search for the names in a query, apart from similarity: names are found in any corpus."""

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

# The bonus of a named paper to a score of at most 1. An id, a quotation and a whole name leave no doubt; many
# people share a family name; a year or a venue may be beside the point, as may a system, which counts only
# where few papers have it, by its share of the query and at most so much.
BY_ID, BY_PHRASE, BY_AUTHOR, BY_FAMILY_NAME, BY_APPEARANCE, MOST_BY_SYSTEM = 4.0, 2.0, 1.0, 0.5, 0.2, 0.3
FEW_PAPERS = 5
# The weight of a word of everyday English in a query, where that of a name or a technical term is 1.
ORDINARY_WORD = 0.4


@dataclass(frozen=True, slots=True)
class Matches:
    """The matches of both sides of a search."""

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
        """Whether it was meant whatever its texts say."""
        return self.raised_by > max(BY_APPEARANCE, MOST_BY_SYSTEM)


@dataclass(frozen=True, slots=True)
class Sides:
    """Both sides of one search, in any scope; without `words` only that by vectors.

    `words` are texts that mean the same: the best score by any counts. The `vector` is asked for beside the
    search by words, which does not need it.
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
        found = each(lambda words: self.corpus.matching(words, scope, self.depth), self.words)
        return found[0] if len(found) == 1 else _best_shares(found)


def _best_shares(found: Sequence[Sequence[Match]]) -> list[Match]:
    """Merge the matches of several texts, each score as a share of the best for its text.

    A long form has more words than its short one, and so higher scores.
    """
    shares = (replace(one, score=one.score / own[0].score) for own in found for one in own)
    by_share = sorted(shares, key=lambda match: match.score)
    return list({match.passage_id: match for match in by_share}.values())


def find_named(sides: Sides, query: Query, scope: Scope) -> tuple[Named, ...]:
    """Find what of `scope` a query names, by each way of naming that finds anything."""

    def within(narrow: Scope, raised_by: float) -> Named:
        return Named(sides.within(narrow), raised_by)

    def with_phrase(phrase: str) -> Named:
        return Named(Matches([*sides.corpus.holding(phrase, scope, PHRASES_READ)]), BY_PHRASE)

    def with_system(system: str) -> Named:
        found = _in_few_papers(sides.corpus, _forms_of(system, query), scope)
        return Named(Matches(found), min(MOST_BY_SYSTEM, _share_of_name(query)))

    looks = [partial(within, *one) for one in _narrowed(query, scope)]
    looks += [partial(with_phrase, one) for one in query.phrases]
    looks += [partial(with_system, one) for one in query.systems]
    return tuple(one for one in each(lambda look: look(), looks) if one.papers)


def _share_of_name(query: Query) -> float:
    """Return the share of a query's weight that a name in it has: of a long claim it is hardly anything."""
    asked = (word for word in plain_words(query.text) if word not in stop_words())
    is_rare = (word in query.systems or not is_english(word) for word in asked)
    return 1 / max(1.0, sum(1.0 if rare else ORDINARY_WORD for rare in is_rare))


def _forms_of(system: str, query: Query) -> tuple[str, ...]:
    """Return the name of a system, with its long form where the corpus spells it out."""
    full = (long for short, long in query.abbreviations if system.removesuffix("s") == short.lower())
    return (system, *full)


def _in_few_papers(corpus: Corpus, forms: tuple[str, ...], scope: Scope) -> Sequence[Match]:
    """Return the passages of a scope with a name in any form; none where many papers have it."""

    def look() -> Sequence[Match]:
        held: dict[str, Match] = {}
        for match in chain.from_iterable(corpus.holding(form, scope, PHRASES_READ) for form in forms):
            held.setdefault(match.passage_id, match)
            if len({one.paper_id for one in held.values()}) > FEW_PAPERS:
                return ()
        return tuple(held.values())

    # The names of systems are asked for again and again.
    return corpus.reads.answer(("system", forms, scope), look)


def _narrowed(query: Query, scope: Scope) -> Iterator[tuple[Scope, float]]:
    """Yield the scope narrowed to each kind of name in the query, with its increase of the score."""
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
    """Return the named values, restricted to the chosen ones where any are."""
    return tuple(one for one in named if one in chosen) if chosen else named


def _years(scope: Scope, query: Query) -> tuple[int, int] | None:
    """Return the first and last of the years that are named, as far as they are chosen."""
    if not query.years:
        return None
    chosen = scope.years or (0, 9999)
    first, last = max(min(query.years), chosen[0]), min(max(query.years), chosen[1])
    return (first, last) if first <= last else None
