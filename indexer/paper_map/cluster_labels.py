"""Labels of clusters: the terms that distinguish their papers from the others."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import dataclass
from itertools import chain, combinations

import numpy as np
from numpy.typing import NDArray

from corpus.language.stemming import stem
from indexer.enrich.runs import Run, term_words, word_key, word_runs

# A paper's title and abstract. Terms are word keys joined by spaces.
Text = tuple[str, str]
Counts = NDArray[np.float64]

_LONGEST_TERM, _TERMS = 3, 3
# A term must occur in this share of a cluster's papers, and in two papers unless the cluster is small.
_SHARE, _FEW = 0.02, 10
# Weights of a term by its number of words.
_LENGTH_COUNTS = np.array([1.0, 1.8, 1.9])
# Smoothing: papers added outside a cluster, for small corpora.
_UNSEEN = 50
# The least scores of a label's terms, in order.
_LEAST_SCORES = (0.08, 0.05, 0.05)
_ADJECTIVE = re.compile(
    r"(?:ical|ual|onal|ural|ctive|lingual|-(?:aware|based|centric|driven|free|level|resource|shot|specific|trained))$"
)
# And in this share of its titles: a term that is in no title is hardly a subject.
_SHARE_OF_TITLES = 0.01


@dataclass(frozen=True, slots=True)
class _Paper:
    """The word runs of a paper's title and abstract."""

    title: list[Run]
    abstract: list[Run]

    @property
    def whole(self) -> list[Run]:
        return [*self.title, *self.abstract]


def label_clusters(texts: Sequence[Sequence[Text]]) -> list[str]:
    """Return a label for each cluster from its papers' titles and abstracts; no term is in two labels."""
    labels = [", ".join(terms) for terms in distinctive_terms(texts)]
    unnamed = 0
    for number, label in enumerate(labels):
        if not label:
            unnamed += 1
            labels[number] = "Various subjects" if unnamed == 1 else f"Various subjects ({unnamed})"
    return labels


def distinctive_terms(texts: Sequence[Sequence[Text]]) -> list[list[str]]:
    """Return the distinctive terms of each cluster, best first, as its papers write them."""
    clusters = [
        [_Paper(list(word_runs(title)), list(word_runs(abstract))) for title, abstract in papers]
        for papers in texts
    ]
    chosen: list[list[str]] = [[] for _ in clusters]
    used: set[str] = set()
    for score, number, term in _ranked(clusters):
        if term not in used and _adds(term, score, chosen[number]):
            chosen[number].append(term)
            used.add(term)
    plain = _plain(run for paper in chain.from_iterable(clusters) for run in paper.abstract)
    return [_written(terms, papers, plain) for terms, papers in zip(chosen, clusters, strict=True)]


def _plain(runs: Iterable[Run]) -> Set[str]:
    """Return the keys of words that are mostly written in lower case."""
    balance: Counter[str] = Counter()
    for word in chain.from_iterable(runs):
        balance[word_key(word)] += 1 if word.islower() else -1
    return {key for key, count in balance.items() if count > 0} | term_words().alone


def _written(terms: Sequence[str], papers: Sequence[_Paper], plain: Set[str]) -> list[str]:
    """Return terms in their most frequent spelling; words whose key is in `plain` need no capital."""
    written: dict[str, Counter[str]] = {term: Counter() for term in terms}
    for run in chain.from_iterable(paper.whole for paper in papers):
        for term, words in _terms(run):
            if term in written:
                written[term][_spelt(words, plain)] += 1
    most = [max(forms, key=lambda form: (forms[form], form)) for forms in written.values()]
    if most and most[0].split(" ", 1)[0].islower():
        most[0] = most[0][:1].upper() + most[0][1:]
    return most


def _spelt(words: Sequence[str], plain: Set[str]) -> str:
    """Return words without the capitals of titles and of spelled-out abbreviations; names keep theirs."""
    capitals = [word for word in words if word[0].isupper() and word[1:].islower()]
    plainly = all(word_key(word) in plain for word in capitals)
    return " ".join(word.lower() if plainly and word in capitals else word for word in words)


def _terms(run: Sequence[str]) -> Iterator[tuple[str, Sequence[str]]]:
    """Yield the terms in adjacent words, each with the words as written."""
    keys = list(map(word_key, run))
    for length in range(1, _LONGEST_TERM + 1):
        for start in range(len(keys) - length + 1):
            if length > 1 or keys[start] not in term_words().alone:
                yield " ".join(keys[start : start + length]), run[start : start + length]


def _terms_of(runs: Iterable[Run]) -> list[str]:
    return [term for run in runs for term, _ in _terms(run)]


def _ranked(clusters: Sequence[Sequence[_Paper]]) -> list[tuple[float, int, str]]:
    """Rank terms by class-based TF-IDF over papers, as (score, cluster, term), best first."""
    terms, counts, frequent = _counted(clusters)
    sizes = np.array([len(papers) for papers in clusters])
    numbers, columns = np.nonzero(frequent)
    count = counts[numbers, columns]
    within = _within_longer(terms, counts * frequent)
    inside = (count - within[numbers, columns]) / sizes[numbers]
    outside = (counts.sum(axis=0)[columns] - count + 0.5) / (sizes.sum() - sizes[numbers] + _UNSEEN)
    # Halve the weight of a term that is in a single paper.
    sure = (1 - 0.5 / count) * _LENGTH_COUNTS[[terms[column].count(" ") for column in columns]]
    scores = inside * np.log(np.maximum(inside, outside) / outside) * sure
    ranked = (
        (float(score), int(n), terms[column])
        for score, n, column in zip(scores, numbers, columns, strict=True)
    )
    return sorted((entry for entry in ranked if entry[0] > 0), key=lambda entry: (-entry[0], *entry[1:]))


def _counted(clusters: Sequence[Sequence[_Paper]]) -> tuple[list[str], Counts, NDArray[np.bool_]]:
    """Return the terms of titles, their papers per cluster, and whether these are enough.

    Shapes: (clusters, terms).
    """
    from sklearn.feature_extraction.text import CountVectorizer  # noqa: PLC0415  as in projection.py

    titles = [paper.title for paper in chain.from_iterable(clusters)]
    papers = [paper.whole for paper in chain.from_iterable(clusters)]
    terms: list[str] = sorted({term for title in titles for term in _terms_of(title)} - term_words().nothing)
    terms = [term for term in terms if not _ADJECTIVE.search(term)]
    if not terms:
        return [], np.empty((len(clusters), 0)), np.empty((len(clusters), 0), bool)
    counter = CountVectorizer(analyzer=_terms_of, binary=True, vocabulary=terms)
    sizes = np.array([len(cluster) for cluster in clusters])
    home = np.repeat(np.eye(len(clusters)), sizes, axis=1)
    anywhere, in_titles = (home @ counter.transform(texts) for texts in (papers, titles))
    least = np.maximum(np.where(sizes < _FEW, 1, 2), _SHARE * sizes)[:, None]
    least_in_titles = np.maximum(1, _SHARE_OF_TITLES * sizes)[:, None]
    return terms, anywhere, (anywhere >= least) & (in_titles >= least_in_titles)


def _within_longer(terms: Sequence[str], counts: Counts) -> Counts:
    """Return the number of papers in which a term is part of the same longer term."""
    within, column = np.zeros_like(counts), {term: number for number, term in enumerate(terms)}
    for number in map(int, np.flatnonzero(counts.any(axis=0))):
        words = terms[number].split()
        for start, end in combinations(range(len(words) + 1), 2):
            part = column.get(" ".join(words[start:end]), number)
            if part != number:
                within[:, part] = np.maximum(within[:, part], counts[:, number])
    return within


def _adds(term: str, score: float, chosen: Sequence[str]) -> bool:
    """Return True if a term scores high enough and differs from the label's other terms."""
    is_good = len(chosen) < _TERMS and score >= _LEAST_SCORES[len(chosen)]
    return is_good and not any(_same(earlier.split(), term.split()) for earlier in chosen)


def _same(first: Sequence[str], second: Sequence[str]) -> bool:
    """Return True if two terms share a word in any form, or one abbreviates the other."""
    initials = {"".join(word[0] for word in term) for term in (first, second) if len(term) > 1}
    return not initials.isdisjoint({*first, *second}) or any(
        _same_word(word, candidate) for word in first for candidate in second
    )


def _same_word(first: str, second: str) -> bool:
    """Return True if two words are forms of the same: "parser", "parsing"."""
    shorter, longer = sorted((stem(first), stem(second)), key=len)
    return shorter == longer or (len(shorter) > 3 and longer.startswith(shorter))
