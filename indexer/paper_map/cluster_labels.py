"""Labels of clusters: the terms of their papers that set them apart from the others."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import dataclass
from itertools import chain, combinations

import numpy as np
from numpy.typing import NDArray

from corpus.language.stemming import stem
from indexer.enrich.runs import Run, term_words, word_key, word_runs

# A paper's title and abstract. Terms are keys of words with a space between them.
Text = tuple[str, str]
Counts = NDArray[np.float64]

_LONGEST_TERM, _TERMS = 3, 3
# A term must be in so large a share of a cluster's papers, and in more than one unless it has only a few.
_SHARE, _FEW = 0.02, 10
# The more words, the more a term says.
_LENGTH_COUNTS = np.array([1.0, 1.8, 1.9])
# Smoothing: papers added outside a cluster, so that terms of a small corpus do not weigh too much.
_UNSEEN = 50
# The least scores of a label's terms: the first, and the others.
_LEAST_TELLING = (0.08, 0.05, 0.05)
_ADJECTIVE = re.compile(
    r"(?:ical|ual|onal|ural|ctive|lingual|-(?:aware|based|centric|driven|free|level|resource|shot|specific|trained))$"
)
# And in so large a share of its titles: what is never in a title is hardly a subject.
_SHARE_OF_TITLES = 0.01


@dataclass(frozen=True, slots=True)
class _Paper:
    """The words read from a paper: of its title, and of its abstract."""

    title: list[Run]
    abstract: list[Run]

    @property
    def whole(self) -> list[Run]:
        return [*self.title, *self.abstract]


def label_clusters(texts: Sequence[Sequence[Text]]) -> list[str]:
    """Return a label for each cluster, given titles and abstracts of its papers; no term is in two labels."""
    labels = [", ".join(terms) for terms in telling_terms(texts)]
    return [label or _without_terms(labels, number) for number, label in enumerate(labels)]


def telling_terms(texts: Sequence[Sequence[Text]]) -> list[list[str]]:
    """Return the terms that set each cluster apart, the best first, as its papers write them."""
    clusters = [
        [_Paper(list(word_runs(title)), list(word_runs(abstract))) for title, abstract in papers]
        for papers in texts
    ]
    chosen: list[list[str]] = [[] for _ in clusters]
    taken: set[str] = set()
    for score, number, term in _ranked(clusters):
        if term not in taken and _adds(term, score, chosen[number]):
            chosen[number].append(term)
            taken.add(term)
    plain = _plain(run for paper in chain.from_iterable(clusters) for run in paper.abstract)
    return [_written(terms, papers, plain) for terms, papers in zip(chosen, clusters, strict=True)]


def _plain(runs: Iterable[Run]) -> Set[str]:
    """Return the keys of words that are written without capitals more often than with them."""
    balance: Counter[str] = Counter()
    for word in chain.from_iterable(runs):
        balance[word_key(word)] += 1 if word.islower() else -1
    return {key for key, count in balance.items() if count > 0} | term_words().alone


def _without_terms(labels: Sequence[str], number: int) -> str:
    """Return the label of a cluster that nothing sets apart."""
    alike = labels[: number + 1].count("")
    return "Various subjects" if alike == 1 else f"Various subjects ({alike})"


def _written(terms: Sequence[str], papers: Sequence[_Paper], plain: Set[str]) -> list[str]:
    """Return terms as their papers write them most; words whose key is `plain` need no capital."""
    written: dict[str, Counter[str]] = {term: Counter() for term in terms}
    for run in chain.from_iterable(paper.whole for paper in papers):
        for term, words in _terms(run):
            if term in written:
                written[term][_spelt(words, plain)] += 1
    most = [max(forms, key=lambda one: (forms[one], one)) for forms in written.values()]
    if most and most[0].split(" ", 1)[0].islower():
        most[0] = most[0][:1].upper() + most[0][1:]
    return most


def _spelt(words: Sequence[str], plain: Set[str]) -> str:
    """Return words without capitals that are a title's, or explain an abbreviation; a name keeps its own."""
    capitals = [word for word in words if word[0].isupper() and word[1:].islower()]
    plainly = all(word_key(word) in plain for word in capitals)
    return " ".join(word.lower() if plainly and word in capitals else word for word in words)


def _terms(run: Sequence[str]) -> Iterator[tuple[str, Sequence[str]]]:
    """Yield the terms of words beside each other, each with the words as they are written."""
    keys = list(map(word_key, run))
    for length in range(1, _LONGEST_TERM + 1):
        for start in range(len(keys) - length + 1):
            if length > 1 or keys[start] not in term_words().alone:
                yield " ".join(keys[start : start + length]), run[start : start + length]


def _terms_of(runs: Iterable[Run]) -> list[str]:
    return [term for run in runs for term, _ in _terms(run)]


def _ranked(clusters: Sequence[Sequence[_Paper]]) -> list[tuple[float, int, str]]:
    """Rank terms by how well they set a cluster apart, the best first: class-based TF-IDF over papers."""
    terms, counts, frequent = _counted(clusters)
    sizes = np.array([len(papers) for papers in clusters])
    numbers, columns = np.nonzero(frequent)
    count = counts[numbers, columns]
    within = _within_longer(terms, counts * frequent)
    inside = (count - within[numbers, columns]) / sizes[numbers]
    outside = (counts.sum(axis=0)[columns] - count + 0.5) / (sizes.sum() - sizes[numbers] + _UNSEEN)
    # One paper alone tells half of what it would as one of many.
    sure = (1 - 0.5 / count) * _LENGTH_COUNTS[[terms[column].count(" ") for column in columns]]
    scores = inside * np.log(np.maximum(inside, outside) / outside) * sure
    found = (
        (float(score), int(n), terms[column])
        for score, n, column in zip(scores, numbers, columns, strict=True)
    )
    return sorted((one for one in found if one[0] > 0), key=lambda one: (-one[0], *one[1:]))


def _counted(clusters: Sequence[Sequence[_Paper]]) -> tuple[list[str], Counts, NDArray[np.bool_]]:
    """Return the terms of titles, in how many papers of each cluster they are, and whether that is enough.

    Shapes: (clusters, terms).
    """
    from sklearn.feature_extraction.text import CountVectorizer  # noqa: PLC0415  as in projection.py

    titles = [paper.title for paper in chain.from_iterable(clusters)]
    papers = [paper.whole for paper in chain.from_iterable(clusters)]
    terms = sorted({term for title in titles for term in _terms_of(title) if _is_noun(term)})
    if not terms:
        return [], np.empty((len(clusters), 0)), np.empty((len(clusters), 0), bool)
    counter = CountVectorizer(analyzer=_terms_of, binary=True, vocabulary=terms)
    sizes = np.array([len(cluster) for cluster in clusters])
    home = np.repeat(np.eye(len(clusters)), sizes, axis=1)
    anywhere, in_titles = (home @ counter.transform(texts) for texts in (papers, titles))
    least = np.maximum(np.where(sizes < _FEW, 1, 2), _SHARE * sizes)[:, None]
    least_in_titles = np.maximum(1, _SHARE_OF_TITLES * sizes)[:, None]
    return terms, anywhere, (anywhere >= least) & (in_titles >= least_in_titles)


def _is_noun(term: str) -> bool:
    return term not in term_words().nothing and not _ADJECTIVE.search(term)


def _within_longer(terms: Sequence[str], counts: Counts) -> Counts:
    """Return in how many papers a term is part of one same longer term, which then says it better."""
    within, column = np.zeros_like(counts), {term: number for number, term in enumerate(terms)}
    for number in map(int, np.flatnonzero(counts.any(axis=0))):
        words = terms[number].split()
        for start, end in combinations(range(len(words) + 1), 2):
            part = column.get(" ".join(words[start:end]), number)
            if part != number:
                within[:, part] = np.maximum(within[:, part], counts[:, number])
    return within


def _adds(term: str, score: float, chosen: Sequence[str]) -> bool:
    """Return True if a term says enough, and what those chosen for the label do not say."""
    wanted = len(chosen) < _TERMS and score >= _LEAST_TELLING[len(chosen)]
    return wanted and not any(_same(one.split(), term.split()) for one in chosen)


def _same(first: Sequence[str], second: Sequence[str]) -> bool:
    """Return True if two terms share a word in any form, or one stands for the other."""
    initials = {"".join(word[0] for word in term) for term in (first, second) if len(term) > 1}
    return not initials.isdisjoint({*first, *second}) or any(
        _same_word(one, other) for one in first for other in second
    )


def _same_word(first: str, second: str) -> bool:
    """Return True if two words are forms of one: "parser", "parsing"."""
    shorter, longer = sorted((stem(first), stem(second)), key=len)
    return shorter == longer or (len(shorter) > 3 and longer.startswith(shorter))
