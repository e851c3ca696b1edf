"""The map of the papers: the same for the same papers, and near each other what is alike."""

import numpy as np
import pytest
from numpy.typing import NDArray

from indexer.paper_map import projection
from indexer.paper_map.projection import Projection, project

GROUPS = 4


def _vectors(papers: int, groups: int = GROUPS, dimension: int = 24) -> NDArray[np.float32]:
    """Return unit vectors in some groups, paper n in group n % groups."""
    chance = np.random.default_rng(7)
    middles = chance.normal(size=(groups, dimension))
    made = middles[np.arange(papers) % groups] + 0.25 * chance.normal(size=(papers, dimension))
    return (made / np.linalg.norm(made, axis=1, keepdims=True)).astype(np.float32)


def _ids(papers: int) -> list[str]:
    return [f"notes/{number}" for number in range(papers)]


def _separation(found: Projection, groups: int = GROUPS) -> float:
    """Return the share of the papers whose nearest neighbour on the map is in their own group."""
    places, group = found.places, np.arange(len(found.places)) % groups
    apart = np.linalg.norm(places[:, None] - places[None], axis=-1)
    np.fill_diagonal(apart, np.inf)
    return float((group[apart.argmin(axis=1)] == group).mean())


@pytest.mark.parametrize("papers", [1, 2, 3, 7, 8, 9, 16, 40])
def test_every_paper_has_a_place_of_its_own_within_the_map(papers: int) -> None:
    found = project(_ids(papers), _vectors(papers))
    assert found.places.shape == (papers, 2)
    assert found.places.dtype == np.float32
    assert np.isfinite(found.places).all()
    assert np.abs(found.places).max() == pytest.approx(0 if papers == 1 else 1)
    assert len(np.unique(found.places, axis=0)) == papers
    sizes = np.bincount(found.clusters)
    assert sizes.sum() == papers
    assert (np.diff(sizes) <= 0).all(), "the largest cluster is the first"
    assert sizes.min() > 0
    assert len(sizes) == 1 or len(sizes) == round(np.sqrt(papers / 2))


@pytest.mark.parametrize("papers", [3, 40])
def test_the_same_papers_give_the_same_map_in_whatever_order(papers: int) -> None:
    ids, vectors = _ids(papers), _vectors(papers)
    first, again = project(ids, vectors), project(ids, vectors)
    order = np.random.default_rng(1).permutation(papers)
    mixed = project([ids[row] for row in order], vectors[order])
    for other in (again, Projection(mixed.places[np.argsort(order)], mixed.clusters[np.argsort(order)])):
        assert np.array_equal(first.places, other.places)
        assert np.array_equal(first.clusters, other.clusters)


def test_what_is_alike_lies_together_and_a_paper_between_in_one_of_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ids, vectors = _ids(160), _vectors(160)
    assert _separation(project(ids, vectors)) == 1
    monkeypatch.setattr(projection, "_SAMPLE", 60)
    found = project(ids, vectors)
    assert _separation(found) > 0.95
    assert len(np.unique(found.places, axis=0)) == 160
    # Regression: the mean of its neighbours put it into the empty middle of the map.
    monkeypatch.setattr(projection, "_SAMPLE", 60)
    vectors = _vectors(160, groups=2)
    between = vectors[0::2].mean(axis=0) + vectors[1::2].mean(axis=0)
    vectors[159] = between / np.linalg.norm(between)
    found = project(_ids(160), vectors)
    apart = np.linalg.norm(found.places[:159] - found.places[159], axis=1)
    assert np.sort(apart)[5] < 0.3


@pytest.mark.parametrize(("different", "papers"), [(1, 20), (3, 20), (9, 90)])
def test_papers_that_say_the_same_break_nothing(different: int, papers: int) -> None:
    vectors = np.tile(_vectors(different), (papers // different + 1, 1))[:papers]
    found = project(_ids(papers), vectors)
    assert np.isfinite(found.places).all()
    assert np.abs(found.places).max() <= 1
    assert len(np.unique(found.clusters)) <= different
