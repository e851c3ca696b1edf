"""Our measures against trec_eval's own code, and LitSearch in the form in which its authors publish it."""

import random
from collections.abc import Callable, Mapping, Sequence
from math import log2
from pathlib import Path
from typing import Any

import pytest

from evaluation.input_files import EvaluationError
from evaluation.retrieval import Gains, SearchSetup, average_precision, evaluate, ndcg, read_litsearch, recall
from tests.small_litsearch import FILES, save_litsearch


def test_it_is_measured_as_any_other_collection(tmp_path: Path) -> None:
    figures = evaluate(save_litsearch(tmp_path), SearchSetup("lexical"))
    assert (figures["documents"], figures["queries"], figures["missing_documents"]) == (6, 2, 1)
    assert figures["recall@5"] == figures["recall@20"] == pytest.approx((1 + 1 / 2) / 2)
    assert figures["ndcg@10"] == pytest.approx((1 + 1 / (1 + 1 / log2(3))) / 2)


@pytest.mark.parametrize("content", [b"", b"PAR1 and no more", b'{"corpusid": 1}\n'])
def test_a_file_that_is_no_parquet_is_named(tmp_path: Path, content: bytes) -> None:
    save_litsearch(tmp_path)
    (tmp_path / FILES[2]).write_bytes(content)
    with pytest.raises(EvaluationError, match=r"full-00001-of-00006\.parquet cannot be read as Parquet"):
        read_litsearch(tmp_path)


pytrec_eval: Any = pytest.importorskip(
    "pytrec_eval", reason="pytrec-eval-terrier is not installed: pip install -e '.[dev]'"
)

OURS: Mapping[str, Callable[[Sequence[str], Gains], float]] = {
    "ndcg_cut_10": lambda ranking, gains: ndcg(ranking, gains, 10),
    "map_cut_10": lambda ranking, gains: average_precision(ranking, gains, 10),
    "recall_5": lambda ranking, gains: recall(ranking, gains, 5),
    "recall_20": lambda ranking, gains: recall(ranking, gains, 20),
    "recall_100": lambda ranking, gains: recall(ranking, gains, 100),
}
ASKED = {"ndcg_cut.10", "map_cut.10", "recall.5,20,100"}

Scores = Mapping[str, Mapping[str, float]]


def ranking_of(scores: Mapping[str, float]) -> list[str]:
    """Rank documents as trec_eval does: by descending score, ties by descending id."""
    return sorted(scores, key=lambda document: (scores[document], document), reverse=True)


def compare(gains: Mapping[str, Gains], runs: Scores) -> None:
    """Compare each query with trec_eval's."""
    judged = {query: dict(found) for query, found in gains.items()}
    theirs = pytrec_eval.RelevanceEvaluator(judged, ASKED).evaluate({q: dict(s) for q, s in runs.items()})
    assert set(theirs) == set(gains)
    for name, measure in OURS.items():
        ours = {query: measure(ranking_of(runs[query]), gains[query]) for query in gains}
        assert ours == pytest.approx({query: theirs[query][name] for query in gains}, abs=1e-6)


@pytest.mark.parametrize("seed", range(20))
def test_on_random_rankings_with_graded_gains(seed: int) -> None:
    chance = random.Random(seed)
    pool = [f"d{number}" for number in range(150)]
    gains = {
        f"q{number}": {name: chance.randint(1, 4) for name in chance.sample(pool, chance.randint(1, 40))}
        for number in range(25)
    }
    runs = {
        query: {
            name: chance.choice([chance.random(), 0.5])
            for name in chance.sample(pool, chance.randint(1, 120))
        }
        for query in gains
    }
    compare(gains, runs)
