"""Labels of clusters: the terms of their papers that set them apart from the others."""

import re
import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import dataclass, field
from functools import cache
from itertools import chain
from math import log
from pathlib import Path

# Keys of words, and a paper's title and abstract.
Term = tuple[str, ...]
Text = tuple[str, str]

_DEBRIS = re.compile(r"\$[^$]{0,200}\$|\\[a-zA-Z]+\*?(?:\[[^\]]{0,40}\])?|[{}~^\\]|https?://\S+|www\.\S+")
# A word, or what ends a term: a mark, or anything with a digit at its beginning.
_WORD = re.compile(r"[^\W\d_]\w*(?:[-'’]\w+)*|\d\S*|[^\w\s]")
_ELIDED = re.compile(r"['’]s$|^(?:[cdjlmnst]|qu)['’]", re.IGNORECASE)
_LONGEST_TERM, _TERMS = 3, 3
# A term must be in so large a share of a cluster's papers, and in more than one unless it has only a few.
_SHARE, _FEW = 0.02, 10
# The more words, the more a term says.
_LENGTH_COUNTS = (1.0, 1.8, 1.9)
# As if so many papers more had been seen outside: without them a term of a small corpus sets apart too much.
_UNSEEN = 50
# What scores less tells nothing: the first term of a label, and the others.
_LEAST_TELLING = (0.08, 0.05, 0.05)
# Words that begin alike so far are forms of one.
_SAME_WORD = 5
_ADJECTIVE = re.compile(
    r"(?:ical|ual|onal|ural|ctive|lingual|-(?:aware|based|centric|driven|free|level|resource|shot|specific|trained))$"
)
_ENDING = re.compile(r"(?:ings?|ers?|e)$")
# And in so large a share of its titles: what is never in a title is hardly a subject.
_SHARE_OF_TITLES = 0.01
# An abstract is no longer; neither is a word.
_CHARACTERS, _LETTERS = 4000, 40


@dataclass(frozen=True, slots=True)
class _Words:
    """The lists of the data file, which says what each is for; `alone` as keys of words."""

    ends: frozenset[str]
    alone: frozenset[str]
    nothing: frozenset[Term]


@cache
def _words() -> _Words:
    lists = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
    ends = frozenset(word for name in ("grammar", "papers", "others") for word in lists[name].split())
    nothing = frozenset(tuple(map(_key, term.split())) for term in lists["nothing"].split(";"))
    return _Words(ends, frozenset(map(_key, lists["alone"].split())), nothing)


@dataclass(slots=True)
class _Counts:
    """In how many papers of a cluster each term is, and in how many titles."""

    papers: int = 0
    anywhere: Counter[Term] = field(default_factory=Counter)
    titles: Counter[Term] = field(default_factory=Counter)


def label_clusters(clusters: Sequence[Sequence[Text]]) -> list[str]:
    """Return a label for each cluster, given titles and abstracts of its papers; no term is in two labels."""
    chosen: list[list[Term]] = [[] for _ in clusters]
    taken: set[Term] = set()
    for score, number, term in _ranked([_count(papers) for papers in clusters]):
        if term not in taken and _adds(term, score, chosen[number]):
            chosen[number].append(term)
            taken.add(term)
    plain = _plain(abstract for papers in clusters for _, abstract in papers)
    labels = [_label(terms, papers, plain) for terms, papers in zip(chosen, clusters, strict=True)]
    return [label or _without_terms(labels, number) for number, label in enumerate(labels)]


def _plain(texts: Iterable[str]) -> Set[str]:
    """Return the keys of words that texts write without capitals more often than with them."""
    balance: Counter[str] = Counter()
    for word in chain.from_iterable(run for text in texts for run in _runs(text)):
        balance[_key(word)] += 1 if word.islower() else -1
    return {key for key, count in balance.items() if count > 0} | _words().alone


def _without_terms(labels: Sequence[str], number: int) -> str:
    """Return the label of a cluster that nothing sets apart."""
    alike = labels[: number + 1].count("")
    return "Various subjects" if alike == 1 else f"Various subjects ({alike})"


def _label(terms: Sequence[Term], papers: Sequence[Text], plain: Set[str]) -> str:
    """Return terms as their papers write them most; words whose key is `plain` need no capital."""
    written: dict[Term, Counter[str]] = {term: Counter() for term in terms}
    for text in chain.from_iterable(papers):
        for run in _runs(text):
            for term, words in _terms(run):
                if term in written:
                    written[term][_spelt(words, plain)] += 1
    label = ", ".join(max(forms, key=lambda one: (forms[one], one)) for forms in written.values())
    return label[:1].upper() + label[1:] if label.split(" ", 1)[0].islower() else label


def _spelt(words: Sequence[str], plain: Set[str]) -> str:
    """Return words without capitals that are a title's, or explain an abbreviation; a name keeps its own."""
    capitals = [word for word in words if word[0].isupper() and word[1:].islower()]
    plainly = all(_key(word) in plain for word in capitals)
    return " ".join(word.lower() if plainly and word in capitals else word for word in words)


def _count(papers: Sequence[Text]) -> _Counts:
    counts = _Counts(len(papers))
    for title, abstract in papers:
        in_title = {term for run in _runs(title) for term, _ in _terms(run)}
        counts.titles.update(in_title)
        counts.anywhere.update(in_title.union(term for run in _runs(abstract) for term, _ in _terms(run)))
    return counts


def _runs(text: str) -> Iterator[list[str]]:
    """Yield the words that stand beside each other without a mark or a word that ends a term."""
    run: list[str] = []
    for word in _WORD.findall(_DEBRIS.sub(" , ", text[:_CHARACTERS])):
        bare = _ELIDED.sub("", word)
        if 1 < len(bare) <= _LETTERS and bare[0].isalpha() and bare.lower() not in _words().ends:
            run.append(bare)
        elif run:
            yield run
            run = []
    if run:
        yield run


def _key(word: str) -> str:
    """Return a word in lower case and singular."""
    low = word.lower()
    if len(low) > 4 and low.endswith("ies"):
        return f"{low[:-3]}y"
    return low[:-1] if len(low) > 3 and low.endswith("s") and not low.endswith(("ss", "us", "is")) else low


def _terms(run: Sequence[str]) -> Iterator[tuple[Term, Sequence[str]]]:
    """Yield the terms of words beside each other, each with the words as they are written."""
    keys = tuple(map(_key, run))
    for length in range(1, _LONGEST_TERM + 1):
        for start in range(len(keys) - length + 1):
            if length > 1 or keys[start] not in _words().alone:
                yield keys[start : start + length], run[start : start + length]


def _ranked(clusters: Sequence[_Counts]) -> list[tuple[float, int, Term]]:
    """Return what sets each cluster apart, the most telling first: class-based TF-IDF over papers."""
    total: Counter[Term] = Counter()
    for cluster in clusters:
        total.update(cluster.anywhere)
    papers = sum(cluster.papers for cluster in clusters)
    found = []
    for number, cluster in enumerate(clusters):
        frequent = _frequent(cluster)
        within = _within_longer(frequent)
        for term, count in frequent.items():
            inside = (count - within[term]) / cluster.papers
            outside = (total[term] - count + 0.5) / (papers - cluster.papers + _UNSEEN)
            if inside > outside:
                # One paper alone tells half of what it would as one of many.
                sure = (1 - 0.5 / count) * _LENGTH_COUNTS[len(term) - 1]
                score = inside * log(inside / outside) * sure
                found.append((score, number, term))
    return sorted(found, key=lambda one: (-one[0], *one[1:]))


def _frequent(cluster: _Counts) -> dict[Term, int]:
    papers = max(1 if cluster.papers < _FEW else 2, _SHARE * cluster.papers)
    titles = max(1, _SHARE_OF_TITLES * cluster.papers)
    return {
        term: count
        for term, count in cluster.anywhere.items()
        if count >= papers and cluster.titles[term] >= titles and _is_noun(term)
    }


def _is_noun(term: Term) -> bool:
    return term not in _words().nothing and not _ADJECTIVE.search(term[-1])


def _within_longer(frequent: dict[Term, int]) -> Counter[Term]:
    """Return in how many papers a term is part of one same longer term, which then says it better."""
    within: Counter[Term] = Counter()
    for longer, n in frequent.items():
        for length in range(1, len(longer)):
            for start in range(len(longer) - length + 1):
                part = longer[start : start + length]
                within[part] = max(within[part], n)
    return within


def _adds(term: Term, score: float, chosen: Sequence[Term]) -> bool:
    """Tell whether a term says enough, and what those chosen for the label do not say."""
    wanted = len(chosen) < _TERMS and score >= _LEAST_TELLING[len(chosen)]
    return wanted and not any(_same(one, term) for one in chosen)


def _same(first: Term, second: Term) -> bool:
    """Tell whether two terms share a word in any form, or one stands for the other."""
    words = set(map(_beginning, second))
    initials = {"".join(word[0] for word in term) for term in (first, second) if len(term) > 1}
    return any(_beginning(word) in words for word in first) or not initials.isdisjoint({*first, *second})


def _beginning(word: str) -> str:
    return _ENDING.sub("", word)[:_SAME_WORD]
