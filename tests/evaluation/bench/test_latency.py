import json

import pytest
from typer.testing import CliRunner

from evaluation.__main__ import app


def run(*arguments):
    return CliRunner().invoke(app, ["latency", *map(str, arguments)])


def test_what_is_added_is_what_remains_beside_the_models_own_time(demo_home):
    done = run("--home", demo_home, "--delay", 0.02, "--rounds", 1)
    assert done.exit_code == 0, done.output
    figures = json.loads(done.output.splitlines()[-1])
    assert figures["papers"] == 16
    assert 0 < figures["questions"] <= 4
    # A first question stands for itself: the model begins one reply.
    assert 20 <= figures["model_ms"] < figures["first_words_ms"]
    assert 0 < figures["rewritten_ms"] < figures["retrieved_ms"] < figures["first_words_ms"]
    assert 0 < figures["added_ms_p50"] <= figures["added_ms_p95"]


def test_a_home_without_a_corpus_is_said(tmp_path):
    done = run("--home", tmp_path)
    assert done.exit_code == 2
    assert "no corpus" in done.output.lower()


@pytest.mark.parametrize("option", ["--delay=x", "--rounds=x"])
def test_options_are_numbers(option):
    assert run(option).exit_code == 2
