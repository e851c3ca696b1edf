"""What the benches measure: the app in a browser, corpora as they grow, the steps of an answer."""

import shutil
from pathlib import Path

import pytest

from corpus.encoders.base import Encoder
from corpus.store import Corpus, passage_index
from evaluation.bench import growth
from evaluation.bench.app import CHROMIUMS
from evaluation.bench.speed import measure_learned
from tests.evaluation.commands import figures, figures_in, invoke
from tests.served_site import NGINX


@pytest.mark.long
def test_pages_are_measured_beside_stock_settings_and_clicks_in_a_browser(demo_home):
    quick = ("--page", "ask", "--sessions", 2, "--seconds", 0.3, "--think", 0.1, "--clicks", 1)
    found = figures("bench-app", "--home", demo_home, *quick)
    assert found["papers"] == 16
    (page,) = found["pages"]
    assert (page["page"], page["sessions"]) == ("ask", 2)
    for manner in ("ours", "stock"):
        assert page[manner]["errors"] == []
        # Two visitors, two turns each: none of their first looks is counted.
        assert page[manner]["count"] >= 4
        assert 0 < page[manner]["ms_p50"] <= page[manner]["ms_p95"]
        assert page[manner]["messages"] > 20
    assert page["stock_to_ours"] > 0
    if not any(map(shutil.which, CHROMIUMS)):
        assert found["browser"] is None
        pytest.skip("chromium is not installed: no clicks were measured")
    assert found["browser"]["clicks"] == 1
    assert 0 < found["browser"]["click_ms_p50"] <= found["browser"]["click_ms_p95"]
    assert 0 < found["browser"]["list_again_ms_p50"] <= found["browser"]["list_again_ms_max"]


@pytest.mark.long
@pytest.mark.skipif(not NGINX, reason="nginx is not installed")
def test_numbers_of_processes_are_measured_beside_each_other(demo_home):
    short = ("--page", "about", "--sessions", 3, "--seconds", 0.5, "--processes", 1, "--processes", 2)
    one, two = figures("bench-app", "--home", demo_home, *short)
    assert (one["processes"], two["processes"]) == (1, 2)
    assert one["to_first"] == 1
    for found in (one, two):
        assert found["errors"] == []
        assert found["a_second"] > 0
        assert 0 < found["ms_p50"] <= found["ms_p95"]


def test_a_home_without_a_corpus_is_said(tmp_path):
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
def test_the_steps_of_an_answer_are_timed_beside_those_without_networks(
    demo_corpus: Corpus, encoder: Encoder
) -> None:
    steps = measure_learned(demo_corpus, encoder, ["What is rank fusion?", "How is ROUGE computed?"])
    assert steps["follow_up_ms"] > 0
    assert steps["support_ms"] > 0 and steps["support_without_network_ms"] > 0
    assert 0 < steps["learned_mib"] < 300  # the libraries that run them included


def test_what_is_added_is_what_remains_beside_the_models_own_time(demo_home: Path) -> None:
    found = figures("latency", "--home", demo_home, "--delay", 0.02, "--rounds", 1)
    assert found["papers"] == 16
    assert 0 < found["questions"] <= 4
    # A first question stands for itself: the model begins one reply.
    assert 20 <= found["model_ms"] < found["first_words_ms"]
    assert 0 < found["rewritten_ms"] < found["retrieved_ms"] < found["first_words_ms"]
    assert 0 < found["added_ms_p50"] <= found["added_ms_p95"]
