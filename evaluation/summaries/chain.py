"""A chain of tags over the sentences of a paragraph: each depends on its sentence and on the tags beside it.

A linear-chain conditional random field (Lafferty et al., 2001), trained by its likelihood.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.sparse import csr_matrix
from scipy.special import logsumexp

Matrix = NDArray[np.float64]
Numbers = NDArray[np.int64]

ITERATIONS = 120
# How strongly the weights between tags are held down; there are few of them.
SHRINK_STEPS = 0.1


@dataclass(frozen=True, slots=True)
class Chain:
    """The weights: features x tags, from tag to tag, and of the tags a paragraph begins and ends with."""

    weights: Matrix
    bias: Matrix
    steps: Matrix
    first: Matrix
    last: Matrix

    def likelihoods(self, rows: csr_matrix, lengths: Sequence[int]) -> Matrix:
        """Return how likely each tag of each sentence is: (sentences, tags); rows sum to 1.

        `lengths` are the numbers of sentences of the paragraphs, one after the other.
        """
        layout = _Layout.of(lengths)
        return _Pass(self, rows @ self.weights + self.bias, layout).single()


@dataclass(frozen=True, slots=True)
class _Layout:
    """Sentences of paragraphs side by side: their numbers, (paragraphs, longest), and where there are any."""

    numbers: Numbers
    filled: NDArray[np.bool_]
    ends: Numbers

    @classmethod
    def of(cls, lengths: Sequence[int]) -> "_Layout":
        counts = np.array([length for length in lengths if length], dtype=np.int64)
        starts = np.cumsum(counts) - counts
        places = np.arange(counts.max(initial=1))
        filled = places[None, :] < counts[:, None]
        numbers = np.where(filled, starts[:, None] + places[None, :], 0)
        return cls(numbers, filled, counts - 1)

    @property
    def rows(self) -> Numbers:
        return np.arange(len(self.ends), dtype=np.int64)


class _Pass:
    """Forward and backward sums of one set of weights over all paragraphs."""

    def __init__(self, chain: Chain, scores: Matrix, layout: _Layout) -> None:
        self._chain, self._layout, self._count = chain, layout, len(scores)
        self._scores = np.where(layout.filled[..., None], scores[layout.numbers], 0.0)
        self._forward, self._backward = self._sums()
        ends = self._forward[layout.rows, layout.ends] + chain.last
        self.totals: Matrix = logsumexp(ends, axis=1)

    def _sums(self) -> tuple[Matrix, Matrix]:
        chain, filled = self._chain, self._layout.filled
        forward, backward = np.zeros_like(self._scores), np.zeros_like(self._scores)
        length = filled.shape[1]
        forward[:, 0] = self._scores[:, 0] + chain.first
        for place in range(1, length):
            sums = logsumexp(forward[:, place - 1, :, None] + chain.steps, axis=1) + self._scores[:, place]
            forward[:, place] = np.where(filled[:, place, None], sums, forward[:, place - 1])
        backward[:, -1] = chain.last
        for place in range(length - 2, -1, -1):
            ahead = self._scores[:, place + 1] + backward[:, place + 1]
            sums = logsumexp(chain.steps[None] + ahead[:, None, :], axis=2)
            backward[:, place] = np.where(filled[:, place + 1, None], sums, chain.last)
        return forward, backward

    def single(self) -> Matrix:
        """Return the likelihood of each tag of each sentence."""
        found = np.exp(self._forward + self._backward - self.totals[:, None, None])
        likelihoods = np.zeros((self._count, found.shape[2]))
        likelihoods[self._layout.numbers[self._layout.filled]] = found[self._layout.filled]
        return likelihoods

    def pairs(self) -> Matrix:
        """Return how often each tag is expected to follow each other."""
        ahead = (self._scores + self._backward)[:, 1:]
        sums = self._forward[:, :-1, :, None] + self._chain.steps + ahead[:, :, None, :]
        expected = np.exp(sums - self.totals[:, None, None, None])
        return np.asarray(expected[self._layout.filled[:, 1:]].sum(axis=0), dtype=np.float64)


def fit_chain(rows: csr_matrix, tags: Numbers, lengths: Sequence[int], count: int, shrink: float) -> Chain:
    """Fit a chain to sentences and the numbers of their tags, of which there are `count`."""
    layout, turned = _Layout.of(lengths), rows.T.tocsr()
    observed = _packed(_observed(turned, tags, layout, count))
    kept_small = _packed(_held_down(rows.shape[1], count, shrink))

    def loss(point: Matrix) -> tuple[float, Matrix]:
        chain = _unpacked(point, count)
        passed = _Pass(chain, rows @ chain.weights + chain.bias, layout)
        expected = _packed(_expected(turned, passed, layout))
        # The score of a path is linear in the weights: how often each was seen says it all.
        value = passed.totals.sum() - point @ observed + 0.5 * kept_small @ point**2
        return float(value) / len(tags), (expected - observed + kept_small * point) / len(tags)

    found = minimize(
        loss, np.zeros_like(observed), jac=True, method="L-BFGS-B", options={"maxiter": ITERATIONS}
    )
    return _unpacked(np.asarray(found.x), count)


def _observed(turned: csr_matrix, tags: Numbers, layout: _Layout, count: int) -> Chain:
    """Return how often each weight counts in the tags that people gave."""
    gold = np.eye(count)[tags]
    steps = np.zeros((count, count))
    follow = layout.filled[:, 1:]
    np.add.at(steps, (tags[layout.numbers[:, :-1][follow]], tags[layout.numbers[:, 1:][follow]]), 1)
    return _counts(turned, gold, steps, layout)


def _expected(turned: csr_matrix, passed: _Pass, layout: _Layout) -> Chain:
    return _counts(turned, passed.single(), passed.pairs(), layout)


def _counts(turned: csr_matrix, likelihoods: Matrix, steps: Matrix, layout: _Layout) -> Chain:
    return Chain(
        weights=turned @ likelihoods,
        bias=likelihoods.sum(axis=0),
        steps=steps,
        first=likelihoods[layout.numbers[:, 0]].sum(axis=0),
        last=likelihoods[layout.numbers[layout.rows, layout.ends]].sum(axis=0),
    )


def _held_down(features: int, count: int, shrink: float) -> Chain:
    """Return how strongly each weight is held down; the bias is free."""
    few = np.full(count, SHRINK_STEPS)
    steps = np.full((count, count), SHRINK_STEPS)
    return Chain(np.full((features, count), shrink), np.zeros(count), steps, few, few)


def _packed(chain: Chain) -> Matrix:
    parts = (chain.bias, chain.first, chain.last, chain.steps, chain.weights)
    return np.concatenate([part.ravel() for part in parts])


def _unpacked(point: Matrix, count: int) -> Chain:
    bias, first, last, rest = np.split(point, [count, 2 * count, 3 * count])
    steps, weights = np.split(rest, [count * count])
    return Chain(weights.reshape(-1, count), bias, steps.reshape(count, count), first, last)
