"""The map of the papers: a place in the plane and a cluster for each, from the vectors of their abstracts.

t-SNE (van der Maaten and Hinton, 2008) arranges a sample of the papers. Each other paper is placed among
those of its nearest neighbours in the sample that lie together; a mean over all of them would draw papers
between two groups into the empty middle.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from corpus.encoders.base import Vectors

Numbers = NDArray[np.intp]

# Fewer papers have no groups: they are placed by their two principal components.
_FEWEST_ARRANGED = 8
_SAMPLE = 3000
_COMPONENTS = 50
_PERPLEXITY = 30
# Twice as many double the time and raise the ten-neighbour recall of 1,097 papers from .478 to .480.
_STEPS = 500
_NEIGHBOURS = 15
# The decay of the neighbours' weights with distance, as a difference of cosines.
_SOFTNESS = 0.1
# Neighbours lie together within about this share of the map's width.
_TOGETHER = 0.05
# The offset of a paper from its neighbours' place, as a share of the distance between neighbours.
_SPREAD = 0.5
_MOST_CLUSTERS = 12
_STARTS = 4
_ROWS_AT_ONCE = 1024
# A distance that counts as zero, for unit vectors.
_TINY = 1e-4


@dataclass(frozen=True, slots=True)
class Projection:
    """A row per paper: its place, x and y within -1..1, and its cluster's number, the largest cluster 0."""

    places: Vectors
    clusters: Numbers


def project(ids: Sequence[str], vectors: Vectors) -> Projection:
    """Return the places and clusters of papers; the result does not depend on their order.

    `vectors` has a unit vector in a row for each of `ids`.
    """
    from threadpoolctl import threadpool_limits  # noqa: PLC0415  slow to load, like scikit-learn

    order, random = _drawn(ids)
    # Threads sum in varying order, and the least difference grows into another map.
    with threadpool_limits(1):
        directions = _directions(vectors[order])
        if len(np.unique(directions, axis=0)) < _FEWEST_ARRANGED:
            places, clusters = directions[:, :2], np.zeros(len(ids), np.intp)
        else:
            places, clusters = _arrange(directions, random[order]), _group(directions, _MOST_CLUSTERS)
    back = np.argsort(order)
    return Projection(_scaled(places)[back], _largest_first(clusters)[back])


def group(ids: Sequence[str], vectors: Vectors, most: int) -> Numbers:
    """Return the cluster of each paper, the largest 0, whatever their order; very few papers form one."""
    from threadpoolctl import threadpool_limits  # noqa: PLC0415  as above

    order, _ = _drawn(ids)
    with threadpool_limits(1):
        directions = _directions(vectors[order])
        are_few = len(np.unique(directions, axis=0)) < _FEWEST_ARRANGED
        clusters = np.zeros(len(ids), np.intp) if are_few else _group(directions, most)
    return _largest_first(clusters)[np.argsort(order)]


def _drawn(ids: Sequence[str]) -> tuple[Numbers, Vectors]:
    """Return rows in pseudo-random order, and two numbers of 0..1 per row, by hashes of the ids."""
    digests = (hashlib.blake2b(name.encode("utf-8", "replace"), digest_size=8).digest() for name in ids)
    drawn = np.frombuffer(b"".join(digests), "<u4").reshape(-1, 2)
    order = sorted(range(len(ids)), key=lambda row: (*drawn[row].tolist(), ids[row]))
    return np.array(order, np.intp), (drawn / 2**32).astype(np.float32)


def _directions(vectors: Vectors) -> Vectors:
    """Return the first principal components of vectors, rows of length 1, with deterministic signs."""
    centred = vectors - vectors.mean(axis=0)
    _, axes = np.linalg.eigh(centred.T @ centred)
    axes = axes[:, ::-1][:, :_COMPONENTS]
    axes = axes * np.sign(axes[np.abs(axes).argmax(axis=0), np.arange(axes.shape[1])])
    components: Vectors = centred @ axes
    components /= np.maximum(np.linalg.norm(components, axis=1, keepdims=True), _TINY)
    return components


def _arrange(directions: Vectors, random: Vectors) -> Vectors:
    """Arrange a sample by t-SNE and place the others among it."""
    from sklearn.manifold import TSNE  # noqa: PLC0415  takes a second to load

    sample = directions[:_SAMPLE]
    start = sample[:, :2] / max(float(sample[:, 0].std()), _TINY) * 1e-4
    perplexity = min(_PERPLEXITY, (len(sample) - 1) / 3)
    tsne = TSNE(perplexity=perplexity, init=start, max_iter=_STEPS, random_state=0, n_jobs=1)
    arranged: Vectors = tsne.fit_transform(sample)
    if len(directions) == len(sample):
        return arranged
    remaining = _put_among(arranged, sample, directions[len(sample) :])
    return np.vstack([arranged, remaining + _offsets(arranged, random[len(sample) :])])


def _put_among(arranged: Vectors, sample: Vectors, remaining: Vectors) -> Vectors:
    """Return a place for each row: the mean of its nearest neighbours in the sample that lie together."""
    width = float(np.ptp(arranged, axis=0).max())
    places = []
    for start in range(0, len(remaining), _ROWS_AT_ONCE):
        cosines = remaining[start : start + _ROWS_AT_ONCE] @ sample.T
        nearest = np.argpartition(-cosines, _NEIGHBOURS, axis=1)[:, :_NEIGHBOURS]
        near = np.take_along_axis(cosines, nearest, axis=1)
        weights = np.exp((near - near.max(axis=1, keepdims=True)) / _SOFTNESS)
        places.append(_middle(arranged[nearest], weights, _TOGETHER * width))
    return np.vstack(places)


def _middle(places: Vectors, weights: Vectors, radius: float) -> Vectors:
    """Return for each row the weighted mean of the places around the densest one.

    Shapes: (papers, neighbours, 2) and (papers, neighbours); returns (papers, 2).
    """
    apart = ((places[:, :, None] - places[:, None]) ** 2).sum(axis=-1)
    together = np.exp(-apart / radius**2)
    centre = np.einsum("pij,pj->pi", together, weights).argmax(axis=1)
    weights = weights * together[np.arange(len(places)), centre]
    middle: Vectors = (places * weights[:, :, None]).sum(axis=1) / weights.sum(axis=1, keepdims=True)
    return middle


def _offsets(arranged: Vectors, random: Vectors) -> Vectors:
    """Return a random offset for each paper, so that papers with the same neighbours stay apart."""
    from sklearn.neighbors import NearestNeighbors  # noqa: PLC0415  as above

    distances, _ = NearestNeighbors(n_neighbors=1).fit(arranged).kneighbors()
    angle, length = 2 * np.pi * random[:, 0], _SPREAD * float(np.median(distances)) * np.sqrt(random[:, 1])
    return np.column_stack([length * np.cos(angle), length * np.sin(angle)]).astype(np.float32)


def _group(directions: Vectors, most: int) -> Numbers:
    """Return the cluster of each paper by k-means on the sample; the others join the nearest centre."""
    from sklearn.cluster import KMeans  # noqa: PLC0415  as above

    sample = directions[:_SAMPLE]
    count = min(most, max(1, round(np.sqrt(len(directions) / 2))))
    groups = KMeans(count, n_init=_STARTS, random_state=0).fit(sample)
    clusters: Numbers = groups.predict(directions).astype(np.intp)
    return clusters


def _largest_first(clusters: Numbers) -> Numbers:
    """Renumber clusters by size, the largest 0; equal ones in the order of their first papers."""
    names, first, sizes = np.unique(clusters, return_index=True, return_counts=True)
    number = np.empty(names.max(initial=0) + 1, np.intp)
    number[names[np.lexsort((first, -sizes))]] = np.arange(len(names))
    return number[clusters]


def _scaled(places: Vectors) -> Vectors:
    """Return places centred at 0, the wider side from -1 to 1."""
    low, high = places.min(axis=0), places.max(axis=0)
    half = max(float((high - low).max()) / 2, _TINY)
    scaled: Vectors = ((places - (low + high) / 2) / half).astype(np.float32)
    return scaled
