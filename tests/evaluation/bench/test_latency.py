import json

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
