"""The map of the papers: a place in the plane and a cluster for each, by the vectors of their abstracts.

t-SNE (van der Maaten and Hinton, 2008) arranges a sample of the papers. Each of the others is put among those
of its nearest in the sample that lie together: a mean over all of them would draw every paper that stands
between two groups into the middle, which belongs to neither.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from corpus.encoders.base import Vectors

Numbers = NDArray[np.intp]

# Fewer papers have no groups to find: they lie along their two principal components.
_FEWEST_ARRANGED = 8
_SAMPLE = 3000
_COMPONENTS = 50
_PERPLEXITY = 30
# Twice as many take twice as long, and keep .480, not .478, of the ten nearest of 1,097 papers near.
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
# Of unit vectors: what is nearer to their middle is there, but for rounding.
_TINY = 1e-4


@dataclass(frozen=True, slots=True)
class Projection:
    """Places on the map, x and y within -1..1, and numbers of clusters, the largest 0; a row a paper."""

    places: Vectors
    clusters: Numbers


def project(ids: Sequence[str], vectors: Vectors) -> Projection:
    """Return where papers lie; the same papers always lie the same, whatever their order.

    `vectors` has a unit vector in a row for each of `ids`.
    """
    from threadpoolctl import threadpool_limits  # noqa: PLC0415  comes with scikit-learn, and loads no faster

    order, luck = _drawn(ids)
    # Threads add up in an order of their own, and the least difference grows into another map.
    with threadpool_limits(1):
        directions = _directions(vectors[order])
        if len(np.unique(directions, axis=0)) < _FEWEST_ARRANGED:
            places, clusters = directions[:, :2], np.zeros(len(ids), np.intp)
        else:
            places, clusters = _arrange(directions, luck[order]), _group(directions, _MOST_CLUSTERS)
    back = np.argsort(order)
    return Projection(_scaled(places)[back], _largest_first(clusters)[back])


def group(ids: Sequence[str], vectors: Vectors, most: int) -> Numbers:
    """Return the cluster of each paper, the largest 0, whatever their order; of very few papers one."""
    from threadpoolctl import threadpool_limits  # noqa: PLC0415  as above

    order, _ = _drawn(ids)
    with threadpool_limits(1):
        directions = _directions(vectors[order])
        few = len(np.unique(directions, axis=0)) < _FEWEST_ARRANGED
        clusters = np.zeros(len(ids), np.intp) if few else _group(directions, most)
    return _largest_first(clusters)[np.argsort(order)]


def _drawn(ids: Sequence[str]) -> tuple[Numbers, Vectors]:
    """Return the papers' rows in an order drawn once and for all, and two numbers of 0..1 drawn for each."""
    digests = (hashlib.blake2b(one.encode("utf-8", "replace"), digest_size=8).digest() for one in ids)
    drawn = np.frombuffer(b"".join(digests), "<u4").reshape(-1, 2)
    order = sorted(range(len(ids)), key=lambda row: (*drawn[row].tolist(), ids[row]))
    return np.array(order, np.intp), (drawn / 2**32).astype(np.float32)


def _directions(vectors: Vectors) -> Vectors:
    """Return the first principal components of vectors, each row of length 1, signs not left to chance."""
    centred = vectors - vectors.mean(axis=0)
    _, axes = np.linalg.eigh(centred.T @ centred)
    axes = axes[:, ::-1][:, :_COMPONENTS]
    axes = axes * np.sign(axes[np.abs(axes).argmax(axis=0), np.arange(axes.shape[1])])
    components: Vectors = centred @ axes
    components /= np.maximum(np.linalg.norm(components, axis=1, keepdims=True), _TINY)
    return components


def _arrange(directions: Vectors, luck: Vectors) -> Vectors:
    """Arrange a sample by t-SNE and put the others among it."""
    from sklearn.manifold import TSNE  # noqa: PLC0415  a second that only a build of several papers needs

    sample = directions[:_SAMPLE]
    start = sample[:, :2] / max(float(sample[:, 0].std()), _TINY) * 1e-4
    perplexity = min(_PERPLEXITY, (len(sample) - 1) / 3)
    tsne = TSNE(perplexity=perplexity, init=start, max_iter=_STEPS, random_state=0, n_jobs=1)
    arranged: Vectors = tsne.fit_transform(sample)
    if len(directions) == len(sample):
        return arranged
    others = _put_among(arranged, sample, directions[len(sample) :])
    return np.vstack([arranged, others + _offsets(arranged, luck[len(sample) :])])


def _put_among(arranged: Vectors, sample: Vectors, others: Vectors) -> Vectors:
    """Return a place for each of `others`: the mean of its nearest of the sample that lie together."""
    width = float(np.ptp(arranged, axis=0).max())
    found = []
    for start in range(0, len(others), _ROWS_AT_ONCE):
        cosines = others[start : start + _ROWS_AT_ONCE] @ sample.T
        nearest = np.argpartition(-cosines, _NEIGHBOURS, axis=1)[:, :_NEIGHBOURS]
        near = np.take_along_axis(cosines, nearest, axis=1)
        weights = np.exp((near - near.max(axis=1, keepdims=True)) / _SOFTNESS)
        found.append(_middle(arranged[nearest], weights, _TOGETHER * width))
    return np.vstack(found)


def _middle(places: Vectors, weights: Vectors, radius: float) -> Vectors:
    """Return for each row of places the weighted mean of those round the one with the most weight about it.

    Shapes: (papers, neighbours, 2) and (papers, neighbours); returns (papers, 2).
    """
    apart = ((places[:, :, None] - places[:, None]) ** 2).sum(axis=-1)
    together = np.exp(-apart / radius**2)
    centre = np.einsum("pij,pj->pi", together, weights).argmax(axis=1)
    weights = weights * together[np.arange(len(places)), centre]
    middle: Vectors = (places * weights[:, :, None]).sum(axis=1) / weights.sum(axis=1, keepdims=True)
    return middle


def _offsets(arranged: Vectors, luck: Vectors) -> Vectors:
    """Return a step for each paper, in any direction, so that papers with the same neighbours stay apart."""
    from sklearn.neighbors import NearestNeighbors  # noqa: PLC0415  as above

    distances, _ = NearestNeighbors(n_neighbors=1).fit(arranged).kneighbors()
    angle, length = 2 * np.pi * luck[:, 0], _SPREAD * float(np.median(distances)) * np.sqrt(luck[:, 1])
    return np.column_stack([length * np.cos(angle), length * np.sin(angle)]).astype(np.float32)


def _group(directions: Vectors, most: int) -> Numbers:
    """Return the cluster of each paper by k-means on the sample, the others by the nearest middle."""
    from sklearn.cluster import KMeans  # noqa: PLC0415  as above

    sample = directions[:_SAMPLE]
    count = min(most, max(1, round(np.sqrt(len(directions) / 2))))
    groups = KMeans(count, n_init=_STARTS, random_state=0).fit(sample)
    clusters: Numbers = groups.predict(directions).astype(np.intp)
    return clusters


def _largest_first(clusters: Numbers) -> Numbers:
    """Renumber clusters by size, the largest 0; among equal ones the first met comes first."""
    names, first, sizes = np.unique(clusters, return_index=True, return_counts=True)
    number = np.empty(names.max(initial=0) + 1, np.intp)
    number[names[np.lexsort((first, -sizes))]] = np.arange(len(names))
    return number[clusters]


def _scaled(places: Vectors) -> Vectors:
    """Return places with the middle of the map at 0 and its wider side from -1 to 1."""
    low, high = places.min(axis=0), places.max(axis=0)
    half = max(float((high - low).max()) / 2, _TINY)
    scaled: Vectors = ((places - (low + high) / 2) / half).astype(np.float32)
    return scaled
