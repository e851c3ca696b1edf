"""The benches: the app under load, corpora as they grow."""

from pathlib import Path

import pytest

from corpus.store import passage_index
from evaluation.bench import growth
from tests.evaluation.commands import figures, figures_in, invoke
from tests.served_site import NGINX


@pytest.mark.long
@pytest.mark.parametrize(
    "processes",
    [(), pytest.param((1, 2), marks=pytest.mark.skipif(not NGINX, reason="nginx is not installed"))],
)
def test_pages_are_measured_under_load(demo_home: Path, processes: tuple[int, ...]) -> None:
    quick = ("--page", "ask", "--sessions", 2, "--seconds", 0.5, "--think", 0.1)
    found = figures(
        "bench-app", "--home", demo_home, *quick, *(f"--processes={count}" for count in processes)
    )
    assert found["papers"] == 16
    assert [page["processes"] for page in found["pages"]] == list(processes or (0,))
    for page in found["pages"]:
        assert (page["page"], page["sessions"], page["errors"]) == ("ask", 2, [])
        # Two visitors, two turns each: none of their first looks is counted.
        assert page["count"] >= 4
        assert 0 < page["ms_p50"] <= page["ms_p95"]
        assert page["cpu_ms"] > 0 and page["memory_mb"] > 100


def test_a_home_without_a_corpus_is_an_error(tmp_path):
    done = invoke("bench-app", "--home", tmp_path)
    assert done.exit_code == 2
    assert "no corpus" in done.output.lower()


@pytest.mark.long
def test_the_bench_measures_corpora_of_several_sizes() -> None:
    done = invoke("bench", "--search-rows", 205)
    assert "Ten papers more published" in done.stdout
    (found,) = figures_in(done)
    assert found["passages"] == 205
    assert 0.98 <= found["recall"] <= found["filtered_recall"] == 1
    assert 0 < found["search_ms_p50"] <= found["search_ms_p95"]
    assert found["publication_seconds"] > 0 and found["mb"] > 0
    assert found["memory_mib"] > 100
    assert found["loading_seconds"] > 0


def test_recall_is_of_what_is_near_in_signs(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(passage_index, "_COMPARED_PER_FOUND", 1)
    monkeypatch.setattr(growth, "QUERIES", 10)
    growth.write(tmp_path, 1205)
    assert 0.5 < growth.read(tmp_path)["recall"] < 0.95


@pytest.mark.long
def test_what_is_added_is_what_remains_beside_the_models_own_time(demo_home: Path) -> None:
    found = figures("latency", "--home", demo_home, "--delay", 0.02, "--rounds", 1)
    assert found["papers"] == 16
    assert 0 < found["questions"] <= 4
    # A first question stands for itself: the model begins one reply.
    assert 20 <= found["model_ms"] < found["first_words_ms"]
    assert 0 < found["rewritten_ms"] < found["retrieved_ms"] < found["first_words_ms"]
    assert 0 < found["added_ms_p50"] <= found["added_ms_p95"]
