"""Our measures against trec_eval's own code, on rankings of a real collection and on awkward ones."""

import random
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

import pytest

from corpus.text import words
from evaluation.retrieval import JudgedQueries, average_precision, ndcg, read_judged, read_queries, recall
from evaluation.retrieval import Gains

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
CLOSE = 0.0005

Scores = Mapping[str, Mapping[str, float]]


def ranking_of(scores: Mapping[str, float]) -> list[str]:
    """Return what trec_eval makes of scores: best first, and of ties the later id first."""
    return sorted(scores, key=lambda document: (scores[document], document), reverse=True)


def compare(gains: Mapping[str, Gains], runs: Scores) -> dict[str, float]:
    """Compare each query and the means with trec_eval's; return the means."""
    judged = {query: dict(found) for query, found in gains.items()}
    theirs = pytrec_eval.RelevanceEvaluator(judged, ASKED).evaluate({q: dict(s) for q, s in runs.items()})
    assert set(theirs) == set(gains)
    means = {}
    for name, measure in OURS.items():
        ours = {query: measure(ranking_of(runs[query]), gains[query]) for query in gains}
        assert ours == pytest.approx({query: theirs[query][name] for query in gains}, abs=1e-6)
        means[name] = fmean(ours.values())
        assert means[name] == pytest.approx(fmean(one[name] for one in theirs.values()), abs=CLOSE)
    return means


def shared_words(query: str, documents: Mapping[str, Counter[str]]) -> dict[str, float]:
    """Score documents by how many words of a query they have: whole numbers, so that many tie."""
    asked = set(words(query))
    scores = {name: float(sum(word in own for word in asked)) for name, own in documents.items()}
    return {name: score for name, score in scores.items() if score}


def test_on_cacm_with_many_ties(shared: Path) -> None:
    judged = read_judged(shared / "data/retrieval/cacm")
    documents = {one.id: Counter(words(f"{one.title} {one.text}")) for one in judged.documents}
    gains = {query: judged.gains[query] for query in judged.queries}
    runs = {query: shared_words(text, documents) for query, text in judged.queries.items()}
    means = compare(gains, runs)
    assert all(0 < mean < 1 for mean in means.values())


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


@pytest.mark.parametrize(
    ("ranking", "gains"),
    [
        ("ab", {"a": 1}),
        ("ba", {"a": 1, "b": 3}),
        ("xyz", {"a": 1}),
        ("xxxxxxxxxxa", {"a": 1}),
        # More is relevant than fits: the average is over all of it.
        ("a", dict.fromkeys("abcdefghijklmnopqrst", 1)),
        ("abcdefghijkl", dict.fromkeys("abcdefghijklmnopqrst", 1)),
    ],
)
def test_at_the_edges(ranking: Sequence[str], gains: Gains) -> None:
    named = [f"{letter}{place}" if letter == "x" else letter for place, letter in enumerate(ranking)]
    compare({"q": gains}, {"q": {name: float(-place) for place, name in enumerate(named)}})


def test_a_query_without_anything_relevant_is_in_no_mean(tmp_path: Path) -> None:
    (tmp_path / "queries.jsonl").write_text('{"_id": "q1", "text": "a"}\n{"_id": "q2", "text": "b"}\n')
    (tmp_path / "qrels.tsv").write_text("query-id\tcorpus-id\tscore\nq1\td1\t1\nq1\td2\t0\nq2\td1\t0\n")
    judged: JudgedQueries = read_queries(tmp_path)
    assert dict(judged.queries) == {"q1": "a"}
    runs = {"q1": {"d2": 2.0, "d1": 1.0}}
    theirs = pytrec_eval.RelevanceEvaluator({"q1": {"d1": 1, "d2": 0}}, ASKED).evaluate(runs)
    ours = {name: measure(["d2", "d1"], judged.gains["q1"]) for name, measure in OURS.items()}
    assert ours == pytest.approx(theirs["q1"])
